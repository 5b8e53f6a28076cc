//! Judges an outcome: every check of a step, each with the failures it found.

use super::call::Cancel;
use super::fault::{Code, Fault};
use super::files::read_below;
use super::outcome::{Answer, Outcome, short};
use crate::event::{At, Failure, FailureKind};
use crate::matcher::{Expected, Found, Mismatch, bounded, inline};
use crate::mcp::transport::http::outcome::{Ended, LOST_SESSION};
use crate::plan::check::{Check, Rule};
use crate::reporter::text;
use crate::source::{Json, Source, Span};
use crate::suite::{Action, Field, Step};
use std::path::Path;

/// What a judgement needs beside the outcome.
pub(super) struct Judge<'a> {
    pub(super) source: &'a Source,
    pub(super) step: &'a Step,
    /// The folder behind `${tmp}`.
    pub(super) tmp: &'a Path,
}

impl Judge<'_> {
    /// Every failure of every check.
    pub(super) fn judge(&self, checks: &[Check], outcome: &mut Outcome<'_>) -> Vec<Failure> {
        let mut failures = Vec::new();
        if must_stay_silent(self.step, checks) {
            failures.extend(self.taken_back(outcome));
        } else if !self.step.any_outcome && !checks.iter().any(|check| speaks_of_success(check.field)) {
            failures.extend(self.must_succeed(outcome));
        }
        let mut whole = None;
        for check in checks {
            self.check(check, outcome, &mut whole, &mut failures);
        }
        failures
    }

    /// Unless the step says otherwise, an answer must be a success.
    fn must_succeed(&self, outcome: &Outcome<'_>) -> Option<Failure> {
        if let Some(unfit) = outcome.unfit {
            let mut failure = self.mismatch(unfit.message.clone(), self.step.span);
            failure.actual = outcome.result().map(bounded);
            failure.hints.push(unfit.hint.clone());
            return Some(failure);
        }
        let Some(message) = outcome.in_words() else { return self.must_be_object(outcome) };
        let hint = match outcome.error() {
            Some(_) => "if that is right, expect it with `error: { code: … }`",
            None => "if that is right, expect it with `isError: true`",
        };
        let mut failure = Failure::new(FailureKind::Mismatch, message, self.at(self.step.span));
        failure.path = Some(if outcome.error().is_some() { "$.error" } else { "$.isError" }.to_owned());
        failure.actual = outcome.error().or(outcome.result()).map(bounded);
        failure.hints.push(hint.to_owned());
        let lost = |ended: &&Ended| ended.in_session && ended.head.as_ref().is_some_and(|head| head.status == 404);
        failure.hints.extend(outcome.ended.filter(lost).map(|_| LOST_SESSION.to_owned()));
        Some(failure)
    }

    /// What mcptest composed itself is answered with an object, whatever is in it.
    fn must_be_object(&self, outcome: &Outcome<'_>) -> Option<Failure> {
        let written =
            matches!(self.step.action, Action::Request(_) | Action::Notify(_) | Action::Raw(_) | Action::Bytes(_));
        let result = outcome.result().filter(|result| !written && !result.is_object())?;
        let mut failure = self.mismatch("the result of the answer is no object".to_owned(), self.step.span);
        failure.path = Some("$.result".to_owned());
        failure.actual = Some(result.clone());
        failure.hints.push("if that is right, expect it with `result: …`".to_owned());
        Some(failure)
    }

    /// A request that was taken back gets no answer, unless the step expects one.
    fn taken_back(&self, outcome: &Outcome<'_>) -> Option<Failure> {
        let answer = outcome.error().or(outcome.result())?;
        let mut failure = self.mismatch("the server answered a request that was taken back".to_owned(), self.step.span);
        failure.path = Some(if outcome.error().is_some() { "$.error" } else { "$.result" }.to_owned());
        failure.actual = Some(bounded(answer));
        failure.hints.push("if that is right, expect the answer: `error: { code: … }` or `result: …`".to_owned());
        Some(failure)
    }

    /// What a step with `cancelAfter` or `task` must have come to.
    pub(super) fn stream(&self, cancel: Option<&Cancel>, outcome: &Outcome<'_>) -> Option<Failure> {
        if cancel.is_some_and(|cancel| !cancel.sent) && outcome.answer.is_some() {
            let message = "the answer came before the request was taken back, so nothing was cancelled".to_owned();
            let mut failure = self.mismatch(message, self.step.span);
            failure.hints.push("give it more to do, or a shorter `cancelAfter`".to_owned());
            return Some(failure);
        }
        if self.step.task.is_none() || outcome.task.is_some() {
            return None;
        }
        let result = outcome.result()?;
        let message = "the server answered at once, and made no task of the call".to_owned();
        let mut failure = self.mismatch(message, self.step.span);
        failure.path = Some("$.task".to_owned());
        failure.actual = Some(bounded(result));
        failure.hints.push(
            "tasks need protocol 2025-11-25, a server that declares `tasks`, and a tool whose `taskSupport` allows it"
                .to_owned(),
        );
        failure.hints.push("in the modern era the server decides which calls become tasks".to_owned());
        Some(failure)
    }

    /// Each higher than the one before, and enough of them.
    fn progress(&self, check: &Check, least: usize, told: &[Json], found: &mut Vec<Failure>) {
        let value = |told: &Json| told.get("progress").and_then(Json::as_f64);
        let rises = |pair: &[Json]| value(&pair[0]).zip(value(&pair[1])).is_some_and(|(before, after)| after > before);
        for (at, pair) in told.windows(2).enumerate().filter(|(_, pair)| !rises(pair)).take(Found::LIMIT) {
            let text = |told: &Json| inline(told.get("progress").unwrap_or(&Json::Null), 40);
            let message =
                format!("progress went from {} to {}, and must go up each time", text(&pair[0]), text(&pair[1]));
            let mut failure = self.mismatch(message, check.span);
            failure.path = Some(format!("$.progress[{}].progress", at + 1));
            found.push(failure);
        }
        if told.len() < least {
            let came = text::count(told.len(), "progress notification");
            let message = format!("{came} came, expected at least {least}");
            let mut failure = self.mismatch(message, check.span);
            failure.path = Some("$.progress".into());
            failure.actual = Some(bounded(&told.iter().cloned().collect()));
            found.push(failure);
        }
    }

    fn check(&self, check: &Check, outcome: &mut Outcome<'_>, whole: &mut Option<Json>, found: &mut Vec<Failure>) {
        match &check.rule {
            Rule::Value(expected) => {
                let owned;
                let actual = match check.field {
                    Field::Result => outcome.result(),
                    Field::Error => outcome.error(),
                    Field::Structured => outcome.structured(),
                    Field::Content => outcome.content(),
                    Field::ExitCode => outcome.exit_code.as_ref(),
                    Field::Http => outcome.http(),
                    Field::Task => outcome.task.as_ref(),
                    Field::IsError => {
                        owned = outcome.is_error();
                        owned.as_ref()
                    }
                    _ => {
                        owned = outcome.text().map(Json::String);
                        owned.as_ref()
                    }
                };
                self.value(check, expected, actual, outcome, found);
            }
            Rule::Envelope { expected, leave_out } => self.envelope(expected, leave_out, outcome, found),
            Rule::Empty => found.extend(self.empty(check, outcome)),
            Rule::Trimmed(expected) => {
                let text = if check.field == Field::Stderr { outcome.window.stderr.clone() } else { outcome.stdout() };
                let text = Json::String(text.trim().to_owned());
                self.mismatches(expected.check(Some(&text), root(check.field)), found);
            }
            Rule::Methods(methods) => {
                for (method, expected) in methods {
                    let params = outcome.params_of(check.field == Field::Requests, method);
                    let path = format!("{}[{}]", root(check.field), Json::from(method.as_str()));
                    self.mismatches(expected.check(Some(&params), &path), found);
                }
            }
            Rule::Progress { least, expected } => {
                let told = outcome.progress();
                self.progress(check, *least, &told, found);
                if let Some(expected) = expected {
                    self.mismatches(expected.check(Some(&Json::Array(told)), "$.progress"), found);
                }
            }
            Rule::Time(bound) if !bound.holds(outcome.took) => {
                let took = text::duration(outcome.milliseconds());
                let limit = text::duration(bound.limit.as_secs_f64() * 1000.0);
                let message = format!("the answer took {took}, expected {} {limit}", bound.comparison.sign());
                let mut failure = self.mismatch(message, check.span);
                failure.path = Some("$.duration".into());
                found.push(failure);
            }
            Rule::Time(_) => {}
            Rule::Milliseconds(expected) => {
                let actual = Json::from(outcome.milliseconds());
                self.mismatches(expected.check(Some(&actual), "$.duration"), found);
            }
            Rule::Silence => found.extend(self.silence(check, outcome)),
            Rule::Files(files) => files.iter().for_each(|(path, span, expected)| {
                self.file(path, *span, expected, found);
            }),
            Rule::At { query, expected, message } => {
                let whole = whole.get_or_insert_with(|| outcome.to_json());
                let before = found.len();
                let selected = query.select(whole);
                self.mismatches(expected.check(selected.as_deref(), query.text()), found);
                if let (None, Some(first)) = (selected, found.get_mut(before)) {
                    first.hints.extend(query.lost(whole));
                }
                if let Some(message) = message {
                    found[before..].iter_mut().for_each(|failure| {
                        failure.message = format!("{message}: {}", failure.message);
                    });
                }
            }
        }
    }

    /// A field of the answer, with a word about the answer when the field is not there at all.
    fn value(
        &self,
        check: &Check,
        expected: &Expected,
        actual: Option<&Json>,
        outcome: &Outcome<'_>,
        found: &mut Vec<Failure>,
    ) {
        let before = found.len();
        self.mismatches(expected.check(actual, root(check.field)), found);
        if found.len() == before {
            return;
        }
        let hint = match check.field {
            Field::Error if actual.is_none() => outcome.result().map(|_| match outcome.text() {
                Some(text) => format!("the answer is a result: {}", short(&text)),
                None => "the answer is a result, not an error".to_owned(),
            }),
            Field::ExitCode => outcome
                .signal
                .map(|exit| format!("{exit} ended the process, so it has no exit code: `exitCode: null` expects that")),
            Field::Error | Field::Task => None,
            Field::Http if actual.is_none() => Some("this server is not spoken to over HTTP".to_owned()),
            Field::Http => None,
            Field::IsError => outcome.in_words().or_else(|| {
                let text = outcome.text().filter(|text| !text.is_empty())?;
                Some(format!("the answer is no error: {}", short(&text)))
            }),
            Field::Text => outcome.in_words().or_else(|| outcome.why_no_text()),
            Field::Structured if actual.is_none() => outcome.in_words().or_else(|| outcome.why_not_structured()),
            _ => outcome.in_words(),
        };
        let said = |failure: &Failure, hint: &String| failure.message == *hint || failure.hints.contains(hint);
        if let Some(hint) = hint.filter(|hint| !found.iter().any(|failure| said(failure, hint))) {
            found[before].hints.push(hint);
        }
    }

    fn envelope(
        &self,
        expected: &Expected,
        leave_out: &[&'static str],
        outcome: &mut Outcome<'_>,
        found: &mut Vec<Failure>,
    ) {
        let mut aside = Vec::new();
        if let Some(Answer::Whole(Json::Object(map))) = outcome.answer.as_mut() {
            aside.extend(leave_out.iter().filter_map(|key| map.shift_remove_entry(*key)));
        }
        let before = found.len();
        self.mismatches(expected.check(outcome.response(), "$.response"), found);
        if let Some(Answer::Whole(Json::Object(map))) = outcome.answer.as_mut() {
            map.extend(aside);
        }
        if let (Some(first), Some(words)) = (found.get_mut(before), outcome.in_words())
            && !first.hints.iter().any(|hint| words.contains(hint.as_str()))
            // Whoever looks inside of the error knows that there is one.
            && !first.path.as_deref().is_some_and(|path| path.starts_with("$.response.error."))
        {
            first.hints.push(words);
        }
    }

    fn empty(&self, check: &Check, outcome: &Outcome<'_>) -> Option<Failure> {
        let (text, what) = match check.field {
            Field::Stderr => (outcome.window.stderr.trim().to_owned(), "stderr is not empty"),
            _ => (outcome.stdout(), "stdout holds lines that are no messages"),
        };
        if text.is_empty() {
            return None;
        }
        let mut failure = self.mismatch(what.to_owned(), check.span);
        failure.path = Some(root(check.field).to_owned());
        failure.expected = Some(Json::String(String::new()));
        failure.actual = Some(bounded(&Json::String(text)));
        Some(failure)
    }

    fn silence(&self, check: &Check, outcome: &Outcome<'_>) -> Option<Failure> {
        let response = outcome.response()?;
        let mut failure = self.mismatch("an answer came, and none was expected".to_owned(), check.span);
        failure.path = Some("$.response".into());
        failure.actual = Some(bounded(response));
        Some(failure)
    }

    fn file(&self, path: &str, span: Span, expected: &Expected, found: &mut Vec<Failure>) {
        let shown = format!("$.files[{}]", Json::from(path));
        match read_below(self.tmp, path) {
            Ok(actual) => self.mismatches(expected.check(actual.as_ref(), &shown), found),
            Err(why) => {
                let mut failure = self.mismatch(format!("`{path}` cannot be judged: {why}"), span);
                failure.path = Some(shown);
                found.push(failure);
            }
        }
    }

    fn mismatches(&self, mismatches: Vec<Mismatch>, found: &mut Vec<Failure>) {
        found.extend(mismatches.into_iter().map(|mismatch| mismatch.into_failure(self.source)));
    }

    /// A mismatch with nothing to compare.
    pub(super) fn mismatch(&self, message: String, span: Span) -> Failure {
        Failure::new(FailureKind::Mismatch, message, self.at(span))
    }

    pub(super) fn at(&self, span: Span) -> At {
        At::new(self.source, span)
    }
}

