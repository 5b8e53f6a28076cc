//! What `mcp.suite.plan` and `mcp.suite.run` say: the tests of a suite file, and how one of them went.
//!
//! ```json
//! {"tests":[{"id":"demo.test.mcp.yml#tools/adds","lane":"tools","name":"adds","line":4}]}
//! ```

use serde::Deserialize;
use serde_json::Value;

/// The answer of `mcp.suite.plan`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub(crate) tests: Vec<Planned>,
}

/// A test of a suite file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    /// What [`Session::run_test`](crate::Session::run_test) takes.
    pub id: String,
    /// Its lane: `tools`, `resources`, …
    pub lane: String,
    /// Its `it`.
    pub name: String,
    /// Where it stands in the file, from 1.
    pub line: u32,
    /// Why it will not run.
    #[serde(default)]
    pub skip: Option<String>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every check held.
    Passed,
    /// A check did not hold.
    Failed,
    /// The server or an extension misbehaved, so nothing could be judged.
    Faulted,
    /// It was not run.
    Skipped,
}

/// How a test went: the object of the `json` report, which may gain fields.
#[derive(Debug, Clone, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// What was wrong, as `mcptest run` prints it.
    #[serde(default)]
    pub text: Option<String>,
    /// What was wrong, as in the `json` report.
    pub failures: Vec<Value>,
    /// Why it was skipped.
    #[serde(default)]
    pub reason: Option<String>,
}
