//! A step that is ready to be sent: everything is filled in, and the call knows what it awaits.

use super::call::{Call, Cancel};
use super::judge::{self, Judge};
use super::line::{Awaits, line, progress_token, with_token};
use super::modern;
use super::pages::Pages;
use super::polling::Polling;
use super::session::Session;
use super::step::Steps;
use super::task::TaskRun;
use crate::diagnostic::Diagnostics;
use crate::event::Failure;
use crate::plan::check::{self, Check, Rule};
use crate::plan::era::removed;
use crate::plan::scope::Moment;
use crate::plan::{Filled, StepPlan, fill_expect, fill_step};
use crate::source::{Json, Node, Span};
use crate::suite::template::Found;
use crate::suite::{self, Action, Field, Step};
use std::time::Duration;

/// How long a line that nobody may answer is waited for.
const SILENCE: Duration = Duration::from_secs(1);
/// How long a step that asserts on stderr stays open: the two pipes are not in step with each other.
const STDERR_SETTLE: Duration = Duration::from_millis(20);

/// A step that is ready to be sent.
pub(super) struct Ready<'a> {
    pub(super) number: u32,
    pub(super) step: &'a Step,
    pub(super) filled: Option<Filled>,
    pub(super) later_checks: Option<Vec<Check>>,
    pub(super) plan: &'a StepPlan,
}

impl Ready<'_> {
    pub(super) fn checks(&self) -> &[Check] {
        self.plan.checks.as_deref().or(self.later_checks.as_deref()).unwrap_or_default()
    }

    pub(super) fn filled(&self) -> Option<&Filled> {
        self.plan.filled.as_ref().or(self.filled.as_ref())
    }

    pub(super) fn action(&self) -> &Action {
        self.filled().map_or(&self.step.action, |filled| filled.action(self.step))
    }
}

impl Steps<'_, '_> {
    /// Fills in what was not known before: captures, `${tmp}`.
    pub(super) fn prepare<'s>(&self, step: &'s Step, at: usize, session: &Session) -> Result<Ready<'s>, Vec<Failure>>
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
            // A matcher that failed while it looked at its argument is told as a fault when it is to judge.
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
    pub(super) fn call(&self, ready: &Ready<'_>, session: &mut Session) -> Call {
        let step = ready.step;
        let expects = |field: Field| ready.checks().iter().any(|check| check.field == field);
        let silent = ready.checks().iter().any(|check| matches!(check.rule, Rule::Silence));
        let answer_wanted = [Field::Response, Field::Result, Field::Error, Field::IsError].into_iter().any(expects);
        let notifies = silent && matches!(ready.action(), Action::Notify(_));
        let unasked = notifies || matches!(ready.action(), Action::Raw(_) | Action::Bytes(_));
        let default = self.desk.shared.options.timeout.unwrap_or(session.server.timeout);
        let timeout = match step.timeout {
            Some(timeout) => timeout,
            None if unasked && !answer_wanted => SILENCE.min(default),
            None => default,
        };
        let meta = ready.filled().map_or(step.meta.as_ref(), |filled| filled.meta(step));
        let mut token = progress_token(ready.action(), meta);
        let wants_progress =
            expects(Field::Progress) || matches!(step.cancel_after, Some(suite::CancelAfter::Progress(_)));
        let with_token = (token.is_none() && wants_progress).then(|| with_token(meta, session.connection.fresh_id()));
        let meta = with_token.as_ref().or(meta);
        token = token.or_else(|| progress_token(ready.action(), meta));
        let own_meta = match step.task {
            Some(_) => modern::task_meta(session, meta),
            None => modern::meta(session, ready.action(), meta),
        };
        let meta = own_meta.as_ref().or(meta);
        let is_modern = session.connection.modern().is_some();
        // In the modern era the server alone decides which calls become tasks.
        let asked_task = step.task.as_ref().filter(|_| !is_modern);
        let mut call = match modern::call(ready.action(), meta, session, timeout) {
            Some(call) => call,
            None => match line(ready.action(), meta, asked_task, &mut || session.connection.fresh_id()) {
                Some(line) => Call::new(line, timeout),
                None => Call::until_exit(step.timeout.unwrap_or(session.server.shutdown.longest())),
            },
        };
        call.retry = modern::retry(ready.action(), &call.line, session);
        if let Action::List(listing) = ready.action() {
            call.pages = Some(Pages::new(*listing, meta));
        }
        call.token = token;
        call.until_exit |= expects(Field::ExitCode);
        call.hopes_for_silence = silent || judge::must_stay_silent(step, ready.checks());
        if notifies {
            // Nothing answers a notification: whatever does is the answer that must not come.
            call.line.awaits = Awaits::AnyAnswer;
        }
        call.http.to_the_end = expects(Field::Http);
        call.settle = step.settle.unwrap_or_default();
        if let Some(after) = step.cancel_after {
            // What would come late comes while the silence is waited for.
            let grace = step.settle.unwrap_or(SILENCE);
            call.cancel = Some(Cancel { after, grace, sent: false, progress: 0 });
            if call.hopes_for_silence {
                call.settle = Duration::ZERO;
            }
        }
        if let Some(task) = step.task {
            let polling = is_modern.then(|| Polling::new(meta.map_or(Json::Null, Node::to_json)));
            call.task = Some(TaskRun { wait: task.wait, told: None, result: None, polling });
            if is_modern && task.ttl.is_some() {
                call.window
                    .note("`ttl` is not sent: in the modern era the server alone decides how long a task lives".into());
            }
        }
        if expects(Field::Stderr) {
            call.settle = call.settle.max(STDERR_SETTLE);
        }
        call
    }
}
