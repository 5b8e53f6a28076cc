//! One file's tests, run one at a time as somebody else asks for them, by the same rules as a whole run.
//!
//! What a test needs runs before it: `before`, and the tests whose captures it uses, each once. `after` runs when it is
//! asked for, or at the latest at the end. The server stays up from one test to the next as its `restart` says.

use super::file::{FileRun, State};
use super::slot::{Desk, Slot};
use super::worker::Progress;
use super::{Options, Shared};
use crate::event::{Outbox, Posted, Status};
use crate::mcp::cassette::Reel;
use crate::plan::{CasePlan, FilePlan, Part, Plan};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

/// A file whose tests are picked one by one.
pub struct Picked {
    shared: Shared,
    slots: Vec<Slot>,
    state: State,
    progress: Progress,
}

impl Picked {
    /// Nothing is started yet.
    pub fn new(file: FilePlan, options: Options) -> Picked {
        let tests = file.cases.len();
        let shared = Shared {
            plan: Plan { files: vec![file], tests, seed: None },
            options,
            outbox: Outbox::default(),
            stop: Arc::default(),
            next_file: AtomicUsize::new(0),
            next_session: AtomicUsize::new(0),
            failures: AtomicUsize::new(0),
            start_failed: AtomicBool::new(false),
            redactor: Mutex::default(),
        };
        Picked { shared, slots: Vec::new(), state: State::default(), progress: Progress::new(vec![None; tests]) }
    }

    /// The tests, in their order.
    pub fn tests(&self) -> &[CasePlan] {
        self.shared.plan.files.first().map_or(&[], |file| &file.cases)
    }

    /// Hides these values in what is cut before events are redacted.
    pub fn hide(&mut self, secrets: &[String]) {
        self.shared.hide(secrets);
    }

    /// Records or plays what happens from the next session on.
    pub fn set_reel(&mut self, reel: Option<Reel>) {
        self.shared.options.reel = reel;
    }

    /// Runs the test at a position, and before it what it needs and has not run; what happened is in the events.
    pub async fn run(&mut self, position: usize) -> Vec<Posted> {
        self.run_all(self.order(position)).await;
        self.shared.outbox.take()
    }

    /// Ends the sessions, but remembers what was captured; they are started again when a test needs them.
    pub async fn rest(&mut self) -> Vec<Posted> {
        let desk = Desk { shared: &self.shared, listener: self.shared.stop.listen(), file: Some(0) };
        for slot in &mut self.slots {
            slot.close(&desk).await;
            slot.lost_in = None;
        }
        self.shared.outbox.take()
    }

    /// Ends what runs, and skips what is still to run: what a signal does to a whole run. Meant to be called once.
    pub fn interrupter(&self) -> impl FnOnce() + use<> {
        let stop = self.shared.stop.clone();
        move || stop.interrupt()
    }

    /// Runs what `after` still has to take down, and ends the sessions.
    pub async fn finish(&mut self) -> Vec<Posted> {
        let begun = self.progress.borrow().iter().any(Option::is_some);
        let left = |at: &usize| self.tests()[*at].part() == Part::After && self.status(*at).is_none();
        let after: Vec<usize> = (0..self.tests().len()).filter(|at| begun && left(at)).collect();
        self.run_all(after).await;
        self.rest().await
    }

    fn status(&self, position: usize) -> Option<Status> {
        self.progress.borrow().get(position).copied().flatten()
    }

    /// The positions to run, a need always before what needs it.
    fn order(&self, wanted: usize) -> Vec<usize> {
        let tests = self.tests();
        if tests[wanted].skip.is_some() {
            return vec![wanted];
        }
        let before = (0..tests.len()).filter(|at| tests[*at].part() == Part::Before);
        let mut pending: Vec<usize> = before.chain([wanted]).collect();
        let mut order: Vec<usize> = Vec::new();
        while let Some(at) = pending.pop() {
            if at == wanted || self.status(at).is_none() {
                pending.extend(tests[at].needs.iter().filter(|need| !order.contains(*need)));
                if !order.contains(&at) {
                    order.push(at);
                }
            }
        }
        order.retain(|at| *at != wanted);
        order.sort_unstable();
        order.push(wanted);
        order
    }

    async fn run_all(&mut self, positions: Vec<usize>) {
        let Some(plan) = self.shared.plan.files.first() else { return };
        let mut desk = Desk { shared: &self.shared, listener: self.shared.stop.listen(), file: Some(0) };
        let mut file = FileRun { plan, state: std::mem::take(&mut self.state) };
        for position in positions {
            file.one(position, &mut desk, &mut self.slots, &self.progress).await;
        }
        self.state = file.state;
    }
}
