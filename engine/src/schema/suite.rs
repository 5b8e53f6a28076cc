//! The keys of a suite file.

use super::config::{CLIENT, SERVER};
use super::extension::IMPORTS;
use super::step::{ACTIONS, CASE, STEP};
use super::table::{Key, Table, Takes};
use Takes::{Anything, Boolean, Count, Filled, List, Map, Mapping, OneOf, Text, True};

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

pub(super) static SEVERAL: &[Key] = &[
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
