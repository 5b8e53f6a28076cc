//! The JSON Schema of the subprocess protocol: every line that crosses the pipe of a plugin.

use super::{EXECUTE, HANDSHAKE, PROTOCOL_VERSION};
use crate::extension::plugin::{FINISH, OBSERVE, TRANSFORM};
use crate::schema::{closed, reference};
use serde_json::{Map, Value, json};

/// Text that is there, and has no white space around it.
const WORD: &str = r"^\S([\s\S]*\S)?$";

/// The JSON Schema (2020-12) of a line: a request of the host, or an answer of the plugin.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for hook in HOOKS {
        definitions.insert(format!("{} arguments", hook.name), (hook.arguments)());
        definitions.insert(format!("{} result", hook.name), (hook.result)());
    }
    for (name, schema) in [
        ("request", request()),
        ("answer", answer()),
        ("handshake params", handshake_params()),
        ("handshake result", handshake_result()),
        ("execute params", execute_params()),
        ("verdict", verdict()),
        ("outputs", outputs()),
    ] {
        definitions.insert(name.to_owned(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcptest plugin message",
        "description": format!(
            "One line of the subprocess protocol, version {PROTOCOL_VERSION}. The result of a hook is `#/$defs/HOOK result`, \
             where every matcher is the hook `{MATCHER}`."
        ),
        "oneOf": [reference("request"), reference("answer")],
        "$defs": definitions,
    })
}

struct Hook {
    name: &'static str,
    arguments: fn() -> Value,
    result: fn() -> Value,
}

/// Every hook that has no name of its own.
const MATCHER: &str = "matcher";

const HOOKS: [Hook; 4] = [
    Hook { name: MATCHER, arguments: matched, result: || reference("verdict") },
    Hook { name: OBSERVE, arguments: observed, result: || reference("outputs") },
    Hook { name: FINISH, arguments: || closed(&[], json!({})), result: || reference("outputs") },
    Hook { name: TRANSFORM, arguments: transformed, result: || json!({ "type": "object" }) },
];

/// The params are those of the method; a bare plugin's one method is its matcher.
fn request() -> Value {
    let properties = json!({
        "method": { "type": "string" },
        "params": {},
        "id": { "type": "integer", "minimum": 1, "description": "Minted by the host, unique in the plugin's life." },
    });
    let mut request = closed(&["method", "params", "id"], properties);
    request["allOf"] = json!([
        when("method", HANDSHAKE, "params", "handshake params"),
        when("method", EXECUTE, "params", "execute params"),
        otherwise("method", &[HANDSHAKE, EXECUTE], "params", "matcher arguments"),
    ]);
    request
}

/// Members that are not named here are ignored.
fn answer() -> Value {
    json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": { "type": "integer", "minimum": 1, "description": "That of the request." },
            "result": {},
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": { "code": { "type": "integer" }, "message": { "type": "string" }, "data": {} },
            },
        },
        "not": { "required": ["method"] },
        "oneOf": [{ "required": ["result"] }, { "required": ["error"] }],
    })
}

fn handshake_params() -> Value {
    let host = closed(&["name", "version"], json!({ "name": { "const": "mcptest" }, "version": word() }));
    let properties = json!({
        "protocol_version": { "const": PROTOCOL_VERSION },
        "host": host,
        "tools": words("What is wanted of it."),
        "capabilities": words("What it was granted."),
    });
    closed(&["protocol_version", "host", "tools", "capabilities"], properties)
}

fn handshake_result() -> Value {
    let manifest = json!({
        "type": "object",
        "required": ["plugin_id", "plugin_version", "protocol_version", "exposed_tools"],
        "properties": {
            "plugin_id": word(),
            "plugin_version": word(),
            "protocol_version": { "const": PROTOCOL_VERSION },
            "exposed_tools": words("What it has."),
            "capabilities": words("What it asks for; required where it was granted something."),
        },
    });
    json!({ "type": "object", "required": ["manifest"], "properties": { "manifest": manifest } })
}

fn execute_params() -> Value {
    let mut params = closed(&["tool", "arguments"], json!({ "tool": { "type": "string" }, "arguments": {} }));
    let named = || HOOKS.iter().map(|hook| hook.name).filter(|name| *name != MATCHER);
    let mut rules: Vec<Value> =
        named().map(|name| when("tool", name, "arguments", &format!("{name} arguments"))).collect();
    rules.push(otherwise("tool", &named().collect::<Vec<_>>(), "arguments", "matcher arguments"));
    params["allOf"] = Value::Array(rules);
    params
}

fn matched() -> Value {
    let properties = json!({
        "expected": { "description": "The argument of the matcher." },
        "actual": { "description": "The value." },
        "path": { "type": "string", "description": "Where it stands, as a JSON path." },
        "step": { "type": "string", "description": "`test-id/n`." },
    });
    closed(&["expected", "actual", "path", "step"], properties)
}

fn observed() -> Value {
    let event = json!({
        "type": "object",
        "required": ["seq", "at", "type", "data"],
        "description": "An event: see the schema `event`.",
    });
    closed(&["event"], json!({ "event": event }))
}

fn transformed() -> Value {
    let suite = json!({ "type": "object", "description": "The suite as it is written, variables not filled in." });
    closed(&["suite"], json!({ "suite": suite }))
}

fn verdict() -> Value {
    let text = json!({ "type": ["string", "null"] });
    let properties =
        json!({ "pass": { "type": "boolean" }, "message": text, "path": text, "expected": {}, "actual": {} });
    json!({ "anyOf": [{ "type": "boolean" }, closed(&["pass"], properties)] })
}

fn outputs() -> Value {
    let name = json!({ "type": ["string", "null"], "description": "A file in the reporter's own folder; without one, the main output." });
    let output = closed(&["text"], json!({ "name": name, "text": { "type": "string" } }));
    json!({ "anyOf": [{ "type": "null" }, { "type": "array", "items": output }] })
}

fn when(key: &str, value: &str, member: &str, definition: &str) -> Value {
    json!({
        "if": { "properties": { key: { "const": value } } },
        "then": { "properties": { member: reference(definition) } },
    })
}

fn otherwise(key: &str, values: &[&str], member: &str, definition: &str) -> Value {
    json!({
        "if": { "properties": { key: { "not": { "enum": values } } } },
        "then": { "properties": { member: reference(definition) } },
    })
}

fn word() -> Value {
    json!({ "type": "string", "pattern": WORD })
}

fn words(doc: &str) -> Value {
    json!({ "description": doc, "type": "array", "items": word(), "uniqueItems": true })
}
