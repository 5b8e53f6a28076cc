//! The JSON Schema of the event stream.

use serde_json::{Value, json};

/// One event: numbered, stamped, and adjacently tagged; readers skip types they do not know.
pub(super) fn document() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcptest event",
        "description": "One event of the stream, a line of the `ndjson` report. Readers skip types they do not know.",
        "type": "object",
        "required": ["seq", "at", "type", "data"],
        "properties": {
            "seq": { "type": "integer", "minimum": 1, "description": "Position in the stream, from 1." },
            "at": { "type": "string", "format": "date-time", "description": "When it happened." },
            "type": { "type": "string", "examples": TYPES.map(|(name, _)| name) },
            "data": { "type": "object" },
        },
        "allOf": TYPES.iter().map(|(name, _)| json!({
            "if": { "properties": { "type": { "const": name } } },
            "then": { "properties": { "data": { "$ref": format!("#/$defs/{name}") } } },
        })).collect::<Vec<_>>(),
        "$defs": definitions(),
    })
}

type Fields = fn() -> Value;

const TYPES: [(&str, Fields); 11] = [
    ("run-started", run_started),
    ("session-opened", session_opened),
    ("test-started", || object("A test begins.", &["test"], json!({ "test": reference("test") }))),
    ("step-started", || object("A step begins.", &["step"], json!({ "step": reference("step") }))),
    ("frame", frame),
    ("attempt", attempt),
    ("log", log),
    ("step-finished", step_finished),
    ("test-finished", test_finished),
    ("session-closed", session_closed),
    ("run-finished", run_finished),
];

fn definitions() -> Value {
    let mut definitions = json!({
        "test": test(),
        "step": { "type": "string", "description": "`test-id/n`: a step of a test, from 1." },
        "status": { "enum": ["passed", "failed", "faulted", "skipped"] },
        "failure": failure(),
        "at": at(),
        "summary": summary(),
    });
    for (name, fields) in TYPES {
        definitions[name] = fields();
    }
    definitions
}

