//! A step: what is sent or done, and what is expected of it.

use super::Respond;
use crate::source::{Node, Span};
use std::time::Duration;

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
    /// Whether an error is as good an answer as a result: mcp-aegis has it so where `expect` says nothing of the answer.
    pub any_outcome: bool,
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
