//! One step after the other, or several in parallel: fill in, send, listen, judge, capture, tell.

use super::call::{Call, Cancel, End, Pages, TaskRun};
use super::capture::capture;
use super::ending::fault_of;
use super::exchange::Exchange;
use super::fault::failure;
use super::judge::{self, Judge, malformed, needs_envelope};
use super::line::{Awaits, line, progress_token, with_token};
use super::outcome::{Answer, Outcome};
use super::respond::{Scripts, Turns};
use super::session::Session;
use super::slot::{Desk, Slot};
use super::window::Window;
use super::{evidence, modern, output_schema};
use crate::diagnostic::Diagnostics;
use crate::event::{Body, Failure, FailureKind, Status, StepFinished, StepId};
use crate::matcher;
use crate::plan::check::{self, Check, Rule};
use crate::plan::era::removed;
use crate::plan::scope::Moment;
use crate::plan::{CasePlan, FilePlan, Filled, StepPlan, fill_expect, fill_step};
use crate::source::{Json, Span};
use crate::suite::template::Found;
use crate::suite::{self, Action, Case, Close, Field, Row, Step};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// How long a line that nobody may answer is waited for.
const RAW_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a step that asserts on stderr stays open: the two pipes are not in step with each other.
const STDERR_SETTLE: Duration = Duration::from_millis(20);

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
}

/// A step that is ready to be sent.
struct Ready<'a> {
    number: u32,
    step: &'a Step,
    filled: Option<Filled>,
    later_checks: Option<Vec<Check>>,
    plan: &'a StepPlan,
}

impl Ready<'_> {
    fn checks(&self) -> &[Check] {
        self.plan.checks.as_deref().or(self.later_checks.as_deref()).unwrap_or_default()
    }

    fn filled(&self) -> Option<&Filled> {
        self.plan.filled.as_ref().or(self.filled.as_ref())
    }

    fn action(&self) -> &Action {
        self.filled().map_or(&self.step.action, |filled| filled.action(self.step))
    }
}

impl Steps<'_, '_> {
    /// Runs the steps; stops at the first that does not pass.
    pub(super) async fn run(&mut self, slot: &mut Slot) -> Ended {
        let case = self.case;
        match &case.body {
            suite::Body::Single(step) => self.group(slot, std::slice::from_ref(step), 0).await,
            suite::Body::Parallel(steps) => self.group(slot, steps, 0).await,
            suite::Body::Steps(steps) => {
                let mut ended = Ended::default();
                for (at, step) in steps.iter().enumerate() {
                    ended = self.group(slot, std::slice::from_ref(step), at).await;
                    if ended.interrupted || !ended.failures.is_empty() {
                        break;
                    }
                }
                ended
            }
        }
    }