/// Whether the envelope of the answer is looked at, and not only its body.
pub(super) fn needs_envelope(checks: &[Check]) -> bool {
    checks.iter().any(|check| matches!(check.rule, Rule::Envelope { .. } | Rule::At { .. } | Rule::Silence))
}

/// Whether no answer may come: the request is taken back, and nothing is expected of one.
pub(super) fn must_stay_silent(step: &Step, checks: &[Check]) -> bool {
    let looks = |field: Field| matches!(field, Field::Text | Field::Structured | Field::Content);
    step.cancel_after.is_some() && !checks.iter().any(|check| speaks_of_success(check.field) || looks(check.field))
}

/// Whether an expectation says how the answer must have turned out.
fn speaks_of_success(field: Field) -> bool {
    matches!(
        field,
        Field::Response
            | Field::Result
            | Field::Error
            | Field::IsError
            | Field::NoResponse
            | Field::ExitCode
            | Field::Http
    )
}

fn root(field: Field) -> &'static str {
    match field {
        Field::Response => "$.response",
        Field::Result => "$.result",
        Field::Error => "$.error",
        Field::IsError => "$.isError",
        Field::Text => "$.text",
        Field::Structured => "$.structured",
        Field::Content => "$.content",
        Field::Notifications => "$.notifications",
        Field::Progress => "$.progress",
        Field::Task => "$.task",
        Field::Requests => "$.requests",
        Field::Stderr => "$.stderr",
        Field::Stdout => "$.stdout",
        Field::Duration | Field::Performance => "$.duration",
        Field::ExitCode => "$.exitCode",
        Field::NoResponse => "$.response",
        Field::Files => "$.files",
        Field::Http => "$.http",
        Field::Checks => "$",
    }
}

/// The fault of an answer that cannot be read.
pub(super) fn malformed(why: &str) -> Fault {
    Fault::new(Code::MalformedResponse, format!("the answer cannot be read: {why}"))
}
