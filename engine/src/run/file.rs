//! One suite file: its tests in order, each with its attempts, and what a failure means for those after it.

use super::fault::{Code, Fault, failure};
use super::respond::Turns;
use super::slot::{Desk, Slot};
use super::step::{Ended, Steps};
use super::stop::Reason;
use super::worker::Progress;
use crate::event::{At, Attempt, Body, Failure, FailureKind, Status, TestFinished};
use crate::plan::{CasePlan, FilePlan, Part, Subject};
use crate::source::Json;
use crate::suite::server::Restart;
use crate::suite::{Case, Row};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Runs every test of a file.
pub(super) async fn run(plan: &FilePlan, desk: &mut Desk<'_>, slots: &mut Vec<Slot>, progress: &Progress) {
    let mut file = FileRun { plan, state: State::default() };
    for position in 0..plan.cases.len() {
        file.one(position, desk, slots, progress).await;
    }
}

/// Stops the run when enough tests have failed.
fn count(desk: &Desk<'_>, status: Status) {
    if matches!(status, Status::Failed | Status::Faulted) {
        let failures = desk.shared.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if desk.shared.options.max_fail.is_some_and(|most| failures >= most) {
            desk.shared.stop.enough();
        }
    }
}

/// A file on its way.
pub(super) struct FileRun<'a> {
    pub(super) plan: &'a FilePlan,
    pub(super) state: State,
}

/// What one test of a file leaves to those after it.
#[derive(Debug, Default)]
pub(super) struct State {
    captures: HashMap<String, Json>,
    turns: Turns,
    before_failed: Option<String>,
}

