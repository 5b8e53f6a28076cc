//! The keys of a test and of its steps.

use super::config::SERVER;
use super::expect::EXPECT;
use super::suite::{ANSWERS, CASE_ONLY, SEVERAL};
use super::table::{Key, Table, Takes};
use Takes::{Anything, Boolean, Choice, Count, Duration, Map, Mapping, OneOf, Path, Text, True};

/// The levels of log messages, lowest first.
pub const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What a step can do.
pub static ACTIONS: &[Key] = &[
    Key::new(
        "request",
        Mapping,
        "{method: tools/list}",
        "A JSON-RPC request as written; `jsonrpc` and `id` may be left out.",
    ),
    Key::new("notify", Mapping, "{method: notifications/roots/list_changed}", "A JSON-RPC notification as written."),
    Key::new("raw", OneOf(&[Text, Takes::Table(&RAW)]), "'{\"jsonrpc\": \"2.0\"'", "A line as it is, or exact bytes."),
    Key::new("tool", Text, "read_file", "Calls a tool; its arguments stand in `args`."),
    Key::new("uri", Text, "\"file:///a.txt\"", "Reads a resource."),
    Key::new(
        "template",
        Text,
        "\"file:///{path}\"",
        "Reads the resource of a template; the values of its variables stand in `args`.",
    ),
    Key::new(
        "subscribe",
        Text,
        "\"file:///a.txt\"",
        "Asks to hear when a resource changes, or a list: `tools`, `prompts`, `resources`.",
    ),
    Key::new("unsubscribe", Text, "\"file:///a.txt\"", "Asks to hear no more of it."),
    Key::new("prompt", Text, "greet", "Gets a prompt; its arguments stand in `args`."),
    Key::new(
        "complete",
        Takes::Table(&COMPLETE),
        "{prompt: greet, argument: name, value: A}",
        "Asks for completions of an argument.",
    ),
    Key::new("list", Choice(&["tools", "resources", "templates", "prompts", "tasks"]), "tools", "Lists, every page."),
    Key::new("logLevel", Choice(LEVELS), "debug", "Asks for log messages from this level on."),
    Key::new("wait", Duration, "2s", "Sends nothing; ends early when its expectations turn from failing to holding."),
    Key::new("close", Choice(&["stdin", "term", "kill"]), "stdin", "Ends the process and awaits its exit."),
    Key::new("ping", True, "true", "Sends a ping."),
];

pub(super) static STEP_KEYS: &[Key] = &[
    Key::new("args", Mapping, "{path: a.txt}", "Arguments of `tool`, `prompt` or `template`."),
    Key::new("meta", Mapping, "{progressToken: 1}", "Becomes `params._meta`."),
    Key::new("timeout", Duration, "10s", "How long the step may take."),
    Key::new("settle", Duration, "100ms", "How long the step stays open after its response."),
    Key::new(
        "cancelAfter",
        OneOf(&[Duration, Takes::Table(&CANCEL_AFTER)]),
        "100ms",
        "Takes the request back after this time, or after some progress; no answer may come then.",
    ),
    Key::new(
        "task",
        OneOf(&[True, Takes::Table(&TASK)]),
        "{ttl: 60s}",
        "Calls the tool as a task and awaits its result.",
    ),
    Key::new(
        "capture",
        Map(&Path),
        "{id: $.structured.id}",
        "Variables filled from the outcome; `\"name[]\"` takes every node.",
    ),
    Key::new(
        "respond",
        ANSWERS,
        "{elicitation: decline}",
        "Scripted answers to the server's requests during this step.",
    ),
    Key::new(
        "outputSchema",
        Choice(&["ignore"]),
        "ignore",
        "`ignore`: structured content is not validated against the tool's schema.",
    ),
    Key::new("expect", Takes::Table(&EXPECT), "{text: hello}", "What the outcome must be."),
];

static LABEL: &[Key] = &[
    Key::new("it", Text, "writes the file", "A label for the step."),
    Key::new("name", Text, "writes the file", "Same as `it`."),
];

/// A case can do what a step can, or have several steps.
const CASE_ACTION_NAMES: &[&str] = &[
    "request",
    "notify",
    "raw",
    "tool",
    "uri",
    "template",
    "subscribe",
    "unsubscribe",
    "prompt",
    "complete",
    "list",
    "logLevel",
    "wait",
    "close",
    "ping",
    "steps",
    "parallel",
];
const ACTION_NAMES: &[&str] = CASE_ACTION_NAMES.split_at(ACTIONS.len()).0;

/// A test.
pub static CASE: Table = Table {
    name: "test",
    title: "a test",
    doc: "A test: a name, and one action or several steps.",
    example: "{it: lists tools, list: tools, expect: {result: …}}",
    groups: &[CASE_ONLY, ACTIONS, SEVERAL, STEP_KEYS],
    one_of: &[&["it", "name"], CASE_ACTION_NAMES],
    required: &[],
    later: &[],
    elsewhere: &[
        (EXPECT.groups, "belongs under `expect`"),
        (SERVER.groups, "belongs to the server: in the config, or in a mapping under `server:`"),
    ],
};

/// A step of a test with several.
pub static STEP: Table = Table {
    name: "step",
    title: "a step",
    doc: "One action against the server, and what is expected of it.",
    example: "{tool: read_file, args: {path: a.txt}}",
    groups: &[LABEL, ACTIONS, STEP_KEYS],
    one_of: &[ACTION_NAMES],
    required: &[],
    later: &[],
    elsewhere: &[
        (&[CASE_ONLY, SEVERAL], "belongs to the test, not to one of its steps"),
        (EXPECT.groups, "belongs under `expect`"),
    ],
};

/// `raw: {base64: …}`.
pub static RAW: Table = Table {
    name: "bytes",
    title: "`raw`",
    doc: "Exact bytes; no line end is added.",
    example: "{base64: e30K}",
    groups: &[&[Key::new("base64", Text, "e30K", "The bytes, in base64.")]],
    one_of: &[],
    required: &["base64"],
    later: &[],
    elsewhere: &[],
};

/// `cancelAfter: {…}`.
pub static CANCEL_AFTER: Table = Table {
    name: "cancellation",
    title: "`cancelAfter`",
    doc: "What must have come before the request is taken back.",
    example: "{progress: 2}",
    groups: &[&[Key::new("progress", Count(1), "2", "So many progress notifications.")]],
    one_of: &[],
    required: &["progress"],
    later: &[],
    elsewhere: &[],
};

/// `task: {…}`.
pub static TASK: Table = Table {
    name: "task",
    title: "`task`",
    doc: "How a call is run as a task.",
    example: "{ttl: 60s}",
    groups: &[&[
        Key::new("ttl", Duration, "60s", "How long the server is to keep the task."),
        Key::new("wait", Boolean, "false", "`false`: the step ends with the task that was created."),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};

/// `complete: {…}`.
pub static COMPLETE: Table = Table {
    name: "completion",
    title: "`complete`",
    doc: "A completion: of what, which argument, and what was typed so far.",
    example: "{prompt: greet, argument: name, value: A}",
    groups: &[&[
        Key::new("prompt", Text, "greet", "The prompt whose argument is completed."),
        Key::new("template", Text, "\"file:///{path}\"", "The resource template whose argument is completed."),
        Key::new("argument", Text, "name", "The argument's name."),
        Key::new("value", Text, "A", "What was typed so far."),
        Key::new("context", Map(&Anything), "{language: en}", "Arguments already given."),
    ]],
    one_of: &[&["prompt", "template"]],
    required: &["argument", "value"],
    later: &[],
    elsewhere: &[],
};
