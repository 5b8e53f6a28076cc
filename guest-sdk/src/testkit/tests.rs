use super::*;
use crate::{Event, Request, decode, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

struct Starts(String);

impl Matcher for Starts {
    const NAME: &'static str = "starts";

    fn prepare(expected: &Value) -> Result<Starts, Failure> {
        decode(expected).map(Starts)
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        match actual.as_str() {
            // Looking at the bytes before the length is the mistake that the nasty values are for.
            Some(text) if self.0 == "careless" && text.as_bytes()[0] == b'c' => Verdict::pass(),
            Some(text) if text.starts_with(&self.0) => Verdict::pass(),
            _ => Verdict::fail("another start").path("$"),
        }
    }
}

#[derive(Default)]
struct Names;

impl Reporter for Names {
    fn observe(&mut self, event: &Event) -> Result<Vec<Output>, Failure> {
        Ok(vec![Output::main(format!("{}\n", event.kind))])
    }

    fn finish(&mut self) -> Result<Vec<Output>, Failure> {
        Ok(vec![Output::file("end.txt", "end\n")])
    }
}

struct Describes;

impl Transform for Describes {
    fn transform(mut suite: Value) -> Result<Value, Failure> {
        let fields = suite.as_object_mut().ok_or_else(|| Failure::internal("no suite"))?;
        fields.insert("description".into(), json!("described"));
        Ok(suite)
    }
}

/// Writes the cases to a file, runs them, and gives back the message of the panic, if there was one.
fn outcome(run: fn(&str), cases: &Value) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cases.json");
    std::fs::write(&path, cases.to_string()).expect("writable");
    let path = path.to_str().expect("UTF-8").to_owned();
    catch_unwind(AssertUnwindSafe(|| run(&path))).map_err(|panic| match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(_) => "no message".into(),
    })
}

#[test]
fn cases_that_hold_pass() {
    let cases = json!({ "matcher": "starts", "cases": [
        { "name": "pass", "expected": "a", "actual": "ab", "verdict": "pass" },
        { "name": "fail", "expected": "a", "actual": null, "verdict": "fail", "message": "another", "path": "$" },
        { "name": "invalid", "expected": 1, "verdict": "invalid", "message": "expected a string" } ] });
    assert_eq!(outcome(run::<Starts>, &cases), Ok(()));
}

#[test]
fn every_case_that_does_not_hold_is_named() {
    let cases = json!({ "matcher": "starts", "cases": [
        { "name": "one", "expected": "a", "actual": "b", "verdict": "pass" },
        { "name": "two", "expected": "a", "actual": "b", "verdict": "fail", "message": "the same" },
        { "name": "three", "expected": "a", "actual": "b", "verdict": "fail", "path": "$.x" },
        { "name": "four", "expected": "a", "actual": "b", "verdict": "invalid" },
        { "name": "five", "expected": "a", "verdict": "pass" },
        { "name": "good", "expected": "a", "actual": "a", "verdict": "pass" } ] });
    let message = outcome(run::<Starts>, &cases).expect_err("five cases do not hold");
    for name in ["one: ", "two: ", "three: ", "four: ", "five: "] {
        assert!(message.contains(name), "{message}");
    }
    assert!(!message.contains("good: "), "{message}");
}

#[test]
fn a_file_that_says_nothing_is_no_success() {
    for cases in [
        json!({ "matcher": "starts", "cases": [] }),
        json!({ "matcher": "ends", "cases": [{ "name": "a", "expected": "", "actual": "", "verdict": "pass" }] }),
        json!({ "cases": [{ "name": "a", "expected": "", "actual": "", "verdict": "pass" }] }),
        json!({ "matcher": "starts", "cases": [{ "name": "a", "expect": "", "actual": "", "verdict": "pass" }] }),
    ] {
        assert!(outcome(run::<Starts>, &cases).is_err(), "{cases}");
    }
}

#[test]
fn nasty_values_find_a_careless_matcher() {
    let cases = json!({ "matcher": "starts", "cases": [
        { "name": "fine so far", "expected": "careless", "actual": "c", "verdict": "pass" } ] });
    assert!(outcome(run::<Starts>, &cases).is_err());
}

#[test]
fn reporters_and_transforms_have_cases_too() {
    let event = |kind: &str| json!({ "seq": 1, "at": "2026-01-01T00:00:00Z", "type": kind, "data": {} });
    let outputs = json!([{ "lines": ["a", "b"] }, { "name": "end.txt", "lines": ["end"] }]);
    let case = json!({ "name": "two", "events": [event("a"), event("b")], "outputs": outputs });
    assert_eq!(outcome(run_reporter::<Names>, &json!({ "reporter": "names", "cases": [case] })), Ok(()));
    let case = json!({ "name": "none", "events": [event("a")], "outputs": [] });
    assert!(outcome(run_reporter::<Names>, &json!({ "reporter": "names", "cases": [case] })).is_err());

    let good = json!({ "transform": "describes", "cases": [
        { "name": "adds", "suite": { "tests": [] }, "result": { "tests": [], "description": "described" } },
        { "name": "refuses", "suite": [], "failure": "no suite" } ] });
    assert_eq!(outcome(run_transform::<Describes>, &good), Ok(()));
    let order = json!({ "transform": "describes", "cases": [
        { "name": "order", "suite": { "tests": [] }, "result": { "description": "described", "tests": [] } } ] });
    assert!(outcome(run_transform::<Describes>, &order).is_err());
}
