//! The file of cases: what it may say, and the list of what doesn't hold.

use crate::reporter::Output;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write;

/// A file of cases. Exactly one of the first three keys names the role.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File<Case> {
    pub(super) matcher: Option<String>,
    pub(super) reporter: Option<String>,
    pub(super) transform: Option<String>,
    pub(super) cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchCase {
    pub(super) name: String,
    pub(super) expected: Value,
    #[serde(default, deserialize_with = "present")]
    pub(super) actual: Option<Value>,
    pub(super) verdict: Judged,
    pub(super) message: Option<String>,
    pub(super) path: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Judged {
    Pass,
    Fail,
    Invalid,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportCase {
    pub(super) name: String,
    pub(super) events: Vec<Value>,
    pub(super) outputs: Vec<Written>,
}

/// What a reporter should have written, line by line: each line is ended with a newline.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[serde(default)]
    name: Option<String>,
    lines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransformCase {
    pub(super) name: String,
    pub(super) suite: Value,
    pub(super) result: Option<Value>,
    pub(super) failure: Option<String>,
}

impl Written {
    pub(super) fn output(&self) -> Output {
        let text = self.lines.iter().fold(String::new(), |text, line| text + line + "\n");
        Output { name: self.name.clone(), text }
    }
}

/// Keeps a written `null` apart from nothing.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[track_caller]
pub(super) fn read<Case: DeserializeOwned>(path: &str) -> File<Case> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read `{path}`: {error}"));
    let file: File<Case> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("`{path}`: {error}"));
    assert!(!file.cases.is_empty(), "`{path}` has no cases");
    let roles = [&file.matcher, &file.reporter, &file.transform];
    assert_eq!(roles.iter().filter(|role| role.is_some()).count(), 1, "`{path}` names one role");
    file
}

/// Tries every case, and panics with all that don't hold.
#[track_caller]
pub(super) fn report<'a, Case>(
    path: &str,
    cases: &'a [Case],
    attempt: impl Fn(&'a Case) -> (&'a String, Result<(), String>),
) {
    let mut problems = String::new();
    for (name, outcome) in cases.iter().map(attempt) {
        if let Err(problem) = outcome {
            let _ = writeln!(problems, "{name}: {problem}");
        }
    }
    assert!(problems.is_empty(), "`{path}`:\n{problems}");
}
