//! Runs a file of cases natively. `mcptest extension check` runs the same file inside the engine.
//!
//! ```json
//! { "matcher": "even", "cases": [
//!   { "name": "an even number", "expected": true, "actual": 4, "verdict": "pass" },
//!   { "name": "an odd number", "expected": true, "actual": 3, "verdict": "fail", "message": "wrong parity" },
//!   { "name": "no boolean", "expected": 7, "verdict": "invalid" } ] }
//! ```
//!
//! The first key names the role. The cases of a reporter give `events` and the `outputs` that they lead to; those of a
//! transform give a `suite` and its `result`, or the `failure`. A `message` or `failure` is a part of the whole text.
//!
//! ```no_run
//! # use mcptest_guest::{Failure, Matcher, Request, Value, Verdict};
//! # struct Even;
//! # impl Matcher for Even {
//! #     const NAME: &'static str = "even";
//! #     fn prepare(_: &Value) -> Result<Even, Failure> { Ok(Even) }
//! #     fn evaluate(&self, _: &Value, _: &Request<'_>) -> Verdict { Verdict::pass() }
//! # }
//! #[test]
//! fn cases() {
//!     mcptest_guest::testkit::run::<Even>("cases.json");
//! }
//! ```

mod file;
mod nasty;

use crate::failure::Failure;
use crate::matcher::Matcher;
use crate::matchers::{Call, Matchers};
use crate::reporter::{self, Output, Reporter};
use crate::transform::{self, Transform};
use crate::verdict::Verdict;
use file::{File, Judged, MatchCase, ReportCase, TransformCase};
use serde_json::Value;

/// Runs the cases of a matcher, then gives it nasty arguments and values: it must neither panic nor change its mind.
///
/// # Panics
/// When the file cannot be read, or a case doesn't hold; the message lists all that don't.
#[track_caller]
pub fn run<T: Matcher>(cases: &str) {
    let file: File<MatchCase> = file::read(cases);
    assert_eq!(file.matcher.as_deref(), Some(T::NAME), "`{cases}` holds the cases of another matcher");
    let matchers = Matchers::of::<T>();
    file::report(cases, &file.cases, |case| (&case.name, matched(&matchers, T::NAME, case)));
    nasty::run(&matchers, T::NAME, file.cases.iter().map(|case| &case.expected));
}

/// Runs the cases of a reporter, each with a fresh one.
///
/// # Panics
/// When the file cannot be read, or a case doesn't hold; the message lists all that don't.
#[track_caller]
pub fn run_reporter<T: Reporter>(cases: &str) {
    let file: File<ReportCase> = file::read(cases);
    assert!(file.reporter.is_some(), "`{cases}` holds no cases of a reporter");
    file::report(cases, &file.cases, |case| (&case.name, reported::<T>(case)));
}

/// Runs the cases of a transform.
///
/// # Panics
/// When the file cannot be read, or a case doesn't hold; the message lists all that don't.
#[track_caller]
pub fn run_transform<T: Transform>(cases: &str) {
    let file: File<TransformCase> = file::read(cases);
    assert!(file.transform.is_some(), "`{cases}` holds no cases of a transform");
    file::report(cases, &file.cases, |case| (&case.name, transformed::<T>(case)));
}

fn matched(matchers: &Matchers, name: &str, case: &MatchCase) -> Result<(), String> {
    let expected = case.expected.to_string();
    let checked = matchers.check(name, &expected);
    let answer = match (&checked, &case.actual) {
        (Ok(()), Some(actual)) => {
            let actual = actual.to_string();
            matchers.evaluate(&Call { matcher: name, expected: &expected, actual: &actual, path: "$", step: "cases" })
        }
        (Ok(()), None) => Ok(Verdict::Pass),
        (Err(failure), _) => Err(failure.clone()),
    };
    match (&case.verdict, answer) {
        (Judged::Pass, Ok(Verdict::Pass)) if case.actual.is_some() => Ok(()),
        (Judged::Fail, Ok(Verdict::Fail(mismatch))) => {
            part_of(&mismatch.message, case.message.as_deref())?;
            match &case.path {
                Some(path) if mismatch.path.as_ref() != Some(path) => {
                    Err(format!("expected the path `{path}`, got {:?}", mismatch.path))
                }
                _ => Ok(()),
            }
        }
        (Judged::Invalid, Err(Failure::InvalidArgument(reason))) => part_of(&reason, case.message.as_deref()),
        (wanted, answer) => Err(format!("expected {wanted:?}, got {answer:?}")),
    }
}

fn reported<T: Reporter>(case: &ReportCase) -> Result<(), String> {
    let mut reporter = T::default();
    let mut outputs: Vec<Output> = Vec::new();
    let events = case.events.iter().map(Value::to_string);
    let observed = events.map(|event| reporter::observe(&mut reporter, &event)).collect::<Vec<_>>();
    for more in observed.into_iter().chain([reporter.finish()]) {
        for output in more.map_err(|failure| failure.to_string())? {
            match outputs.iter_mut().find(|earlier| earlier.name == output.name) {
                Some(earlier) => earlier.text.push_str(&output.text),
                None => outputs.push(output),
            }
        }
    }
    let wanted: Vec<Output> = case.outputs.iter().map(file::Written::output).collect();
    if outputs == wanted { Ok(()) } else { Err(format!("expected {wanted:#?}\ngot {outputs:#?}")) }
}

fn transformed<T: Transform>(case: &TransformCase) -> Result<(), String> {
    let wanted = case.result.as_ref().map(Value::to_string);
    match (transform::transform::<T>(&case.suite.to_string()), &wanted, &case.failure) {
        (Ok(text), Some(wanted), None) if text == *wanted => Ok(()),
        (Err(failure), None, Some(part)) => part_of(&failure.to_string(), Some(part)),
        (Ok(text), _, _) => Err(format!("got the suite {text}")),
        (Err(failure), _, _) => Err(format!("got the failure `{failure}`")),
    }
}

fn part_of(whole: &str, part: Option<&str>) -> Result<(), String> {
    match part {
        Some(part) if !whole.contains(part) => Err(format!("expected a message with `{part}`, got `{whole}`")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
