//! The keys of `expect`.

use super::step::STEP_KEYS;
use super::suite::CASE_ONLY;
use super::table::{Key, Table, Takes};
use Takes::{Anything, Duration, List, Map, OneOf, Path, Text, True};

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
        Key::new(
            "no-response",
            True,
            "true",
            "No answer may come before the step's timeout; after `raw` and `notify` 1s by default.",
        ),
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
