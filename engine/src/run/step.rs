//! One step after the other, or several in parallel: fill in, send, listen, judge, capture, tell.

use super::call::Call;
use super::evidence;
use super::exchange::Exchange;
use super::fault::{Code, Fault, failure};
use super::judge::Judge;
use super::outcome::Outcome;
use super::output_schema;
use super::ready::Ready;
use super::respond::{Scripts, Turns};
use super::session::Session;
use super::slot::{Desk, Slot};
use super::window::Window;
use crate::child::Exit;
use crate::event::{At, Body, Failure, StepId};
use crate::plan::scope::Moment;
use crate::plan::{CasePlan, FilePlan};
use crate::source::Json;
use crate::suite::template::text_of;
use crate::suite::{self, Action, Case, Close, Field, Row, Step};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// How often a `wait` looks whether what it expects of files holds.
const LOOK: Duration = Duration::from_millis(50);

/// The steps of one test, on their way.
pub(super) struct Steps<'a, 'd> {
    pub(super) file: &'a FilePlan,
    pub(super) plan: &'a CasePlan,
    pub(super) case: &'a Case,
    pub(super) row: Option<&'a Row>,
    pub(super) captures: &'a mut HashMap<String, Json>,
    pub(super) turns: &'a mut Turns,
    pub(super) desk: &'a mut Desk<'d>,
}

/// How a test's steps ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) failures: Vec<Failure>,
    /// The run was interrupted in the middle.
    pub(super) interrupted: bool,
    /// The server died, and not because it was told to.
    pub(super) died: bool,
    /// How its process ended.
    pub(super) exit: Option<Exit>,
}

impl Ended {
    /// The server died while something was still to come: what passed so far is no pass.
    pub(super) fn cut_short(&mut self, after: &str, server: &str, at: At) {
        if self.failures.is_empty() && !self.interrupted {
            let how = self.exit.map(|exit| format!(" ({exit})")).unwrap_or_default();
            let message = format!("the server ended after {after}, before the rest of the test{how}");
            self.failures.push(failure(Fault::new(Code::Crashed, message), server, at));
        }
    }
}

impl Steps<'_, '_> {
    /// Runs the steps; stops at the first that does not pass.
    pub(super) async fn run(&mut self, slot: &mut Slot) -> Ended {
        let case = self.case;
        self.restart_for_overdue_id(slot).await;
        match &case.body {
            suite::Body::Single(step) => self.group(slot, std::slice::from_ref(step), 0).await,
            suite::Body::Parallel(steps) => self.group(slot, steps, 0).await,
            suite::Body::Steps(steps) => {
                let mut ended = Ended::default();
                for (at, step) in steps.iter().enumerate() {
                    ended = self.group(slot, std::slice::from_ref(step), at).await;
                    if ended.died && at + 1 < steps.len() {
                        let place = At::new(&self.file.suite.source, steps[at + 1].span);
                        ended.cut_short(&format!("step {}", at + 1), &slot.server.name, place);
                    }
                    if ended.interrupted || !ended.failures.is_empty() {
                        break;
                    }
                }
                ended
            }
        }
    }

    /// An id that timed out cannot be told from its late answer, so it is never used twice in one session.
    async fn restart_for_overdue_id(&mut self, slot: &mut Slot) {
        let Some(session) = slot.session.as_ref().filter(|session| !session.connection.overdue.is_empty()) else {
            return;
        };
        let mut steps = self.case.body.steps().iter().enumerate();
        let reused = steps.find_map(|(at, step)| match self.prepare(step, at, session) {
            Ok(ready) => overdue_id(ready.action(), session),
            Err(_) => overdue_id(&step.action, session),
        });
        let Some(id) = reused else { return };
        let name = session.name.clone();
        self.desk.note(Some(&name), format!("the server was restarted: id {id} had timed out and is used again"));
        slot.close(self.desk).await;
    }

    /// What is wrong with a step whose id timed out in an earlier one of the same test.
    fn reused_id(&self, ready: &Ready<'_>, session: &Session) -> Option<Failure> {
        let id = overdue_id(ready.action(), session)?;
        let message =
            format!("id {id} had timed out in this session, and its late answer could not be told from this one");
        let fault = Fault::new(Code::Timeout, message).hint("use another `id`, or give the step a test of its own");
        let at = At::new(&self.file.suite.source, ready.step.span);
        Some(failure(fault, &session.server.name, at))
    }

