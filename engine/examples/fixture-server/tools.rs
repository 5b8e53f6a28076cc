//! The tools.
//!
//! | tool | arguments | answer |
//! |---|---|---|
//! | `echo` | `message` | the message as one text block |
//! | `echo_json` | `value` | its JSON as text; also as structured content when it is an object |
//! | `typed` | `value` | the same, though its `outputSchema` wants `n`, an integer |
//! | `fail` | `text` | the text, with `isError` |
//! | `error` | `code`, `message` | a protocol error |
//! | `sleep` | `ms` | `slept`, after that long; other calls are answered meanwhile |
//! | `crash` | `code` | none: exits with that code |
//! | `stderr` | `text` | `ok`, after the text on stderr |
//! | `noise` | `text` | `ok`, after the text as a line on stdout |
//! | `big` | `bytes` | a text of that length |
//! | `notify` | `method`, `params`, `count` | `ok`, after that many notifications |
//! | `pester` | `method` | none: sends that request without end, and reads nothing meanwhile |
//! | `ask` | `method`, `params` | what the client answers to that request: `{"result":…,"error":…}` |
//! | `env` | `name` | the value of a variable |

use crate::wire::{SPOILT_TEXT, SPOILT_VALUE, Wire};
use serde_json::{Value, json};
use std::time::Duration;

/// Every tool with its parameters; the first one is required.
const TOOLS: [(&str, &[(&str, &str)]); 14] = [
    ("echo", &[("message", "string")]),
    ("echo_json", &[("value", "object")]),
    ("typed", &[("value", "object")]),
    ("fail", &[("text", "string")]),
    ("error", &[("code", "integer"), ("message", "string")]),
    ("sleep", &[("ms", "integer")]),
    ("crash", &[("code", "integer")]),
    ("stderr", &[("text", "string")]),
    ("noise", &[("text", "string")]),
    ("big", &[("bytes", "integer")]),
    ("notify", &[("method", "string"), ("params", "object"), ("count", "integer")]),
    ("pester", &[("method", "string")]),
    ("ask", &[("method", "string"), ("params", "object")]),
    ("env", &[("name", "string")]),
];

/// What a call leads to.
pub(crate) enum Outcome {
    Result(Value),
    Later(Value, Duration),
    Error(i64, String),
    Ask(String, Value),
}

/// A tool whose names mean something in YAML and in suites.
pub(crate) fn odd() -> Value {
    let properties = json!({"${x}": {"const": "${tmp}"}, "$gt": {"type": "integer"}, "a: b": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["${x}", "$gt", "a: b"]});
    json!({"tools": [{"name": "echo_json", "inputSchema": {"type": "object"}}, {"name": "match:${x}: #'\"\n-", "inputSchema": schema}]})
}

/// The result of `tools/list`, in pages if so wanted.
pub(crate) fn list(params: &Value, page_size: Option<usize>, last: Option<&str>) -> Value {
    let start = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0).min(TOOLS.len());
    let end = page_size.map_or(TOOLS.len(), |size| (start + size.max(1)).min(TOOLS.len()));
    if let Some(last) = last.filter(|_| end == TOOLS.len()) {
        return serde_json::from_str(last).unwrap_or_default();
    }
    let tools: Vec<Value> = TOOLS[start..end].iter().map(|(name, parameters)| describe(name, parameters)).collect();
    let mut result = json!({"tools": tools});
    if end < TOOLS.len() {
        result["nextCursor"] = json!(end.to_string());
    }
    result
}

/// Calls a tool.
pub(crate) fn call(wire: &Wire, params: &Value) -> Outcome {
    let arguments = &params["arguments"];
    let word = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str, default: u64| arguments[name].as_u64().unwrap_or(default);
    match params["name"].as_str().unwrap_or_default() {
        "echo" => return echo(wire, arguments),
        "echo_json" | "typed" => return Outcome::Result(structured(arguments["value"].clone())),
        "fail" => return Outcome::Result(json!({"content": content(&word("text")), "isError": true})),
        "error" => return Outcome::Error(arguments["code"].as_i64().unwrap_or(-32603), word("message")),
        "sleep" => return Outcome::Later(text("slept"), Duration::from_millis(number("ms", 0))),
        "big" => return Outcome::Result(text(&"x".repeat(number("bytes", 0) as usize))),
        "ask" => return Outcome::Ask(word("method"), arguments["params"].clone()),
        "env" => return Outcome::Result(text(&std::env::var(word("name")).unwrap_or_default())),
        "crash" => {
            eprintln!("crashing as asked");
            std::process::exit(number("code", 1) as i32);
        }
        "stderr" => eprintln!("{}", word("text")),
        "noise" => wire.text(&word("text")),
        "notify" => {
            for _ in 0..number("count", 1) {
                wire.send(&json!({"jsonrpc": "2.0", "method": word("method"), "params": arguments["params"]}));
            }
        }
        "pester" => {
            for id in 0u64.. {
                wire.send(&json!({"jsonrpc": "2.0", "id": id, "method": word("method")}));
            }
        }
        unknown => return Outcome::Error(-32602, format!("unknown tool: {unknown}")),
    }
    Outcome::Result(text("ok"))
}

/// What `--flood-stderr` and `--flood-stdout` write before an answer.
pub(crate) fn flood(wire: &Wire) {
    let mut left = wire.options().flood_stderr;
    while left > 0 {
        let line = "e".repeat(left.min(100) - 1);
        eprintln!("{line}");
        left -= line.len() + 1;
    }
    for number in 1..=wire.options().flood_stdout {
        wire.text(&format!("flood {number}"));
    }
}

/// A tool result of one text block.
pub(crate) fn text(text: &str) -> Value {
    json!({"content": content(text)})
}

fn echo(wire: &Wire, arguments: &Value) -> Outcome {
    let Some(message) = arguments["message"].as_str() else {
        return Outcome::Result(json!({"content": content("message must be a string"), "isError": true}));
    };
    let options = wire.options();
    let mut message = options.huge_line.map_or(message.to_owned(), |bytes| "x".repeat(bytes));
    if options.invalid_utf8 || options.lone_surrogate {
        message.push_str(SPOILT_TEXT);
    }
    let mut result = text(&message);
    if options.deep.is_some() || options.number.is_some() {
        result["structuredContent"] = json!({"value": SPOILT_VALUE});
    }
    Outcome::Result(result)
}

fn structured(value: Value) -> Value {
    let mut result = text(&value.to_string());
    if value.is_object() {
        result["structuredContent"] = value;
    }
    result
}

fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn describe(name: &str, parameters: &[(&str, &str)]) -> Value {
    let properties: serde_json::Map<String, Value> =
        parameters.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
    let required: Vec<&str> = parameters.iter().take(1).map(|(name, _)| *name).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let mut tool = json!({"name": name, "description": format!("The tool `{name}`."), "inputSchema": schema});
    if name == "typed" {
        tool["outputSchema"] = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    }
    tool
}
