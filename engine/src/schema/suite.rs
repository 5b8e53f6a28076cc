//! The keys of a suite file.

use super::config::{CLIENT, SERVER};
use super::extension::IMPORTS;
use super::table::{Key, Table, Takes};
use Takes::{Anything, Boolean, Choice, Count, Duration, Filled, List, Map, Mapping, OneOf, Path, Text, True};

const TESTS: Takes = Filled(&Takes::Table(&CASE));
const ONE_ANSWER: Takes = OneOf(&[Takes::Table(&ANSWER), Text]);
/// Scripted answers: for each request of the server one, or several used in turn.
pub(super) const ANSWERS: Takes = Map(&OneOf(&[Takes::Table(&ANSWER), Text, Filled(&ONE_ANSWER)]));
const SERVER_CHOICE: Takes = OneOf(&[Text, Takes::Table(&SERVER)]);

/// The sections of a suite that hold tests.
pub static LANES: &[Key] = &[
    Key::new("tests", TESTS, "[{it: …, request: {method: tools/list}}]", "Raw lane: any JSON-RPC, exactly as written."),
    Key::new("tools", TESTS, "[{it: …, tool: read_file, args: {path: a.txt}}]", "Tests of tools."),
    Key::new("resources", TESTS, "[{it: …, uri: \"demo://motd\"}]", "Tests of resources."),
    Key::new("prompts", TESTS, "[{it: …, prompt: greet, args: {name: Ada}}]", "Tests of prompts."),
    Key::new("agents", Anything, "[]", "Accepted; this version reports the lane as skipped."),
    Key::new("compliance", Anything, "[]", "Accepted; this version reports the lane as skipped."),
    Key::new("security", Anything, "[]", "Accepted; this version reports the lane as skipped."),
    Key::new("evals", Anything, "[]", "Accepted; this version reports the lane as skipped."),
];

static SUITE_ONLY: &[Key] = &[
    Key::new("description", Text, "Filesystem server", "Header in every report; the file's name by default."),
    Key::new(
        "server",
        SERVER_CHOICE,
        "fs",
        "The server under test: a name from the config's `servers`, or a definition.",
    ),
    Key::new(
        "imports",
        Takes::Table(&IMPORTS),
        "{matchers: [./near.wasm]}",
        "Extensions for this file: their matchers, and transforms that rewrite it.",
    ),
    Key::new("variables", Map(&Anything), "{root: \"${tmp}/data\"}", "Values that `${name}` stands for in this file."),
    Key::new(
        "client",
        Takes::Table(&CLIENT),
        "{elicitation: {form: {}, url: {}}}",
        "Capabilities the client declares for this file, beside those of the server's definition.",
    ),
    Key::new(
        "respond",
        ANSWERS,
        "{elicitation: accept, roots: [\"file:///project\"]}",
        "Scripted answers to the server's requests, for the whole file; also declares the capabilities.",
    ),
    Key::new(
        "before",
        List(&Takes::Table(&CASE)),
        "[]",
        "Tests run once before the file's own; a failure faults the file.",
    ),
    Key::new("after", List(&Takes::Table(&CASE)), "[]", "Tests run once after the file's own, whatever happened."),
];

/// A suite file.
pub static SUITE: Table = Table {
    name: "suite",
    title: "a suite",
    doc: "One file of tests.",
    example: "tests: [{it: lists tools, list: tools}]",
    groups: &[SUITE_ONLY, LANES],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[
        (&[CASE_ONLY], "belongs to a test"),
        (&[ACTIONS], "belongs to a test, in a list under `tests:` or `tools:`"),
        (SERVER.groups, "belongs under `server:`, or in the config file"),
    ],
};

/// What stands on a test and not on a step.
pub static CASE_ONLY: &[Key] = &[
    Key::new("it", Text, "reads an existing file", "What the test shows; its name in every report."),
    Key::new("name", Text, "reads an existing file", "Same as `it`."),
    Key::new("tags", OneOf(&[Text, List(&Text)]), "[smoke, slow]", "Words for `--tag` and `--skip-tag`."),
    Key::new("skip", OneOf(&[Text, Boolean]), "not ready yet", "Why the test is not run."),
    Key::new("only", Boolean, "true", "Run only the tests marked so; refused when `CI=true`."),
    Key::new("retry", Count(0), "2", "How many further attempts follow a failure."),
    Key::new("repeat", Count(1), "5", "How often it must pass in a row."),
    Key::new(
        "each",
        OneOf(&[Filled(&Anything), Text]),
        "[{n: 1}, {n: 2}]",
        "Rows, or a `.json` or `.csv` file of rows; the test runs once per row.",
    ),
    Key::new("server", SERVER_CHOICE, "fs", "The server under test, when it is not the file's."),
    Key::new("restart", Boolean, "true", "A process of its own."),
    Key::new("handshake", Boolean, "false", "`false`: a process of its own, and no handshake."),
];

static SEVERAL: &[Key] = &[
    Key::new(
        "steps",
        Filled(&Takes::Table(&STEP)),
        "[{tool: a}, {tool: b}]",
        "Steps in order; the first failure ends the test.",
    ),
    Key::new(
        "parallel",
        Filled(&Takes::Table(&STEP)),
        "[{tool: a}, {tool: b}]",
        "Steps sent without waiting, each judged by itself.",
    ),
];

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