    /// Runs steps that are sent together.
    async fn group(&mut self, slot: &mut Slot, steps: &[Step], first: usize) -> Ended {
        let mut ended = Ended::default();
        let session = match slot.ready(self.desk).await {
            Ok(session) => session,
            Err(failed) => {
                let step = self.step_id(first as u32 + 1);
                evidence::post_failed_start(self.desk, &step, &failed.window);
                let at = crate::event::At::new(&self.file.suite.source, steps[0].span);
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
        for step in &ready {
            self.desk.post(Body::StepStarted { step: self.step_id(step.number) });
        }
        let mut calls: Vec<Call> = ready.iter().map(|step| self.call(step, session)).collect();
        self.exchange(&ready, &mut calls, session).await;
        for (step, call) in ready.iter().zip(&mut calls) {
            self.conclude(step, call, session, &mut ended).await;
        }
        let closed = ready.iter().any(|step| matches!(step.action(), Action::Close(_)));
        let awaited = calls.iter().any(|call| call.until_exit);
        if closed || awaited || !session.is_alive() {
            ended.died = !closed && !awaited;
            slot.close(self.desk).await;
        }
        ended
    }

    /// Fills in what was not known before: captures, `${tmp}`.
    fn prepare<'s>(&self, step: &'s Step, at: usize, session: &Session) -> Result<Ready<'s>, Vec<Failure>>
    where
        Self: 's,
    {
        let plan = &self.plan.steps[at];
        if let Some(removed) = session.connection.modern().and_then(|_| removed(step)) {
            let judge = Judge { source: &self.file.suite.source, step, tmp: session.tmp_folder() };
            let mut failure = judge.mismatch(removed.message.to_owned(), step.span);
            failure.hints.push(removed.hint.to_owned());
            return Err(vec![failure]);
        }
        let mut ready = Ready { number: at as u32 + 1, step, filled: None, later_checks: None, plan };
        if plan.filled.is_some() && plan.checks.is_some() {
            return Ok(ready);
        }
        let source = &self.file.suite.source;
        let judge = Judge { source, step, tmp: session.tmp_folder() };
        let mut missing: Vec<(String, Span)> = Vec::new();
        let (tmp, meta) = (session.tmp(), session.meta());
        let moment = Moment { captures: self.captures, tmp: &tmp, meta: &meta };
        let mut scope = |name: &str, span: Span| {
            let found = self.file.scope.lookup(name, self.row, Some(&moment));
            if matches!(found, Found::Unknown | Found::Later) {
                missing.push((name.to_owned(), span));
            }
            found
        };
        if plan.filled.is_none() {
            ready.filled = Some(fill_step(step, &mut scope));
        }
        if plan.checks.is_none() {
            let filled = fill_expect(&step.expect, &mut scope);
            let expect = filled.expect.as_deref().unwrap_or(&step.expect);
            let mut diagnostics = Diagnostics::default();
            ready.later_checks = Some(check::compile(expect, &self.file.scope, &mut diagnostics));
            // A matcher that failed while it looked at its argument is found again, and told as a fault, when it judges.
            diagnostics.list.retain(|diagnostic| !diagnostic.by_extension);
            if diagnostics.has_errors() {
                let place = |diagnostic: &crate::diagnostic::Diagnostic| {
                    diagnostic.place.as_ref().map_or(step.span, |(_, span)| *span)
                };
                let failures = diagnostics.list.iter().map(|diagnostic| {
                    let message = format!("with what was captured, the expectation is invalid: {}", diagnostic.message);
                    judge.mismatch(message, place(diagnostic))
                });
                return Err(failures.collect());
            }
        }
        if missing.is_empty() {
            return Ok(ready);
        }
        let failures =
            missing.into_iter().map(|(name, span)| judge.mismatch(format!("`{name}` was not captured"), span));
        Err(failures.collect())
    }

    /// What is sent for a step, and how long it is waited for.
    fn call(&self, ready: &Ready<'_>, session: &mut Session) -> Call {
        let step = ready.step;
        let expects = |field: Field| ready.checks().iter().any(|check| check.field == field);
        let silent = ready.checks().iter().any(|check| matches!(check.rule, Rule::Silence));
        let answer_wanted = [Field::Response, Field::Result, Field::Error, Field::IsError].into_iter().any(expects);
        let raw = matches!(ready.action(), Action::Raw(_) | Action::Bytes(_));
        let default = self.desk.shared.options.timeout.unwrap_or(session.server.timeout);
        let timeout = match step.timeout {
            Some(timeout) => timeout,
            None if raw && !answer_wanted => RAW_TIMEOUT.min(default),
            None => default,
        };
        let meta = ready.filled().map_or(step.meta.as_ref(), |filled| filled.meta(step));
        let mut token = progress_token(ready.action(), meta);
        let wants_progress =
            expects(Field::Progress) || matches!(step.cancel_after, Some(suite::CancelAfter::Progress(_)));
        let with_token = (token.is_none() && wants_progress).then(|| with_token(meta, session.connection.fresh_id()));
        let meta = with_token.as_ref().or(meta);
        token = token.or_else(|| progress_token(ready.action(), meta));
        let own_meta = modern::meta(session, ready.action(), meta);
        let meta = own_meta.as_ref().or(meta);
        let mut call = match modern::call(ready.action(), meta, session, timeout) {
            Some(call) => call,
            None => match line(ready.action(), meta, step.task.as_ref(), &mut || session.connection.fresh_id()) {
                Some(line) => Call::new(line, timeout),
                None => Call::until_exit(step.timeout.unwrap_or(session.server.shutdown_timeout)),
            },
        };
        call.retry = modern::retry(ready.action(), &call.line, session);
        if let Action::List(listing) = ready.action() {
            call.pages = Some(Pages::new(*listing, meta));
        }
        call.token = token;
        call.until_exit |= expects(Field::ExitCode);
        call.hopes_for_silence = silent || judge::must_stay_silent(step, ready.checks());
        call.http.to_the_end = expects(Field::Http) && session.connection.transport.http().is_some();
        call.settle = step.settle.unwrap_or_default();
        if let Some(after) = step.cancel_after {
            // What would come late comes while the silence is waited for.
            let grace = step.settle.unwrap_or(RAW_TIMEOUT);
            call.cancel = Some(Cancel { after, grace, sent: false, progress: 0 });
            if call.hopes_for_silence {
                call.settle = Duration::ZERO;
            }
        }
        if let Some(task) = step.task {
            call.task = Some(TaskRun { wait: task.wait, told: None, result: None, spent: Duration::ZERO });
        }
        if expects(Field::Stderr) {
            call.settle = call.settle.max(STDERR_SETTLE);
        }
        call
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
        let mut failing = !holds(&exchange.session.between);
        exchange
            .wait(Instant::now() + *duration, |window| {
                let held = holds(window);
                let turned = failing && held;
                failing |= !held;
                turned
            })
            .await;
    }

    /// Judges a call and tells how the step ended.
    async fn conclude(&mut self, ready: &Ready<'_>, call: &mut Call, session: &mut Session, ended: &mut Ended) {
        let window = std::mem::take(&mut call.window);
        let (mut failures, captured) = match fault(ready, call, session) {
            Some(End::Interrupted) => {
                ended.interrupted = true;
                (Vec::new(), HashMap::new())
            }
            Some(end) => {
                let judge = Judge { source: &self.file.suite.source, step: ready.step, tmp: session.tmp_folder() };
                let fault = fault_of(&end, call, &window);
                (vec![failure(fault, &session.server.name, judge.at(ready.step.span))], HashMap::new())
            }
            None => self.judge(ready, call, session, &window).await,
        };
        let unjudged = |failures: &[Failure]| failures.iter().any(|failure| failure.kind == FailureKind::Fault);
        if self.desk.shared.stop.interrupted() && unjudged(&failures) {
            // An extension was judging when the signal came: there is no verdict.
            ended.interrupted = true;
            failures.clear();
        }
        self.captures.extend(captured);
        if self.case.body.steps().len() > 1 {
            failures.iter_mut().for_each(|failure| failure.step = Some(ready.number));
        }
        let status = match failures.as_slice() {
            _ if ended.interrupted => Status::Skipped,
            [] => Status::Passed,
            found if found.iter().any(|failure| failure.kind == FailureKind::Fault) => Status::Faulted,
            _ => Status::Failed,
        };
        let step = self.step_id(ready.number);
        evidence::post(self.desk, &step, session, &window, status);
        self.desk.post(Body::StepFinished(StepFinished {
            step,
            status,
            duration_ms: call.took.as_secs_f64() * 1000.0,
            failures: failures.clone(),
        }));
        ended.failures.extend(failures);
    }

    async fn judge(
        &mut self,
        ready: &Ready<'_>,
        call: &mut Call,
        session: &mut Session,
        window: &Window,
    ) -> (Vec<Failure>, HashMap<String, Json>) {
        let tmp = session.tmp();
        let judge = Judge { source: &self.file.suite.source, step: ready.step, tmp: Path::new(&*tmp) };
        let joined = call.pages.as_mut().and_then(|pages| pages.joined.take());
        let whole = needs_envelope(ready.checks()) || !ready.step.captures.is_empty();
        let answer = match (joined, &call.answer) {
            (Some(joined), _) => Some(Answer::Whole(joined)),
            (None, None) => None,
            (None, Some(answer)) => match Answer::read(answer, whole) {
                Ok(answer) => Some(answer),
                Err(why) => {
                    let fault = malformed(&why.to_string());
                    let at = judge.at(ready.step.span);
                    return (vec![failure(fault, &session.server.name, at)], HashMap::new());
                }
            },
        };
        let exit_code =
            session.connection.exit.filter(|_| call.until_exit).map(|exit| exit.code.map_or(Json::Null, Json::from));
        let task = call.task.as_mut().and_then(|task| task.told.take());
        let (token, unfit) = (call.token.as_ref(), call.unfit.as_ref());
        let ended = call.http.outcome.as_deref();
        let mut outcome =
            Outcome { took: call.took, exit_code, token, task, ended, unfit, ..Outcome::new(answer, window) };
        let step = self.step_id(ready.number);
        let mut failures = {
            let _scope = matcher::Scope::enter(step.clone());
            judge.judge(ready.checks(), &mut outcome)
        };
        failures.extend(judge.stream(call.cancel.as_ref(), &outcome));
        evidence::post_said(self.desk, &step);
        if let (Action::Tool { name, .. }, true, Some(structured)) =
            (ready.action(), ready.step.output_schema, outcome.structured())
        {
            let tool = crate::suite::template::text_of(name);
            failures.extend(output_schema::violations(&tool, structured, session, &judge, self).await);
        }
        let mut captured = HashMap::new();
        if failures.is_empty() && !ready.step.captures.is_empty() {
            capture(ready.step, &outcome.to_json(), &judge, &mut captured, &mut failures);
        }
        (failures, captured)
    }

    fn step_id(&self, number: u32) -> StepId {
        StepId { test: self.plan.test.clone(), number }
    }
}

/// How a call ended, when that leaves nothing to judge.
fn fault(ready: &Ready<'_>, call: &Call, session: &Session) -> Option<End> {
    match call.end.as_ref()? {
        End::Done
            if call.until_exit && session.connection.exit.is_none() && !matches!(ready.action(), Action::Wait(_)) =>
        {
            Some(End::TimedOut)
        }
        End::Done => None,
        // What came over HTTP is there to be judged, whatever it is.
        End::Unanswered if ready.checks().iter().any(|check| check.field == Field::Http) => None,
        End::TimedOut if call.hopes_for_silence => None,
        End::TimedOut if call.line.awaits == Awaits::AnyAnswer && !call.until_exit => {
            let fields = [Field::Response, Field::Result, Field::Error, Field::IsError];
            let wanted = ready.checks().iter().any(|check| fields.contains(&check.field));
            wanted.then_some(End::TimedOut)
        }
        end => Some(end.clone()),
    }
}
