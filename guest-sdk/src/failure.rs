//! Why an extension could not answer.

use std::fmt;

/// Why an extension could not answer: a fault, never a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The extension offers no matcher of this name.
    UnknownMatcher(String),
    /// The matcher cannot work with its argument, for this reason. Found while the run is planned, it is shown at the
    /// argument's line in the suite.
    InvalidArgument(String),
    /// Anything else, with the reason.
    Internal(String),
}

impl Failure {
    /// The argument is of no use: a lowercase fragment with literals in backticks, ``expected a number, got `true` ``.
    pub fn invalid(reason: impl fmt::Display) -> Failure {
        Failure::InvalidArgument(reason.to_string())
    }

    /// Something else went wrong.
    pub fn internal(reason: impl fmt::Display) -> Failure {
        Failure::Internal(reason.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::UnknownMatcher(name) => write!(f, "no matcher named `{name}`"),
            Failure::InvalidArgument(reason) | Failure::Internal(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Failure {}
