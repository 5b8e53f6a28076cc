//! One thing that was wrong with a step or test, and the place in the suite that it came from.

use super::diff::Diff;
use crate::source::{Json, Position, Source, Span};
use serde::Serialize;
use std::sync::Arc;

/// One thing that was wrong; the same object in events, the `json` report and the coprocess.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// A mismatch or a fault.
    pub kind: FailureKind,
    /// In one sentence.
    pub message: String,
    /// The matcher that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// The JSON path in the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Json>,
    /// What came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Json>,
    /// The failure code of a fault: `timeout`, `crashed`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The server or extension at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The step, when the test has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What a known rule says about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// What changed over the whole check; the failures after this one whose path lies below `diff.path` are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Diff>,
    /// The suite line it came from.
    pub at: At,
}

impl Failure {
    /// A failure with nothing but a message and a place.
    pub fn new(kind: FailureKind, message: String, at: At) -> Failure {
        Failure {
            kind,
            message,
            matcher: None,
            path: None,
            expected: None,
            actual: None,
            code: None,
            source: None,
            step: None,
            hints: Vec::new(),
            diff: None,
            at,
        }
    }
}

/// Mismatch or fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// A check did not hold.
    Mismatch,
    /// Nothing could be judged.
    Fault,
}

/// A place in a suite, with the line's text, so that a reader needs no file.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct At {
    /// The suite file.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// How many characters the caret covers.
    pub width: u32,
    /// The text of the line; of a very long one, what is around the column.
    pub text: String,
    /// How many characters of the line stand before `text`.
    #[serde(skip_serializing_if = "is_whole")]
    pub cut: u32,
}

impl At {
    /// Characters of a line that are kept before the column, and from it on: more than any screen shows.
    const KEPT: (usize, usize) = (400, 1600);

    /// The first line of a span.
    pub fn new(source: &Source, span: Span) -> At {
        let Position { line, column } = source.position(span.start);
        let (before, after) = At::KEPT;
        let cut = (column as usize - 1).saturating_sub(before);
        let text: String = source.line(line).chars().skip(cut).take(before + after).collect();
        let room = (text.chars().count() + cut + 1).saturating_sub(column as usize).max(1);
        let covered = source.slice(span).lines().next().unwrap_or_default().trim_end();
        let width = covered.chars().take(room).count().max(1);
        At { file: source.name.clone(), line, column, width: width as u32, text, cut: cut as u32 }
    }
}

fn is_whole(cut: &u32) -> bool {
    *cut == 0
}
