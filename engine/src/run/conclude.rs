//! What became of a step: a fault, or an answer that is judged; then it is told.

use super::call::{Call, End};
use super::capture::capture;
use super::ending::fault_of;
use super::fault::failure;
use super::judge::{Judge, malformed, needs_envelope};
use super::line::Awaits;
use super::outcome::{Answer, Outcome};
use super::ready::Ready;
use super::session::Session;
use super::step::{Ended, Steps};
use super::window::Window;
use super::{evidence, output_schema};
use crate::event::{Body, Failure, FailureKind, Status, StepFinished};
use crate::matcher;
use crate::source::Json;
use crate::suite::{Action, Field};
use std::collections::HashMap;
use std::path::Path;

impl Steps<'_, '_> {
    /// Judges a call and tells how the step ended.
    pub(super) async fn conclude(
        &mut self,
        ready: &Ready<'_>,
        call: &mut Call,
        session: &mut Session,
        ended: &mut Ended,
    ) {
        let window = std::mem::take(&mut call.window);
        self.desk.keep_secret(&window.secrets);
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
        let exit = session.connection.exit.filter(|_| call.until_exit);
        let exit_code = exit.map(|exit| exit.code.map_or(Json::Null, Json::from));
        let signal = exit.filter(|exit| exit.code.is_none());
        let task = call.task.as_mut().and_then(|task| task.told.take());
        let (token, unfit) = (call.token.as_ref(), call.unfit.as_ref());
        let ended = call.http.outcome.as_deref();
        let mut outcome =
            Outcome { took: call.took, exit_code, signal, token, task, ended, unfit, ..Outcome::new(answer, window) };
        let step = self.step_id(ready.number);
        let mut failures = {
            let _scope = matcher::Scope::enter(step.clone());
            judge.judge(ready.checks(), &mut outcome)
        };
        failures.extend(judge.stream(call.cancel.as_ref(), &outcome));
        evidence::post_said(self.desk, &step);
        let success = outcome.unfit.is_none() && outcome.is_error() == Some(Json::Bool(false));
        let due = success && ready.step.task.as_ref().is_none_or(|task| task.wait);
        let structured = outcome.structured();
        if let (Action::Tool { name, .. }, true) = (ready.action(), ready.step.output_schema)
            && (structured.is_some() || due)
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
        End::TimedOut if call.may_be_silent() => None,
        End::TimedOut if call.not_taken_back().is_some() => Some(End::TimedOut),
        End::TimedOut if call.line.awaits == Awaits::AnyAnswer && !call.until_exit => {
            let fields = [Field::Response, Field::Result, Field::Error, Field::IsError];
            let wanted = ready.checks().iter().any(|check| fields.contains(&check.field));
            wanted.then_some(End::TimedOut)
        }
        end => Some(end.clone()),
    }
}
