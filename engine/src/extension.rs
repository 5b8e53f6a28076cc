//! Extensions: code that the user brings. One trait, several backends.
//!
//! An extension plays one or more **roles** (matcher, reporter, transform) and runs on one **backend**. The engine sees
//! [`Extension`]; which backend is behind it is looked at in the [`registry`] and nowhere else. Values, suites and
//! events cross every boundary as the same JSON text.
//!
//! Calls are made one at a time on the caller's own thread and come back within their deadline, whatever the extension
//! does: a check is judged between two steps, so there is nothing for the worker to do meanwhile, and a hand-over to
//! another thread would cost more than the call itself.

pub mod capability;
pub mod declared;
pub mod fault;
mod hurry;
pub mod library;
mod limits;
pub mod log;
mod mcp;
pub mod naming;
mod pending;
pub mod plugin;
mod probe;
pub mod process;
pub mod reach;
pub mod registry;
pub mod spec;
#[cfg(feature = "wasm")]
pub mod wasm;
#[cfg(not(feature = "wasm"))]
#[path = "extension/without_wasm.rs"]
pub mod wasm;

pub use capability::Grant;
pub use declared::{Backend, Declared, Isolation, Launch};
pub use fault::{Code, Fault};
pub use limits::Limits;
pub use probe::{Introduced, Probe};
pub use process::PROTOCOL_VERSION;
pub use reach::Reach;
pub use registry::{Live, Registry};

use crate::source::Json;

/// A live extension. A role that the manifest doesn't offer is refused when the plan is made.
pub trait Extension: Send + Sync + std::fmt::Debug {
    /// What it says about itself.
    fn manifest(&self) -> &Manifest;
    /// Whether a matcher can work with an argument (JSON text).
    fn check(&self, matcher: &str, expected: &str) -> Result<Argument, Fault>;
    /// Judges one value.
    fn evaluate(&self, request: &Request<'_>) -> Result<Verdict, Fault>;
    /// Rewrites a suite (JSON text).
    fn transform(&self, suite: &str) -> Result<String, Fault>;
    /// Takes the next event (JSON text) and says what is to be written.
    fn observe(&self, event: &str) -> Result<Vec<Output>, Fault>;
    /// Ends a report.
    fn finish(&self) -> Result<Vec<Output>, Fault>;
    /// Whether arguments are looked at when something is judged, and not before.
    fn judges_late(&self) -> bool {
        false
    }
    /// Starts a plugin that says who it is, and asks it; none for an extension that has said so already, or never does.
    fn introduce(&self) -> Option<Result<Introduced, Fault>> {
        None
    }
    /// Tries what no run does, for authors.
    fn probe(&self) -> Vec<Probe> {
        Vec::new()
    }
    /// Ends the call at hand, and lets no later one take long: somebody is waiting. Can be called from any thread.
    fn interrupt(&self) {}
    /// Ends whatever lives for it outside of this process; gives what is worth telling. Nothing is called afterwards.
    fn close(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What an extension says about itself.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// Reports and grants name it by this.
    pub id: String,
    /// Its own version.
    pub version: String,
    /// What it can be.
    pub roles: Vec<Role>,
    /// The matchers it offers.
    pub matchers: Vec<MatcherInfo>,
    /// The kinds of capabilities it asks for.
    pub capabilities: Vec<capability::Kind>,
}

/// What an extension can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It judges values.
    Matcher,
    /// It reads events and writes reports.
    Reporter,
    /// It rewrites suites.
    Transform,
}

/// One matcher that an extension offers.
#[derive(Debug, Clone)]
pub struct MatcherInfo {
    /// Without the `$`.
    pub name: String,
    /// One sentence for people.
    pub summary: String,
    /// A JSON Schema of the argument.
    pub argument_schema: Option<String>,
}

/// Whether an argument is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// The matcher can work with it.
    Valid,
    /// It cannot, and why.
    Invalid(String),
}

/// One value to judge.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Which matcher.
    pub matcher: &'a str,
    /// The argument, as JSON text.
    pub expected: &'a str,
    /// The value, as JSON text.
    pub actual: &'a str,
    /// Where the value stands in the outcome.
    pub path: &'a str,
    /// The step being judged.
    pub step: &'a str,
}

/// What a matcher says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The value matches.
    Pass,
    /// It doesn't.
    Fail(Difference),
}

/// Why a value doesn't match.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// In one sentence.
    pub message: String,
    /// Where inside the judged value, as a JSONPath relative to it.
    pub path: Option<String>,
    /// What should have been there.
    pub expected: Option<Json>,
    /// What was there.
    pub actual: Option<Json>,
}

/// Text that a reporter has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// A file beside the main output; `None`: the main output.
    pub name: Option<String>,
    /// The text.
    pub text: String,
}

impl Role {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Role::Matcher => "matcher",
            Role::Reporter => "reporter",
            Role::Transform => "transform",
        }
    }
}

impl Manifest {
    /// Whether it offers a role.
    pub fn is(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}
