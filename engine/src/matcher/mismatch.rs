//! One way in which a value is not what was expected.

use super::path::{Path, Segment};
use super::shown;
use crate::event::diff::Diff;
use crate::event::{At, Failure, FailureKind};
use crate::source::{Json, Source, Span};

/// One way in which a value is not what was expected.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The matcher that says so; `None` for plain equality.
    pub matcher: Option<String>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The JSON path in the outcome; of something missing, where it was expected.
    pub path: String,
    /// What was expected; `None` where nothing was (an extra key).
    pub expected: Option<Json>,
    /// What came; `None` where nothing did (a missing key).
    pub actual: Option<Json>,
    /// The suite text that expected it.
    pub span: Span,
    /// What a known rule says about it.
    pub hints: Vec<String>,
    /// How bad it is.
    pub rank: Rank,
    /// The failure code and the extension, when nothing could be judged.
    pub fault: Option<(&'static str, String)>,
    /// What changed over the whole check, on its first mismatch, where that says more than expected and actual.
    pub diff: Option<Diff>,
    pub(super) trail: Vec<Segment>,
}

/// How bad a mismatch is; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// It is another kind of value altogether, or a matcher cannot apply to it.
    Kind,
    /// Something is missing.
    Missing,
    /// Another value.
    Different,
    /// Something is there that was not expected.
    Extra,
}

impl Mismatch {
    /// A mismatch with nothing but its place and its sentence.
    pub fn new(rank: Rank, path: &Path<'_>, span: Span, message: impl Into<String>) -> Mismatch {
        Mismatch {
            matcher: None,
            message: message.into(),
            path: path.to_string(),
            expected: None,
            actual: None,
            span,
            hints: Vec::new(),
            rank,
            fault: None,
            diff: None,
            trail: path.segments(),
        }
    }

    /// Names the matcher.
    pub fn by(mut self, matcher: impl Into<String>) -> Mismatch {
        self.matcher = Some(matcher.into());
        self
    }

    /// Says what was expected; large values are cut.
    pub fn expected(mut self, value: &Json) -> Mismatch {
        self.expected = Some(shown::bounded(value));
        self
    }

    /// Says what came; large values are cut.
    pub fn actual(mut self, value: Option<&Json>) -> Mismatch {
        self.actual = value.map(shown::bounded);
        self
    }

    /// Adds what known rules say.
    pub fn hints(mut self, hints: impl IntoIterator<Item = String>) -> Mismatch {
        self.hints.extend(hints);
        self
    }

    /// The failure that events and reports carry.
    pub fn into_failure(self, source: &Source) -> Failure {
        let (kind, code, fault_of) = match self.fault {
            Some((code, extension)) => (FailureKind::Fault, Some(code), Some(extension)),
            None => (FailureKind::Mismatch, None, None),
        };
        Failure {
            kind,
            message: self.message,
            matcher: self.matcher,
            path: Some(self.path),
            expected: self.expected,
            actual: self.actual,
            code,
            source: fault_of,
            step: None,
            hints: self.hints,
            diff: self.diff,
            at: At::new(source, self.span),
        }
    }
}
