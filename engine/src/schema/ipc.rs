//! The JSON Schema of the coprocess protocol: every frame that crosses the channel.

use serde_json::{Map, Value, json};

/// A frame: a request of the SDK, or a response of the binary.
pub(super) fn document() -> Value {
    let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    let mut definitions = Map::new();
    for method in METHODS {
        definitions.insert(format!("{} params", method.name), (method.params)());
        definitions.insert(format!("{} result", method.name), (method.result)());
    }
    definitions.insert("request".into(), request(&names));
    definitions.insert("response".into(), response());
    definitions.insert("verdict".into(), verdict());
    definitions.insert("id".into(), json!({ "type": ["number", "string"] }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcptest coprocess frame",
        "description": "One line of the coprocess protocol, version 2. The result of a method is `#/$defs/METHOD result`.",
        "oneOf": [reference("request"), reference("response")],
        "$defs": definitions,
    })
}

struct Method {
    name: &'static str,
    params: fn() -> Value,
    result: fn() -> Value,
}

const METHODS: &[Method] = &[
    Method { name: "coprocess/handshake", params: handshake_params, result: handshake_result },
    Method { name: "mcp.initialize", params: none, result: initialized },
    Method { name: "mcp.call", params: || named("tool"), result: called },
    Method { name: "mcp.listTools", params: none, result: || lists(&["tools"]) },
    Method { name: "mcp.listResources", params: none, result: || lists(&["resources", "resourceTemplates"]) },
    Method { name: "mcp.readResource", params: || closed(&["uri"], json!({ "uri": text() })), result: anything },
    Method { name: "mcp.callPrompt", params: || named("prompt"), result: anything },
    Method { name: "mcp.cassette.set_mode", params: cassette_params, result: || mode(&["record", "replay", "off"]) },
    Method { name: "mcp.cache.set_mode", params: || mode(CACHE), result: || mode(CACHE) },
    Method { name: "mcp.reporter.setUpload", params: upload_params, result: done },
    Method { name: "mcp.reporter.flush", params: none, result: flushed },
    Method { name: "mcp.suite.plan", params: || closed(&["path"], json!({ "path": text() })), result: planned },
    Method { name: "mcp.suite.run", params: || closed(&["id"], json!({ "id": text() })), result: tested },
    Method { name: "mcp.shutdown", params: none, result: done },
];

const CACHE: &[&str] = &["read", "write", "readwrite", "off"];

fn request(names: &[&str]) -> Value {
    let params = METHODS.iter().map(|method| {
        json!({
            "if": { "properties": { "method": { "const": method.name } } },
            "then": { "properties": { "params": reference(&format!("{} params", method.name)) } },
        })
    });
    let properties = json!({
        "jsonrpc": { "const": "2.0" },
        "id": reference("id"),
        "method": { "enum": names },
        "params": { "type": ["object", "null"] },
    });
    let mut request = closed(&["jsonrpc", "id", "method"], properties);
    request["allOf"] = params.collect();
    request
}

fn response() -> Value {
    let error = closed(
        &["code", "message"],
        json!({
            "code": { "enum": [-32700, -32600, -32601, -32602, -32603, -32000, -32001] },
            "message": text(),
            "data": {},
        }),
    );
    let id = json!({ "type": ["number", "string", "null"] });
    let properties = json!({ "jsonrpc": { "const": "2.0" }, "id": id, "result": { "type": "object" }, "error": error });
    let mut response = closed(&["jsonrpc", "id"], properties);
    response["oneOf"] = json!([{ "required": ["result"] }, { "required": ["error"] }]);
    response
}

fn handshake_params() -> Value {
    let properties = json!({ "protocol_version": { "const": 2 }, "sdk": text(), "sdk_version": text() });
    closed(&["protocol_version"], properties)
}

fn handshake_result() -> Value {
    let properties = json!({ "protocol_version": { "const": 2 }, "binary_version": text() });
    closed(&["protocol_version", "binary_version"], properties)
}

fn initialized() -> Value {
    json!({ "type": "object", "required": ["ready"], "properties": { "ready": { "const": true } } })
}

/// The verdict, or the server's own result where the verdict would lose something of it.
fn called() -> Value {
    let own = json!({
        "type": "object",
        "required": ["content"],
        "properties": { "content": { "type": "array" }, "isError": { "type": "boolean" } },
    });
    json!({ "oneOf": [reference("verdict"), own] })
}

fn verdict() -> Value {
    let maybe_text = json!({ "type": ["string", "null"] });
    let properties = json!({
        "success": { "type": "boolean" },
        "data": {},
        "text": maybe_text,
        "error": maybe_text,
        "duration_ms": { "type": "integer", "minimum": 0 },
    });
    closed(&["success", "data", "text", "error", "duration_ms"], properties)
}

fn cassette_params() -> Value {
    let properties = json!({ "mode": { "enum": ["record", "replay", "off"] }, "path": text() });
    closed(&["mode"], properties)
}

fn upload_params() -> Value {
    closed(&["url"], json!({ "url": text(), "token_env": text() }))
}

fn flushed() -> Value {
    closed(&["events", "to"], json!({ "events": { "type": "integer", "minimum": 0 }, "to": text() }))
}

fn planned() -> Value {
    let line = json!({ "type": "integer", "minimum": 1 });
    let properties = json!({ "id": text(), "lane": text(), "name": text(), "line": line, "skip": text() });
    let test = closed(&["id", "lane", "name", "line"], properties);
    closed(&["tests"], json!({ "tests": { "type": "array", "items": test } }))
}

/// The test's object of the `json` report, to which fields may be added.
fn tested() -> Value {
    json!({
        "type": "object",
        "required": ["it", "status", "durationMs", "failures", "id", "lane", "line", "server"],
        "properties": {
            "it": text(),
            "status": { "enum": ["passed", "failed", "faulted", "skipped"] },
            "durationMs": { "type": "number", "minimum": 0 },
            "failures": { "type": "array", "items": { "type": "object", "required": ["kind", "message", "at"] } },
            "id": text(),
            "lane": text(),
            "line": { "type": "integer", "minimum": 1 },
            "server": text(),
            "reason": text(),
        },
    })
}

fn done() -> Value {
    closed(&["ok"], json!({ "ok": { "const": true } }))
}

fn none() -> Value {
    json!({ "type": ["object", "null"], "additionalProperties": false })
}

fn named(key: &str) -> Value {
    closed(&[key], json!({ key: text(), "arguments": { "type": ["object", "null"] } }))
}

fn mode(modes: &[&str]) -> Value {
    closed(&["mode"], json!({ "mode": { "enum": modes } }))
}

fn lists(keys: &[&str]) -> Value {
    let lists: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), json!({ "type": "array" }))).collect();
    closed(keys, Value::Object(lists))
}

fn anything() -> Value {
    json!({ "type": "object" })
}

fn text() -> Value {
    json!({ "type": "string" })
}

/// An object with these members and no other.
pub(crate) fn closed(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

/// `/` and spaces stand in names of methods, so they are written as a pointer in a URI writes them.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{}", name.replace('/', "~1").replace(' ', "%20")) })
}
