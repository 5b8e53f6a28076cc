//! The nouns of the suite language: a suite has cases, a case has steps, a step has an action and expectations.
//!
//! [`parse`] makes them from a spanned tree and reports every problem; strings may still hold `${variables}`, which the
//! plan fills in.

pub mod environment;
mod imports;
pub mod parse;
mod respond;
pub mod server;
mod step;
pub mod template;

pub use imports::{Command, Import, Imports, Program};
pub use respond::{Answer, Respond, RespondEntry};
pub use step::{Action, CancelAfter, Capture, Close, Expectation, Field, Listing, Reference, Step, Task};

use crate::child::Grace;
use crate::source::{Json, Node, Source, Span};
use serde::Serialize;
use server::Server;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One suite file.
#[derive(Debug)]
pub struct Suite {
    /// The text that everything in it comes from: the file, or what transforms made of it.
    pub source: Arc<Source>,
    /// The file as it is written, when transforms rewrote it.
    pub origin: Option<Origin>,
    /// `description`, or the file's name.
    pub description: Arc<str>,
    /// `server`: the default of every case in the file.
    pub server: Option<ServerChoice>,
    /// `imports`: extensions for this file.
    pub imports: Imports,
    /// `variables`, in order; values may hold variables of their own.
    pub variables: Vec<Variable>,
    /// `client`: capabilities that the client declares for this file, beside the server's own.
    pub client: Json,
    /// `respond`: answers to the server's requests, for the whole file.
    pub respond: Respond,
    /// `before`: cases run once before the file's own.
    pub before: Vec<Case>,
    /// All lanes' cases, in document order.
    pub cases: Vec<Case>,
    /// `after`: cases run once after the file's own, whatever happened.
    pub after: Vec<Case>,
    /// Lanes that are accepted and that this version cannot run.
    pub unsupported: Vec<Unsupported>,
}

/// What is accepted and cannot be run: a lane, or a rule that `compliance` names.
#[derive(Debug, Clone)]
pub struct Unsupported {
    /// The lane.
    pub lane: Lane,
    /// The rule, of a lane that lists rules.
    pub rule: Option<String>,
    /// Its place.
    pub span: Span,
}

/// A file that transforms rewrote, as it is written.
#[derive(Debug)]
pub struct Origin {
    /// The file.
    pub source: Arc<Source>,
    /// The lines of its tests, by name, and of its lanes, by key.
    lines: HashMap<String, u32>,
}

impl Origin {
    /// Notes where things are in the file.
    pub fn new(source: &Arc<Source>, root: &Node) -> Origin {
        let mut lines = HashMap::new();
        let line = |span: Span| source.position(span.start).line;
        for lane in root.entries().unwrap_or_default() {
            for test in lane.value.items().unwrap_or_default() {
                if let Some(name) = test.get("it").or_else(|| test.get("name")).and_then(Node::as_str) {
                    lines.entry(name.to_owned()).or_insert_with(|| line(test.span));
                }
            }
        }
        for lane in root.entries().unwrap_or_default() {
            lines.entry(lane.key.clone()).or_insert_with(|| line(lane.key_span));
        }
        Origin { source: source.clone(), lines }
    }
}

impl Suite {
    /// How reports call the file.
    pub fn name(&self) -> &Arc<str> {
        &self.origin.as_ref().map_or(&self.source, |origin| &origin.source).name
    }

    /// The line of a test in the file. One that a transform made is where its lane begins.
    pub fn line(&self, lane: Lane, name: &str, span: Span) -> u32 {
        match &self.origin {
            None => self.source.position(span.start).line,
            Some(Origin { lines, .. }) => *lines.get(name).or_else(|| lines.get(lane.key())).unwrap_or(&1),
        }
    }
}

/// A name from `servers`, or a server written in the suite.
#[derive(Debug, Clone)]
pub enum ServerChoice {
    /// `server: fs`.
    Named(String, Span),
    /// `server: { command: … }`.
    Inline(Arc<Server>),
}

/// One of a suite's `variables`.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The name's place.
    pub span: Span,
    /// Its value.
    pub value: Node,
}

/// The section of a suite that a case stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// `tests`: any JSON-RPC, exactly as written.
    Tests,
    /// `tools`.
    Tools,
    /// `resources`.
    Resources,
    /// `prompts`.
    Prompts,
    /// `agents`.
    Agents,
    /// `compliance`.
    Compliance,
    /// `security`.
    Security,
    /// `evals`.
    Evals,
    /// `before`.
    Before,
    /// `after`.
    After,
}

/// One test.
#[derive(Debug)]
pub struct Case {
    /// Where it stands.
    pub lane: Lane,
    /// `it` or `name`; may hold variables of its row.
    pub name: String,
    /// The name's place.
    pub span: Span,
    /// `tags`.
    pub tags: Vec<String>,
    /// `skip: "reason"`.
    pub skip: Option<String>,
    /// `only: true`, with its place.
    pub only: Option<Span>,
    /// `retry`: how many further attempts after a failure.
    pub retry: u32,
    /// `repeat`: how often it must pass in a row.
    pub repeat: u32,
    /// `each`: the rows it runs for.
    pub each: Option<Vec<Row>>,
    /// `server`.
    pub server: Option<ServerChoice>,
    /// `restart: true`: a process of its own.
    pub restart: bool,
    /// `handshake: false`: a process of its own, and no handshake.
    pub handshake: bool,
    /// What it does.
    pub body: Body,
}

/// One row of `each`: names and values; a row that is not a mapping is the variable `row`.
#[derive(Debug, Clone)]
pub struct Row {
    /// The row's variables.
    pub values: Vec<(String, Node)>,
}

/// What a case does.
#[derive(Debug)]
pub enum Body {
    /// One action on the case itself.
    Single(Box<Step>),
    /// `steps`: in order, stops at the first failure.
    Steps(Vec<Step>),
    /// `parallel`: sent in order without waiting, each judged by itself.
    Parallel(Vec<Step>),
}

impl Lane {
    /// The lanes that hold a file's own tests.
    pub const ALL: [Lane; 8] = [
        Lane::Tests,
        Lane::Tools,
        Lane::Resources,
        Lane::Prompts,
        Lane::Agents,
        Lane::Compliance,
        Lane::Security,
        Lane::Evals,
    ];

    /// The key in a suite.
    pub fn key(self) -> &'static str {
        match self {
            Lane::Tests => "tests",
            Lane::Tools => "tools",
            Lane::Resources => "resources",
            Lane::Prompts => "prompts",
            Lane::Agents => "agents",
            Lane::Compliance => "compliance",
            Lane::Security => "security",
            Lane::Evals => "evals",
            Lane::Before => "before",
            Lane::After => "after",
        }
    }
}

impl Body {
    /// Its steps, in order.
    pub fn steps(&self) -> &[Step] {
        match self {
            Body::Single(step) => std::slice::from_ref(step),
            Body::Steps(steps) | Body::Parallel(steps) => steps,
        }
    }
}

/// What a suite needs to know of its surroundings to be parsed.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// Unknown keys are warnings, not errors.
    pub lenient: bool,
    /// The folder the command was started in.
    pub working_dir: PathBuf,
    /// The variables that `${VAR}` reads in server definitions.
    pub environment: environment::Environment,
    /// How long servers may take to end whose definitions do not say.
    pub shutdown: Grace,
    /// How long servers may take to start whose definitions do not say, when that is not the default.
    pub startup: Option<Duration>,
    /// No server is started, for a cassette plays it: what only a start needs may be missing.
    pub played: bool,
}
