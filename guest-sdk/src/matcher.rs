//! The role of a matcher: it judges values.

use crate::failure::Failure;
use crate::verdict::Verdict;
use serde_json::Value;

/// A matcher. The type is the prepared argument: what is worth making once (a compiled pattern, a parsed date) is made
/// in [`prepare`](Matcher::prepare) and used by every [`evaluate`](Matcher::evaluate).
///
/// Export it with [`export_matcher!`](crate::export_matcher).
pub trait Matcher: Sized + 'static {
    /// The name that suites use: `near` is called as `$near: …` and as `match:near:…`.
    const NAME: &'static str;

    /// One sentence for people.
    const SUMMARY: &'static str = "";

    /// A JSON Schema for the argument, as JSON text, for editors and documentation.
    const ARGUMENT_SCHEMA: Option<&'static str> = None;

    /// The capabilities that it needs, by kind: `fs.read`, `env:NAME`. The user grants them, or the run is stopped.
    const CAPABILITIES: &'static [&'static str] = &[];

    /// Reads the argument as the suite has it. Called once for every distinct argument, first while the run is planned:
    /// a [`Failure::InvalidArgument`] becomes an error at the argument's line.
    fn prepare(expected: &Value) -> Result<Self, Failure>;

    /// Judges one value.
    fn evaluate(&self, actual: &Value, request: &Request<'_>) -> Verdict;
}

/// What a value is judged for. For messages; the value and the argument decide the verdict.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Where the value stands in the step's outcome, as a JSONPath: `$.result.content[0].text`.
    pub path: &'a str,
    /// The step being judged, by its stable id.
    pub step: &'a str,
}