impl FileRun<'_> {
    /// Runs the test at a position, and tells what became of it.
    pub(super) async fn one(
        &mut self,
        position: usize,
        desk: &mut Desk<'_>,
        slots: &mut Vec<Slot>,
        progress: &Progress,
    ) {
        let case = &self.plan.cases[position];
        let finished = self.test(case, desk, slots, progress).await;
        progress.borrow_mut()[position] = Some(finished.status);
        if case.part() == Part::Before && finished.status != Status::Passed && finished.status != Status::Skipped {
            self.state.before_failed.get_or_insert_with(|| case.test.name.clone());
        }
        count(desk, finished.status);
        desk.post(Body::TestFinished(finished));
    }

    async fn test(
        &mut self,
        plan: &CasePlan,
        desk: &mut Desk<'_>,
        slots: &mut Vec<Slot>,
        progress: &Progress,
    ) -> TestFinished {
        if let Some(reason) = self.reason_to_skip(plan, desk, progress) {
            return finished(plan, Status::Skipped, reason);
        }
        let Some(case) = self.plan.case(plan.subject) else {
            return finished(plan, Status::Skipped, "there is nothing to run".into());
        };
        desk.post(Body::TestStarted { test: plan.test.clone() });
        if let Some(before) = self.state.before_failed.as_ref().filter(|_| plan.part() == Part::Own) {
            let fault = Fault::new(Code::ConnectionLost, format!("`before` did not pass: `{before}`"));
            return self.faulted(plan, case, fault);
        }
        let own = case.restart || !case.handshake || plan.server.restart == Restart::Test;
        let mut own_slot = own.then(|| Slot::new(&plan.server, &plan.capabilities, case.handshake));
        let slot = match &mut own_slot {
            Some(slot) => slot,
            None => shared_slot(slots, plan, desk).await,
        };
        if let Some(test) = &slot.lost_in {
            let fault = Fault::new(Code::ConnectionLost, format!("the server died earlier in this file, in `{test}`"))
                .hint("`restart: test` in the server's config, or `restart: true` on a test, gives tests a process of their own");
            return self.faulted(plan, case, fault);
        }
        let finished = self.attempts(plan, case, slot, desk, !own).await;
        if let Some(mut slot) = own_slot {
            slot.close(desk).await;
        }
        finished
    }

    fn reason_to_skip(&self, plan: &CasePlan, desk: &Desk<'_>, progress: &Progress) -> Option<String> {
        if let Some(reason) = &plan.skip {
            return Some(reason.clone());
        }
        // What `before` set up, `after` takes down, whatever happened; only a signal stops that.
        match desk.shared.stop.reason() {
            Reason::Interrupted => return Some("interrupted".into()),
            Reason::Failures if plan.part() != Part::After => return Some("stopped after too many failures".into()),
            _ => {}
        }
        let progress = progress.borrow();
        let unmet = plan.needs.iter().find(|need| progress[**need] != Some(Status::Passed))?;
        let maker = &self.plan.cases[*unmet].test.name;
        Some(format!("it uses what `{maker}` captures, which did not pass"))
    }

    /// Runs a test as often as `retry` and `repeat` say.
    async fn attempts(
        &mut self,
        plan: &CasePlan,
        case: &Case,
        slot: &mut Slot,
        desk: &mut Desk<'_>,
        shared: bool,
    ) -> TestFinished {
        slot.concerns(&plan.test);
        slot.warm_up(desk).await;
        let begun = Instant::now();
        let (mut attempt, mut passes) = (1, 0);
        let ended = loop {
            let mut ended = self.once(plan, case, slot, desk).await;
            if ended.died && passes + 1 < case.repeat {
                let at = At::new(&self.plan.suite.source, case.span);
                ended.cut_short(&format!("pass {} of {}", passes + 1, case.repeat), &plan.server.name, at);
            }
            if ended.interrupted {
                break ended;
            }
            if ended.failures.is_empty() {
                passes += 1;
                if passes >= case.repeat.max(1) {
                    break ended;
                }
                continue;
            }
            // What the run's tests share is not started again, so another attempt would be none.
            if attempt > case.retry || (shared && slot.failed.is_some()) {
                break ended;
            }
            slot.failed = None;
            attempt += 1;
            passes = 0;
            desk.post(Body::Attempt(Attempt {
                test: plan.test.clone(),
                attempt,
                of: case.retry + 1,
                reason: ended.failures[0].message.clone(),
            }));
        };
        if slot.failed.is_some() && !desk.shared.stop.interrupted() {
            desk.shared.start_failed.store(true, Ordering::Relaxed);
        }
        if ended.died && shared {
            slot.lost_in = Some(plan.test.name.clone());
        }
        let status = match ended.failures.as_slice() {
            _ if ended.interrupted => Status::Skipped,
            [] => Status::Passed,
            found if found.iter().any(|failure| failure.kind == FailureKind::Fault) => Status::Faulted,
            _ => Status::Failed,
        };
        TestFinished {
            test: plan.test.clone(),
            status,
            duration_ms: begun.elapsed().as_secs_f64() * 1000.0,
            failures: if ended.interrupted { Vec::new() } else { ended.failures },
            reason: ended.interrupted.then(|| "interrupted while it ran".to_owned()),
            attempts: (attempt > 1).then_some(attempt),
        }
    }

    async fn once(&mut self, plan: &CasePlan, case: &Case, slot: &mut Slot, desk: &mut Desk<'_>) -> Ended {
        let row = row(plan, case);
        let State { captures, turns, .. } = &mut self.state;
        let mut steps = Steps { file: self.plan, plan, case, row, captures, turns, desk };
        steps.run(slot).await
    }

    fn faulted(&self, plan: &CasePlan, case: &Case, fault: Fault) -> TestFinished {
        let at = At::new(&self.plan.suite.source, case.span);
        let failures: Vec<Failure> = vec![failure(fault, &plan.server.name, at)];
        TestFinished { failures, ..finished(plan, Status::Faulted, String::new()) }
    }
}

fn row<'a>(plan: &CasePlan, case: &'a Case) -> Option<&'a Row> {
    let Subject::Case { row: Some(row), .. } = plan.subject else { return None };
    case.each.as_ref()?.get(row)
}

/// The place of the server that the run's tests share.
async fn shared_slot<'a>(slots: &'a mut Vec<Slot>, plan: &CasePlan, desk: &Desk<'_>) -> &'a mut Slot {
    let same = |slot: &Slot| Arc::ptr_eq(&slot.server, &plan.server) && slot.capabilities == plan.capabilities;
    let at = slots.iter().position(same).unwrap_or_else(|| {
        slots.push(Slot::new(&plan.server, &plan.capabilities, true));
        slots.len() - 1
    });
    if plan.server.has_fixed_port() {
        // The client declares something else now, and the process before holds the port.
        let others = slots.iter_mut().enumerate().filter(|(other, _)| *other != at);
        for (_, slot) in others.filter(|(_, slot)| Arc::ptr_eq(&slot.server, &plan.server)) {
            slot.close(desk).await;
        }
    }
    &mut slots[at]
}

fn finished(plan: &CasePlan, status: Status, reason: String) -> TestFinished {
    TestFinished {
        test: plan.test.clone(),
        status,
        duration_ms: 0.0,
        failures: Vec::new(),
        reason: (!reason.is_empty()).then_some(reason),
        attempts: None,
    }
}
