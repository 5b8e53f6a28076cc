//! The nouns of the suite language: a suite has cases, a case has steps, a step has an action and expectations.
//!
//! [`parse`] makes them from a spanned tree and reports every problem; strings may still hold `${variables}`, which the
//! plan fills in.

pub mod environment;
pub mod parse;
pub mod server;
pub mod template;

use crate::source::{Json, Node, Source, Span};
use serde::Serialize;
use server::Server;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One suite file.
#[derive(Debug)]
pub struct Suite {
    /// The text that everything in it comes from: the file, or what transforms made of it.
    pub source: Arc<Source>,
    /// The file as it is written, when transforms rewrote it.
    pub origin: Option<Arc<Source>>,
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

impl Suite {
    /// How reports call the file.
    pub fn name(&self) -> &Arc<str> {
        &self.origin.as_ref().unwrap_or(&self.source).name
    }
}

/// The extensions that a suite imports.
#[derive(Debug, Clone, Default)]
pub struct Imports {
    /// `matchers`.
    pub matchers: Vec<Import>,
    /// `transforms`.
    pub transforms: Vec<Import>,
    /// `subprocess_matchers`.
    pub programs: Vec<Program>,
}

/// One entry of `imports.subprocess_matchers`: a program that is a matcher.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its key; where there is none, the file's stem is the name.
    pub matcher: Option<String>,
    /// What is run.
    pub command: Command,
    /// The method it answers, when that is not the matcher's name.
    pub method: Option<String>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// Where.
    pub span: Span,
}

/// What is run for a [`Program`].
#[derive(Debug, Clone)]
pub enum Command {
    /// A file, relative to the suite's folder.
    File(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

/// One import: an id of the config, or a file.
#[derive(Debug, Clone)]
pub struct Import {
    /// As it is written.
    pub reference: String,
    /// Where.
    pub span: Span,
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

/// One action and what is expected of it.
#[derive(Debug)]
pub struct Step {
    /// Where it stands.
    pub span: Span,
    /// `it` or `name` of a step in `steps` or `parallel`.
    pub label: Option<String>,
    /// What is sent or done.
    pub action: Action,
    /// `meta`: becomes `params._meta`.
    pub meta: Option<Node>,
    /// `timeout`.
    pub timeout: Option<Duration>,
    /// `settle`: how long the step stays open after its response.
    pub settle: Option<Duration>,
    /// `cancelAfter`.
    pub cancel_after: Option<CancelAfter>,
    /// `task`.
    pub task: Option<Task>,
    /// `capture`.
    pub captures: Vec<Capture>,
    /// `respond`: answers to the server's requests during this step.
    pub respond: Respond,
    /// `expect`, a field each, in order.
    pub expect: Vec<Expectation>,
    /// Whether structured content is validated against the tool's `outputSchema` (`outputSchema: ignore` opts out).
    pub output_schema: bool,
}

/// What a step sends or does.
#[derive(Debug, Clone)]
pub enum Action {
    /// `request`: a JSON-RPC request as written.
    Request(Node),
    /// `notify`: a JSON-RPC notification as written.
    Notify(Node),
    /// `raw: "text"`: a line as it is.
    Raw(Node),
    /// `raw: {base64: …}`: exact bytes, no line end added.
    Bytes(Vec<u8>),
    /// `tool` + `args`.
    Tool {
        /// The tool's name.
        name: Node,
        /// Its arguments; `{}` when not written.
        args: Option<Node>,
    },
    /// `uri`: reads a resource.
    Read(Node),
    /// `template` + `args`: reads the resource of a template, expanded.
    Template {
        /// The template, as in RFC 6570.
        template: Node,
        /// The values of its variables.
        args: Option<Node>,
    },
    /// `subscribe`: wants to hear when a resource changes.
    Subscribe(Node),
    /// `unsubscribe`.
    Unsubscribe(Node),
    /// `logLevel`: the least level of log messages that are wanted.
    LogLevel(&'static str),
    /// `prompt` + `args`.
    Prompt {
        /// The prompt's name.
        name: Node,
        /// Its arguments.
        args: Option<Node>,
    },
    /// `complete: {prompt|template, argument, value, context?}`.
    Complete {
        /// The prompt's name, or the template's URI.
        reference: Reference,
        /// The argument's name.
        argument: Node,
        /// What was typed so far.
        value: Node,
        /// Arguments already given.
        context: Option<Node>,
    },
    /// `list`: every page.
    List(Listing),
    /// `wait`: sends nothing.
    Wait(Duration),
    /// `close`: ends the process and awaits its exit.
    Close(Close),
    /// `ping: true`.
    Ping,
}

/// What a completion completes.
#[derive(Debug, Clone)]
pub enum Reference {
    /// A prompt, by name.
    Prompt(Node),
    /// A resource template, by URI.
    Template(Node),
}

/// What `list` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// `tools/list`.
    Tools,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `prompts/list`.
    Prompts,
    /// `tasks/list`.
    Tasks,
}

/// When a request is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAfter {
    /// So long after it was sent.
    Time(Duration),
    /// After so many progress notifications.
    Progress(u32),
}

/// `task`: the call is run as a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// How long the server is to keep it.
    pub ttl: Option<Duration>,
    /// Whether its end is awaited, so that the step's answer is the task's result.
    pub wait: bool,
}

/// How `close` ends the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// End of input.
    Stdin,
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
}

