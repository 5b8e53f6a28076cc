//! The answer of a matcher: the value matches, or why it doesn't.

use serde_json::Value;
use std::fmt;

/// What a matcher found.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Verdict {
    /// The value matches.
    Pass,
    /// It doesn't, and this is why.
    Fail(Mismatch),
}

/// Why a value doesn't match. Small, as it is the error of results that a matcher returns early from.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Mismatch {
    /// A lowercase fragment with literals in backticks: ``expected a number within `0.5` of `3` ``.
    pub message: String,
    /// Where inside the judged value, as a JSONPath from it: `$.items[2]`. None: the value as a whole.
    pub path: Option<String>,
    /// What should have been there. None: the matcher's argument.
    pub expected: Option<Box<Value>>,
    /// What was there. None: the judged value.
    pub actual: Option<Box<Value>>,
}

impl Mismatch {
    /// A mismatch of the value as a whole.
    pub fn new(message: impl fmt::Display) -> Mismatch {
        Mismatch { message: message.to_string(), path: None, expected: None, actual: None }
    }

    /// Says where inside the judged value: `$.items[2]`.
    pub fn path(self, path: impl Into<String>) -> Mismatch {
        Mismatch { path: Some(path.into()), ..self }
    }

    /// Says what should have been there.
    pub fn expected(self, expected: impl Into<Value>) -> Mismatch {
        Mismatch { expected: Some(Box::new(expected.into())), ..self }
    }

    /// Says what was there.
    pub fn actual(self, actual: impl Into<Value>) -> Mismatch {
        Mismatch { actual: Some(Box::new(actual.into())), ..self }
    }
}

impl Verdict {
    /// The value matches.
    pub fn pass() -> Verdict {
        Verdict::Pass
    }

    /// The value doesn't match.
    pub fn fail(message: impl fmt::Display) -> Verdict {
        Verdict::Fail(Mismatch::new(message))
    }

    /// Says where inside the judged value a failure is: `$.items[2]`.
    pub fn path(self, path: impl Into<String>) -> Verdict {
        self.with(|mismatch| mismatch.path(path))
    }

    /// Says what should have been there.
    pub fn expected(self, expected: impl Into<Value>) -> Verdict {
        self.with(|mismatch| mismatch.expected(expected))
    }

    /// Says what was there.
    pub fn actual(self, actual: impl Into<Value>) -> Verdict {
        self.with(|mismatch| mismatch.actual(actual))
    }

    fn with(self, change: impl FnOnce(Mismatch) -> Mismatch) -> Verdict {
        match self {
            Verdict::Pass => Verdict::Pass,
            Verdict::Fail(mismatch) => Verdict::Fail(change(mismatch)),
        }
    }
}

/// Lets a matcher leave at the first difference with `?` and hand on the result.
impl From<Result<(), Mismatch>> for Verdict {
    fn from(result: Result<(), Mismatch>) -> Verdict {
        match result {
            Ok(()) => Verdict::Pass,
            Err(mismatch) => Verdict::Fail(mismatch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_belong_to_a_failure_only() {
        assert_eq!(Verdict::pass().path("$.a").expected(1), Verdict::Pass);
        let Verdict::Fail(mismatch) = Verdict::fail("too small").path("$.a").expected(2).actual(1) else {
            panic!("a failure stays one");
        };
        assert_eq!(mismatch.path.as_deref(), Some("$.a"));
        assert_eq!(mismatch.expected.as_deref(), Some(&Value::from(2)));
        assert_eq!(mismatch.actual.as_deref(), Some(&Value::from(1)));
    }
}
