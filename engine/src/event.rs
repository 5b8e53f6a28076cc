//! Everything that happens, as owned, serialisable, numbered events.
//!
//! ```json
//! {"seq":7,"at":"2026-01-01T12:00:00.123Z","type":"step-finished","data":{"step":"a.test.mcp.yml#tools/echoes/1","status":"passed","durationMs":0.4,"failures":[]}}
//! ```
//!
//! Workers [`post`](Outbox::post) events; the [`collector`] orders, redacts and numbers them, and folds the summary.

pub mod collector;
pub mod diff;
mod failure;
mod outbox;
pub mod redact;

pub use failure::{At, Failure, FailureKind};
pub use outbox::{Outbox, Posted, What};

use crate::source::Json;
use crate::suite::Lane;
use serde::{Serialize, Serializer};
use std::sync::Arc;
use std::time::SystemTime;

/// One numbered event, as reporters see it.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    /// Position in the stream, from 1.
    pub seq: u64,
    /// When it happened.
    #[serde(serialize_with = "rfc3339")]
    pub at: SystemTime,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// What happened.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", content = "data", rename_all = "kebab-case")]
pub enum Body {
    /// The plan stands and the run begins.
    RunStarted(RunStarted),
    /// A server is started and initialised.
    SessionOpened(SessionOpened),
    /// A test begins.
    TestStarted {
        /// Which.
        test: Arc<Test>,
    },
    /// A step begins.
    StepStarted {
        /// Which.
        step: StepId,
    },
    /// A line that crossed the pipe.
    Frame(Frame),
    /// A test is tried again.
    Attempt(Attempt),
    /// A line of talk: the server's stderr, or the engine's own notes.
    Log(Log),
    /// A step ended.
    StepFinished(StepFinished),
    /// A test ended.
    TestFinished(TestFinished),
    /// A session ended, and the server's process where there was one.
    SessionClosed(SessionClosed),
    /// The last event.
    RunFinished(RunFinished),
}

/// See [`Body::RunStarted`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStarted {
    /// The engine's version.
    pub version: &'static str,
    /// Suite files with at least one selected test.
    pub files: usize,
    /// Selected tests.
    pub tests: usize,
    /// Workers.
    pub jobs: usize,
    /// The seed of `--shuffle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The extensions that were loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<ExtensionUsed>,
}

/// An extension that takes part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionUsed {
    /// How failures name it.
    pub id: Arc<str>,
    /// What it calls its version.
    pub version: String,
    /// Its file.
    pub file: String,
    /// `matcher`, `reporter`, `transform`.
    pub roles: Vec<&'static str>,
    /// The matchers it offers, with their `$`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matchers: Vec<String>,
    /// The built-in matchers that it replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<String>,
    /// What it may do beyond computing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
}

/// See [`Body::SessionOpened`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionOpened {
    /// `name#n`, unique in the run.
    pub session: Arc<str>,
    /// The server's name in the config.
    pub server: Arc<str>,
    /// What it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Json>,
    /// `legacy` or `modern`; none without a handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<&'static str>,
    /// The negotiated revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// From spawn to ready.
    #[serde(serialize_with = "rounded")]
    pub duration_ms: f64,
}

/// A test, as every event and report names it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Test {
    /// `file#lane/name[row]`, unique in the run.
    pub id: String,
    /// The suite file.
    pub file: Arc<str>,
    /// The suite's description.
    pub suite: Arc<str>,
    /// The server's name.
    pub server: Arc<str>,
    /// The lane.
    pub lane: Lane,
    /// `it`, with its row's values filled in.
    pub name: String,
    /// The line of the test in the file.
    pub line: u32,
}

/// A step, by its test and its number from 1; serialises as `test-id/n`.
#[derive(Debug, Clone)]
pub struct StepId {
    /// Its test.
    pub test: Arc<Test>,
    /// From 1.
    pub number: u32,
}

/// See [`Body::Frame`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// The session it crossed.
    pub session: Arc<str>,
    /// The step whose window it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// Which way.
    pub direction: Direction,
    /// The line, without its end; long ones are cut in the middle.
    pub text: String,
    /// How many bytes were cut out.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: usize,
}

/// Which way a frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the server.
    Sent,
    /// From the server.
    Received,
    /// From the server, and no message: noise on stdout.
    Noise,
    /// What happened over HTTP: a request and its status, an attempt, a stream that is resumed.
    Http,
}

/// See [`Body::Attempt`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The test.
    pub test: Arc<Test>,
    /// The number of the attempt that begins, from 2.
    pub attempt: u32,
    /// How many there are at most.
    pub of: u32,
    /// Why the one before did not do.
    pub reason: String,
}

/// See [`Body::Log`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    /// Where it comes from.
    pub from: LogFrom,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Arc<str>>,
    /// The step whose window it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// One or more lines.
    pub text: String,
}

/// Who talks in a [`Log`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFrom {
    /// The server's stderr.
    Stderr,
    /// The engine: something worth knowing that is no failure.
    Engine,
    /// An extension.
    Extension,
}

/// How a step or test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

/// See [`Body::StepFinished`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFinished {
    /// Which.
    pub step: StepId,
    /// How.
    pub status: Status,
    /// How long.
    #[serde(serialize_with = "rounded")]
    pub duration_ms: f64,
    /// What was wrong.
    pub failures: Vec<Failure>,
}

/// See [`Body::TestFinished`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestFinished {
    /// Which.
    pub test: Arc<Test>,
    /// How.
    pub status: Status,
    /// How long.
    #[serde(serialize_with = "rounded")]
    pub duration_ms: f64,
    /// What was wrong, over all its steps.
    pub failures: Vec<Failure>,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many attempts it took, when more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// See [`Body::SessionClosed`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionClosed {
    /// Which.
    pub session: Arc<str>,
    /// The server's name.
    pub server: Arc<str>,
    /// How the process ended: `exit code 0`, `signal 9 (SIGKILL)`.
    pub exit: String,
    /// What it took: `eof`, `term`, `kill`, or `itself`; without a process `delete` or `closed`.
    pub by: &'static str,
    /// From the first word of the shutdown to the exit.
    #[serde(serialize_with = "rounded")]
    pub duration_ms: f64,
}

/// See [`Body::RunFinished`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFinished {
    /// The sums.
    pub summary: Summary,
    /// The exit code of the process.
    pub exit_code: u8,
    /// Whether the run was interrupted.
    pub interrupted: bool,
}

/// The sums of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All tests.
    pub total: usize,
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Faulted.
    pub faulted: usize,
    /// Skipped.
    pub skipped: usize,
    /// The whole run.
    #[serde(serialize_with = "rounded")]
    pub duration_ms: f64,
}

impl Serialize for StepId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/{}", self.test.id, self.number))
    }
}

fn rfc3339<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let stamp = jiff::Timestamp::try_from(*at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    serializer.collect_str(&format_args!("{stamp:.3}"))
}

/// Milliseconds to the microsecond: more digits would only be noise in a report.
pub(crate) fn rounded<S: Serializer>(ms: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((ms * 1000.0).round() / 1000.0)
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