fn object(doc: &str, required: &[&str], properties: Value) -> Value {
    json!({ "description": doc, "type": "object", "required": required, "properties": properties })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn text(doc: &str) -> Value {
    json!({ "type": "string", "description": doc })
}

fn count(doc: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": doc })
}

fn millis(doc: &str) -> Value {
    json!({ "type": "number", "minimum": 0, "description": doc })
}

fn run_started() -> Value {
    let properties = json!({
        "version": text("The engine's version."),
        "files": count("Suite files with at least one selected test."),
        "tests": count("Selected tests."),
        "jobs": count("Workers."),
        "seed": count("The seed of `--shuffle`."),
        "extensions": { "type": "array", "items": extension(), "description": "The extensions that were loaded." },
    });
    object("The plan stands and the run begins.", &["version", "files", "tests", "jobs"], properties)
}

fn extension() -> Value {
    let texts = |doc: &str| json!({ "type": "array", "items": { "type": "string" }, "description": doc });
    let properties = json!({
        "id": text("How failures name it."),
        "version": text("What it calls its version."),
        "file": text("Its file."),
        "roles": texts("`matcher`, `reporter`, `transform`."),
        "matchers": texts("The matchers it offers, with their `$`."),
        "replaces": texts("The built-in matchers that it replaces."),
        "grants": texts("What it may do beyond computing."),
    });
    object("An extension that takes part in the run.", &["id", "version", "file", "roles"], properties)
}

fn session_opened() -> Value {
    let properties = json!({
        "session": text("`name#n`, unique in the run."),
        "server": text("The server's name in the config."),
        "serverInfo": { "description": "What it calls itself." },
        "era": { "enum": ["legacy", "modern"], "description": "The era of the protocol; absent without a handshake." },
        "protocolVersion": text("The negotiated revision."),
        "durationMs": millis("From spawn to ready."),
    });
    object("A server is started and initialised.", &["session", "server", "durationMs"], properties)
}

fn frame() -> Value {
    let properties = json!({
        "session": text("The session it crossed."),
        "step": reference("step"),
        "direction": { "enum": ["sent", "received", "noise", "http"] },
        "text": text("The line, without its end; long ones are cut in the middle."),
        "cut": count("How many bytes were cut out."),
    });
    object("A line that crossed the pipe.", &["session", "direction", "text"], properties)
}

fn attempt() -> Value {
    let properties = json!({
        "test": reference("test"),
        "attempt": count("The number of the attempt that begins, from 2."),
        "of": count("How many there are at most."),
        "reason": text("Why the one before did not do."),
    });
    object("A test is tried again.", &["test", "attempt", "of", "reason"], properties)
}

fn log() -> Value {
    let properties = json!({
        "from": { "enum": ["stderr", "engine", "extension"] },
        "session": text("The session."),
        "step": reference("step"),
        "text": text("One or more lines."),
    });
    object(
        "A line of talk: the server's stderr, the engine's own notes, or what an extension logged.",
        &["from", "text"],
        properties,
    )
}

fn step_finished() -> Value {
    let properties = json!({
        "step": reference("step"),
        "status": reference("status"),
        "durationMs": millis("How long it took."),
        "failures": { "type": "array", "items": reference("failure") },
    });
    object("A step ended.", &["step", "status", "durationMs", "failures"], properties)
}

fn test_finished() -> Value {
    let properties = json!({
        "test": reference("test"),
        "status": reference("status"),
        "durationMs": millis("How long it took."),
        "failures": { "type": "array", "items": reference("failure") },
        "reason": text("Why it was skipped."),
        "attempts": count("How many attempts it took, when more than one."),
    });
    object("A test ended.", &["test", "status", "durationMs", "failures"], properties)
}

fn session_closed() -> Value {
    let properties = json!({
        "session": text("Which."),
        "server": text("The server's name."),
        "exit": text("How the process ended, where there was one."),
        "by": {
            "enum": ["eof", "term", "kill", "itself", "delete", "closed"],
            "description": "What it took; without a process `delete` or `closed`."
        },
        "durationMs": millis("From the first word of the shutdown to the end."),
    });
    object(
        "A session ended, and the server's process where there was one.",
        &["session", "server", "exit", "by", "durationMs"],
        properties,
    )
}

fn run_finished() -> Value {
    let properties = json!({
        "summary": reference("summary"),
        "exitCode": count("The exit code of the process."),
        "interrupted": { "type": "boolean" },
    });
    object("The last event.", &["summary", "exitCode", "interrupted"], properties)
}

fn test() -> Value {
    let properties = json!({
        "id": text("`file#lane/name[row]`, unique in the run."),
        "file": text("The suite file."),
        "suite": text("The suite's description."),
        "server": text("The server's name."),
        "lane": text("The lane."),
        "name": text("`it`, with its row's values filled in."),
        "line": count("The line of the test in the file."),
    });
    object(
        "A test, as every event and report names it.",
        &["id", "file", "suite", "server", "lane", "name", "line"],
        properties,
    )
}

fn failure() -> Value {
    let properties = json!({
        "kind": { "enum": ["mismatch", "fault"] },
        "message": text("In one sentence."),
        "matcher": text("The matcher that says so."),
        "path": text("The JSON path in the outcome."),
        "expected": { "description": "What was expected." },
        "actual": { "description": "What came." },
        "code": text("The failure code of a fault: `timeout`, `crashed`, …"),
        "source": text("The server or extension at fault."),
        "step": count("The step, when the test has several."),
        "hints": { "type": "array", "items": { "type": "string" } },
        "diff": diff(),
        "at": reference("at"),
    });
    object("One thing that was wrong.", &["kind", "message", "at"], properties)
}

fn diff() -> Value {
    let line = json!({
        "op": { "enum": [" ", "-", "+"] },
        "path": text("The JSON path of what stands in the line."),
        "depth": count("How deep it lies below the compared value."),
        "text": text("A key and a value; what is invisible is escaped."),
        "marks": { "type": "array", "items": { "type": "array", "items": { "type": "integer" } } },
    });
    let properties = json!({
        "path": text("The JSON path of the value that was compared."),
        "lines": { "type": "array", "items": object("One line.", &["op", "path", "depth", "text"], line) },
        "more": count("How many further lines were cut."),
    });
    object("What changed over the whole check.", &["path", "lines"], properties)
}

fn at() -> Value {
    let properties = json!({
        "file": text("The suite file."),
        "line": count("From 1."),
        "column": count("From 1."),
        "width": count("How many characters the caret covers."),
        "text": text("The text of the line; of a very long one, what is around the column."),
        "cut": count("How many characters of the line stand before `text`, when it is cut."),
    });
    object("A place in a suite.", &["file", "line", "column", "width", "text"], properties)
}

fn summary() -> Value {
    let properties = json!({
        "total": count("All tests."),
        "passed": count("Passed."),
        "failed": count("Failed."),
        "faulted": count("Faulted."),
        "skipped": count("Skipped."),
        "durationMs": millis("The whole run."),
    });
    object("The sums of a run.", &["total", "passed", "failed", "faulted", "skipped", "durationMs"], properties)
}
