//! A file of cases, the same that the guest SDK's test kit runs natively.
//!
//! ```json
//! { "matcher": "even", "cases": [
//!   { "name": "an odd number", "expected": true, "actual": 3, "verdict": "fail", "message": "wrong parity" } ] }
//! ```

use crate::extension::{Argument, Code, Extension, Output, Request, Verdict};
use serde::Deserialize;
use serde_json::Value;

/// A file of cases; its first key names the role.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) matcher: Option<String>,
    pub(super) reporter: Option<String>,
    pub(super) transform: Option<String>,
    pub(super) cases: Vec<Case>,
}

/// One case of any role: which fields it has says which.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    #[serde(default, deserialize_with = "present")]
    pub(super) expected: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    actual: Option<Value>,
    verdict: Option<Judged>,
    message: Option<String>,
    path: Option<String>,
    events: Option<Vec<Value>>,
    outputs: Option<Vec<Written>>,
    #[serde(default, deserialize_with = "present")]
    suite: Option<Value>,
    result: Option<Value>,
    failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Judged {
    Pass,
    Fail,
    Invalid,
}

/// What a reporter should have written, line by line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    name: Option<String>,
    lines: Vec<String>,
}

/// Keeps a written `null` apart from nothing.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl File {
    /// Reads the text of a file; says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<File, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let roles = [&file.matcher, &file.reporter, &file.transform].into_iter().flatten().count();
        match (roles, file.cases.is_empty()) {
            (1, false) => Ok(file),
            (1, true) => Err("it has no cases".to_owned()),
            _ => Err("it must name one of `matcher`, `reporter` and `transform`".to_owned()),
        }
    }

    /// Runs one case; the error says why it does not hold.
    pub(super) fn run(&self, case: &Case, extension: &dyn Extension) -> Result<(), String> {
        match (&self.matcher, &self.reporter) {
            (Some(matcher), _) => matched(matcher, case, extension),
            (None, Some(_)) => reported(case, extension),
            (None, None) => transformed(case, extension),
        }
    }
}

fn matched(matcher: &str, case: &Case, extension: &dyn Extension) -> Result<(), String> {
    let expected = case.expected.as_ref().ok_or("the case has no `expected`")?.to_string();
    let wanted = case.verdict.ok_or("the case has no `verdict`")?;
    let message = case.message.as_deref();
    if let Argument::Invalid(why) = extension.check(matcher, &expected).map_err(told)? {
        return match wanted {
            Judged::Invalid => part_of(&why, message),
            _ => Err(format!("the argument is refused: {why}")),
        };
    }
    let actual = match &case.actual {
        Some(actual) => actual.to_string(),
        None if extension.judges_late() => "null".to_owned(),
        None => return Err("the argument is taken, and there is no `actual`".to_owned()),
    };
    let request = Request { matcher, expected: &expected, actual: &actual, path: "$", step: "cases" };
    let judged = match (wanted, extension.evaluate(&request)) {
        // A plugin looks at its argument when it is called.
        (Judged::Invalid, Err(fault)) if fault.code == Code::ExtensionError && extension.judges_late() => {
            return part_of(&fault.message, message);
        }
        (_, judged) => judged.map_err(told)?,
    };
    match (wanted, judged) {
        (Judged::Pass, Verdict::Pass) => Ok(()),
        (Judged::Fail, Verdict::Fail(difference)) => {
            part_of(&difference.message, message)?;
            match &case.path {
                Some(path) if difference.path.as_ref() != Some(path) => {
                    Err(format!("expected the path `{path}`, got {:?}", difference.path))
                }
                _ => Ok(()),
            }
        }
        (_, Verdict::Pass) => Err("it passes".to_owned()),
        (_, Verdict::Fail(difference)) => Err(format!("it fails: {}", difference.message)),
    }
}

fn reported(case: &Case, extension: &dyn Extension) -> Result<(), String> {
    let mut outputs: Vec<Output> = Vec::new();
    let mut add = |more: Vec<Output>| {
        for output in more {
            match outputs.iter_mut().find(|earlier| earlier.name == output.name) {
                Some(earlier) => earlier.text.push_str(&output.text),
                None => outputs.push(output),
            }
        }
    };
    for event in case.events.as_ref().ok_or("the case has no `events`")? {
        add(extension.observe(&event.to_string()).map_err(told)?);
    }
    add(extension.finish().map_err(told)?);
    let lines = |written: &Written| written.lines.iter().fold(String::new(), |text, line| text + line + "\n");
    let wanted = case.outputs.iter().flatten();
    let wanted: Vec<Output> = wanted.map(|one| Output { name: one.name.clone(), text: lines(one) }).collect();
    if outputs == wanted { Ok(()) } else { Err(format!("expected {wanted:#?}\ngot {outputs:#?}")) }
}

fn transformed(case: &Case, extension: &dyn Extension) -> Result<(), String> {
    let suite = case.suite.as_ref().ok_or("the case has no `suite`")?.to_string();
    // The order of keys counts, as it is the order of tests; how the text is laid out does not.
    let compact = |text: &str| text.parse::<Value>().map(|suite| suite.to_string()).ok();
    match (extension.transform(&suite), &case.result, &case.failure) {
        (Ok(text), Some(wanted), None) if compact(&text) == Some(wanted.to_string()) => Ok(()),
        (Ok(text), _, _) => Err(format!("got the suite {text}")),
        (Err(fault), None, Some(part)) => part_of(&fault.message, Some(part)),
        (Err(fault), _, _) => Err(told(fault)),
    }
}

/// A fault on one line, with its code and the next actions.
pub(super) fn told(fault: crate::extension::Fault) -> String {
    let hints: String = fault.all_hints().iter().map(|hint| format!("; {hint}")).collect();
    format!("{} ({}){hints}", fault.message, fault.code.name())
}

fn part_of(whole: &str, part: Option<&str>) -> Result<(), String> {
    match part {
        Some(part) if !whole.contains(part) => Err(format!("expected a message with `{part}`, got `{whole}`")),
        _ => Ok(()),
    }
}