    /// Runs steps that are sent together.
    async fn group(&mut self, slot: &mut Slot, steps: &[Step], first: usize) -> Ended {
        let mut ended = Ended::default();
        let session = match slot.ready(self.desk).await {
            Ok(session) => session,
            Err(failed) => {
                let step = self.step_id(first as u32 + 1);
                evidence::post_failed_start(self.desk, &step, &failed.window);
                let at = At::new(&self.file.suite.source, steps[0].span);
                ended.interrupted = self.desk.shared.stop.interrupted();
                ended.failures.push(failure(failed.fault, &slot.server.name, at));
                return ended;
            }
        };
        let mut ready = Vec::with_capacity(steps.len());
        for (offset, step) in steps.iter().enumerate() {
            match self.prepare(step, first + offset, session) {
                Ok(step) => ready.push(step),
                Err(failures) => {
                    ended.failures = failures;
                    return ended;
                }
            }
        }
        if let Some(failure) = ready.iter().find_map(|step| self.reused_id(step, session)) {
            ended.failures.push(failure);
            return ended;
        }
        for step in &ready {
            self.desk.post(Body::StepStarted { step: self.step_id(step.number) });
        }
        let mut calls: Vec<Call> = ready.iter().map(|step| self.call(step, session)).collect();
        let tmp = session.tmp();
        let judge = Judge { source: &self.file.suite.source, step: &steps[0], tmp: Path::new(&*tmp) };
        output_schema::list_first(&calls, session, &judge, self).await;
        self.exchange(&ready, &mut calls, session).await;
        for (step, call) in ready.iter().zip(&mut calls) {
            self.conclude(step, call, session, &mut ended).await;
        }
        let closed = ready.iter().any(|step| matches!(step.action(), Action::Close(_)));
        // `wait` awaits the end of its time: only the exit that it saw is an awaited one.
        let waited =
            matches!(ready.first().map(Ready::action), Some(Action::Wait(_))) && session.connection.exit.is_none();
        let awaited = calls.iter().any(|call| call.until_exit) && !waited;
        if closed || awaited || !session.is_alive() {
            ended.died = !closed && !awaited;
            ended.exit = session.connection.exit;
            slot.close(self.desk).await;
        }
        ended
    }

    async fn exchange(&mut self, ready: &[Ready<'_>], calls: &mut [Call], session: &mut Session) {
        let none = suite::Respond::default();
        // In parallel the scripts of the first step that has some hold for all.
        let step_scripts = ready
            .iter()
            .map(|step| step.filled().map_or(&step.step.respond, |filled| filled.respond(step.step)))
            .find(|respond| !respond.entries.is_empty())
            .unwrap_or(&none);
        let (server, capabilities) = (session.server.clone(), session.capabilities.clone());
        let (tmp, meta) = (session.tmp(), session.meta());
        let scripts = Scripts {
            step: step_scripts,
            suite: &self.file.suite.respond,
            server: &server.respond,
            capabilities: &capabilities,
            scope: &self.file.scope,
            row: self.row,
            moment: Moment { captures: self.captures, tmp: &tmp, meta: &meta },
        };
        self.turns.step.clear();
        if let (Action::Close(how), Some(process)) = (ready[0].action(), session.connection.transport.process()) {
            match how {
                Close::Stdin => process.close_stdin(),
                Close::Term => process.child().terminate(),
                Close::Kill => process.child().kill(),
            }
        }
        let listener = &mut self.desk.listener;
        let mut exchange = Exchange { session, calls, scripts: &scripts, turns: self.turns, listener };
        let Action::Wait(duration) = ready[0].action() else { return exchange.run().await };
        let judge = Judge { source: &self.file.suite.source, step: ready[0].step, tmp: Path::new(&*tmp) };
        let checks = ready[0].checks();
        let holds = |window: &Window| {
            let mut outcome = Outcome::new(None, window);
            judge.judge(checks, &mut outcome).is_empty()
        };
        // Nobody tells of a file.
        let every = checks.iter().any(|check| check.field == Field::Files).then_some(LOOK);
        let mut failing = !holds(&exchange.session.between);
        exchange
            .wait(Instant::now() + *duration, every, |window| {
                let held = holds(window);
                let turned = failing && held;
                failing |= !held;
                turned
            })
            .await;
    }

    pub(super) fn step_id(&self, number: u32) -> StepId {
        StepId { test: self.plan.test.clone(), number }
    }
}

/// The id that an action writes itself, when it had timed out in the session.
fn overdue_id(action: &Action, session: &Session) -> Option<Json> {
    let overdue = &session.connection.overdue;
    let id = match action {
        _ if overdue.is_empty() => return None,
        Action::Request(node) => node.get("id")?.to_json(),
        Action::Raw(node) => serde_json::from_str::<Json>(&text_of(node)).ok()?.get_mut("id")?.take(),
        _ => return None,
    };
    session.connection.is_overdue(&id).then_some(id)
}