static STEP_KEYS: &[Key] = &[
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

const ACTION_NAMES: &[&str] = &[
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
];
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

/// `expect: {…}`.
pub static EXPECT: Table = Table {
    name: "expectation",
    title: "`expect`",
    doc: "Fields of the outcome and what each must be.",
    example: "{result: …} or {text: hello}",
    groups: &[&[
        Key::new("response", Anything, "{result: …}", "The whole envelope, by deep equality."),
        Key::new("result", Anything, "{content: […]}", "The result, by deep equality."),
        Key::new("error", Anything, "{code: -32602}", "The error; only the written keys are compared."),
        Key::new("isError", Anything, "true", "Whether the tool says that it failed; false when the server omits it."),
        Key::new("text", Anything, "hello", "The text blocks, joined by line breaks."),
        Key::new("structured", Anything, "{total: 3}", "The structured content, by deep equality."),
        Key::new("content", Anything, "[{type: text, text: hello}]", "The content blocks, by deep equality."),
        Key::new(
            "notifications",
            Map(&Anything),
            "{notifications/progress: {$length: 4}}",
            "From method to a matcher over the list of its `params`.",
        ),
        Key::new(
            "progress",
            Anything,
            "3",
            "At least so many progress notifications, or a matcher over the list of them; each must be higher than the last.",
        ),
        Key::new(
            "task",
            Anything,
            "{status: completed}",
            "The task that the call became; only the written keys are compared.",
        ),
        Key::new(
            "requests",
            Map(&Anything),
            "{sampling/createMessage: {$length: 1}}",
            "The server's requests, from method to a matcher over the list of their `params`.",
        ),
        Key::new("stderr", Anything, "toBeEmpty", "What came on stderr during the step."),
        Key::new("stdout", Anything, "clean", "What came on stdout and was no message."),
        Key::new("duration", OneOf(&[Text, Map(&Anything)]), "\"<500ms\"", "How long the answer took."),
        Key::new(
            "performance",
            Takes::Table(&PERFORMANCE),
            "{maxResponseTime: 500ms}",
            "Bounds of the time the answer took.",
        ),
        Key::new("exitCode", Anything, "0", "The exit code; the exit is awaited."),
        Key::new("no-response", True, "true", "No answer may come before the step's timeout."),
        Key::new(
            "files",
            Map(&Anything),
            "{out.txt: hello}",
            "Files below `${tmp}`, from path to a matcher over the content.",
        ),
        Key::new(
            "http",
            Map(&Anything),
            "{status: 401}",
            "The answer over HTTP: `status`, `headers`, `body`, `events`, `error`; only the written keys are compared.",
        ),
        Key::new(
            "checks",
            List(&Takes::Table(&CHECK)),
            "[{at: $.result.total, is: 3}]",
            "Further checks, each at a JSONPath of the outcome.",
        ),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[(&[STEP_KEYS, CASE_ONLY], "belongs beside `expect`, not in it")],
};

/// One of `checks`.
pub static CHECK: Table = Table {
    name: "check",
    title: "a check",
    doc: "A JSONPath over the outcome, and what must stand there.",
    example: "{at: $.result.total, is: 3}",
    groups: &[&[
        Key::new("at", Path, "$.result.total", "A JSONPath (RFC 9535) over the outcome."),
        Key::new("is", Anything, "3", "What must stand there."),
        Key::new("message", Text, "the total is wrong", "What the report says when it does not hold."),
    ]],
    one_of: &[],
    required: &["at", "is"],
    later: &[],
    elsewhere: &[],
};

/// `performance: {…}`.
pub static PERFORMANCE: Table = Table {
    name: "performance",
    title: "`performance`",
    doc: "Bounds of the time the answer took.",
    example: "{maxResponseTime: 500ms}",
    groups: &[&[
        Key::new("maxResponseTime", Duration, "500ms", "The answer must not take longer."),
        Key::new("minResponseTime", Duration, "10ms", "The answer must not be faster."),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};

/// One scripted answer.
pub static ANSWER: Table = Table {
    name: "answer",
    title: "an answer",
    doc: "A scripted answer to a request of the server.",
    example: "{result: {…}}, {error: {code: -32000, message: no}} or {ignore: true}",
    groups: &[&[
        Key::new("result", Anything, "{roots: []}", "Answers with this result."),
        Key::new("error", Map(&Anything), "{code: -32000, message: no}", "Answers with this error."),
        Key::new("ignore", True, "true", "Leaves the request unanswered."),
        Key::new(
            "accept",
            OneOf(&[True, Mapping]),
            "{name: Ada}",
            "To `elicitation`: accepts, with these fields over the defaults of the form.",
        ),
        Key::new("decline", True, "true", "To `elicitation`: declines."),
        Key::new("cancel", True, "true", "To `elicitation`: goes away without an answer."),
        Key::new("text", Text, "forty-two", "To `sampling`: what the model says."),
        Key::new("roots", List(&OneOf(&[Text, Map(&Anything)])), "[\"file:///project\"]", "To `roots`: the roots."),
    ]],
    one_of: &[&["result", "error", "ignore", "accept", "decline", "cancel", "text", "roots"]],
    required: &[],
    later: &[],
    elsewhere: &[],
};