/// `capture: {name: path}`.
#[derive(Debug, Clone)]
pub struct Capture {
    /// The variable it fills.
    pub name: String,
    /// `"name[]"`: takes every node, as a list.
    pub all: bool,
    /// The JSONPath over the outcome.
    pub path: serde_json_path::JsonPath,
    /// The path's place.
    pub span: Span,
}

/// Scripted answers to the server's requests.
#[derive(Debug, Clone, Default)]
pub struct Respond {
    /// By method.
    pub entries: Vec<RespondEntry>,
}

/// The answers for one method.
#[derive(Debug, Clone)]
pub struct RespondEntry {
    /// The full method name: `sampling/createMessage`.
    pub method: String,
    /// Where it is written.
    pub span: Span,
    /// Used in turn; the last one stays.
    pub answers: Vec<Answer>,
}

/// One scripted answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// `{result: …}`.
    Result(Node),
    /// `{error: …}`.
    Error(Node),
    /// `accept`: the form is filled in with its own defaults, under the fields that are written.
    Accept(Option<Node>),
    /// `{ignore: true}`: the request stays unanswered.
    Ignore,
}

impl Answer {
    /// What is written in it.
    pub fn node(&self) -> Option<&Node> {
        match self {
            Answer::Result(node) | Answer::Error(node) => Some(node),
            Answer::Accept(node) => node.as_ref(),
            Answer::Ignore => None,
        }
    }

    /// The same answer with something else written in it.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&Node) -> Node) -> Answer {
        match self {
            Answer::Result(node) => Answer::Result(change(node)),
            Answer::Error(node) => Answer::Error(change(node)),
            Answer::Accept(node) => Answer::Accept(node.as_ref().map(change)),
            Answer::Ignore => Answer::Ignore,
        }
    }
}

/// One key of `expect`.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// Which field of the outcome.
    pub field: Field,
    /// The key's place.
    pub key_span: Span,
    /// What is expected of it.
    pub value: Node,
}

/// The fields of an outcome that `expect` can speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The whole envelope.
    Response,
    /// `result`.
    Result,
    /// `error`; only the written keys are compared.
    Error,
    /// `isError`; false when the server omits it.
    IsError,
    /// The text blocks, joined by newlines.
    Text,
    /// `structuredContent`.
    Structured,
    /// The content blocks.
    Content,
    /// Notifications by method.
    Notifications,
    /// What was told of the step's progress, which must go up.
    Progress,
    /// The task that the call became; only the written keys are compared.
    Task,
    /// Requests of the server by method.
    Requests,
    /// What came on stderr during the step.
    Stderr,
    /// What came on stdout and was no message.
    Stdout,
    /// How long the answer took.
    Duration,
    /// `performance: {maxResponseTime, minResponseTime}`.
    Performance,
    /// The exit code; the exit is awaited.
    ExitCode,
    /// `no-response: true`.
    NoResponse,
    /// Files below `${tmp}`.
    Files,
    /// The answer over HTTP.
    Http,
    /// `checks: [{at, is, message?}]`.
    Checks,
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

impl Field {
    /// The field of this name in `expect`.
    pub fn from_key(key: &str) -> Option<Field> {
        Some(match key {
            "response" => Field::Response,
            "result" => Field::Result,
            "error" => Field::Error,
            "isError" => Field::IsError,
            "text" => Field::Text,
            "structured" => Field::Structured,
            "content" => Field::Content,
            "notifications" => Field::Notifications,
            "progress" => Field::Progress,
            "task" => Field::Task,
            "requests" => Field::Requests,
            "stderr" => Field::Stderr,
            "stdout" => Field::Stdout,
            "duration" => Field::Duration,
            "performance" => Field::Performance,
            "exitCode" => Field::ExitCode,
            "no-response" => Field::NoResponse,
            "files" => Field::Files,
            "http" => Field::Http,
            "checks" => Field::Checks,
            _ => return None,
        })
    }
}

impl Step {
    /// The expectation about a field, if the step has one.
    pub fn expectation(&self, field: Field) -> Option<&Expectation> {
        self.expect.iter().find(|expectation| expectation.field == field)
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
}
