//! The faults of plugins in words: the plugin, the call, how long it took, and the next action.

use crate::extension::fault::{Code, Fault, plain};
use crate::source::Json;
use std::sync::Arc;
use std::time::Duration;

/// What some languages write before anything else.
const BOM: char = '\u{feff}';
/// JSON-RPC: what came is not JSON.
pub(in crate::extension) const PARSE_ERROR: i64 = -32700;
/// JSON-RPC: it is JSON, and not what it should be.
pub(in crate::extension) const INVALID: i64 = -32600;
/// JSON-RPC: there is no such method.
pub(in crate::extension) const METHOD_NOT_FOUND: i64 = -32601;

/// What a folder that is not there is looked for in.
pub(in crate::extension) const WORKING_DIR: &str =
    "a relative `working_dir` is taken against the folder of the `plugin.toml`";

/// An answer that cannot be taken, with the raw line.
pub(in crate::extension) fn malformed(name: &Arc<str>, call: &str, code: i64, why: &str, raw: &str) -> Fault {
    let message = format!("plugin `{name}` answered `{}` with what is no answer ({code}): {why}", plain(call));
    let fault = Fault::new(Code::MalformedResponse, name, message);
    let written = raw.trim();
    let fault = if written.is_empty() { fault } else { fault.hint(format!("it wrote: {}", plain(raw))) };
    match code {
        PARSE_ERROR if written.is_empty() => fault.hint("one line end after an answer is enough"),
        PARSE_ERROR if written.starts_with(BOM) => {
            fault.hint("it begins with a byte order mark: write UTF-8 without one")
        }
        PARSE_ERROR if written.starts_with('{') && written.ends_with('}') => {
            fault.hint("JSON has double quotes, `true`, `false` and `null`, and no `NaN`")
        }
        PARSE_ERROR if written.starts_with(['{', '"', '}']) => {
            fault.hint("an answer is one line, with no line ends inside")
        }
        PARSE_ERROR => fault.hint("stdout is for answers alone: what is meant for people goes to stderr"),
        _ => fault,
    }
}

/// What a value is, for people.
pub(in crate::extension) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "`null`",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// What serde says, without the line and the column: there is one line, and it is shown.
pub(in crate::extension) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    ours(text.split(" at line ").next().unwrap_or(&text))
}

/// What serde says, in words that people know.
pub(in crate::extension) fn ours(said: &str) -> String {
    [
        ("expected i64", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected a sequence", "expected a list"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: object"),
        ("unexpected end of hex escape", "half of a surrogate pair (a text that was cut inside of a character)"),
        (
            "lone leading surrogate in hex escape",
            "half of a surrogate pair (a text that was cut inside of a character)",
        ),
    ]
    .into_iter()
    .fold(said.to_owned(), |said, (theirs, ours)| said.replace(theirs, ours))
}

/// No answer in time, and what can be done about it.
pub(in crate::extension) fn late(name: &Arc<str>, call: &str, most: Duration, hint: &str) -> Fault {
    let message = format!("plugin `{name}` did not answer `{}` within {most:?}", plain(call));
    Fault { took: most, ..Fault::new(Code::Timeout, name, message) }.hint(hint)
}

/// No answer in time from one that writes to a pipe.
pub(in crate::extension) fn unflushed(name: &Arc<str>, call: &str, most: Duration) -> Fault {
    late(name, call, most, "it must read line by line, and flush its stdout after every answer")
        .hint("if it needs longer, raise its `timeout` where it is named")
}

/// No answer in time, but a line that has no end yet.
pub(in crate::extension) fn unended(name: &Arc<str>, call: &str, most: Duration, half: &str) -> Fault {
    late(name, call, most, &format!("it had begun a line: {}", plain(half)))
        .hint("an answer ends with a line feed, and is flushed")
}

/// The run was interrupted while it was called.
pub(in crate::extension) fn interrupted(name: &Arc<str>, call: &str) -> Fault {
    Fault::new(Code::Timeout, name, format!("plugin `{name}` was interrupted in `{}`", plain(call)))
}

/// The plugin's own word that it could not answer.
pub(in crate::extension) fn refused(
    name: &Arc<str>,
    call: &str,
    code: i64,
    message: &str,
    data: Option<&str>,
) -> Fault {
    let call = plain(call);
    let said = plain(message);
    let fault = match code {
        METHOD_NOT_FOUND => Fault::new(
            Code::ToolNotExposed,
            name,
            format!("plugin `{name}` says that it has no `{call}` ({code}): {said}"),
        ),
        _ => Fault::new(Code::ExtensionError, name, format!("plugin `{name}` failed in `{call}` ({code}): {said}")),
    };
    match data {
        Some(data) => fault.hint(format!("it adds: {}", plain(data))),
        None => fault,
    }
}

/// A tool that the plugin did not list.
pub(in crate::extension) fn not_exposed(name: &Arc<str>, tool: &str, exposed: &[String]) -> Fault {
    let message = format!("plugin `{name}` exposes no tool `{}`", plain(tool));
    let all = exposed.iter().map(|tool| format!("`{}`", plain(tool))).collect::<Vec<_>>().join(", ");
    Fault::new(Code::ToolNotExposed, name, message).hint(if exposed.is_empty() {
        "it exposes none".to_owned()
    } else {
        format!("it exposes {all}")
    })
}

/// How long a call took, for people.
pub(in crate::extension) fn after(took: Duration) -> String {
    format!("after {:.1} ms", took.as_secs_f64() * 1000.0)
}
