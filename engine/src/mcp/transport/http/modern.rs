//! What requests of the modern era say in their headers, so that nobody on the way has to read their bodies.
//!
//! ```text
//! MCP-Protocol-Version   what stands in `_meta`
//! Mcp-Method             the method
//! Mcp-Name               the tool, the prompt or the URI
//! Mcp-Param-NAME         an argument whose schema has `x-mcp-header: NAME`
//! ```
//!
//! A value that no header can hold is written in base64, between `=?base64?` and `?=`.

use crate::mcp::era::{MODERN, PROTOCOL_VERSION};
use crate::mcp::message::{Kind, Message};
use crate::source::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::collections::HashMap;

const ANNOTATION: &str = "x-mcp-header";
const SENTINEL: &str = "=?base64?";
/// How deep schemas are looked into.
const MOST_DEPTH: usize = 16;

/// The arguments that go into headers, by tool, as the lists of tools declared them.
#[derive(Debug, Default)]
pub(super) struct Declared(HashMap<String, Vec<(HeaderName, Vec<String>)>>);

impl Declared {
    /// Learns from a message that may hold a list of tools; says which tools a client has to leave out.
    pub(super) fn learn(&mut self, message: &Message) -> Vec<String> {
        let is_result = matches!(message.kind, Kind::Response { is_error: false, .. });
        if !is_result || !message.body_text().is_some_and(|text| text.contains(ANNOTATION)) {
            return Vec::new();
        }
        let Ok(result) = message.body() else { return Vec::new() };
        let mut problems = Vec::new();
        for tool in result.get("tools").and_then(Json::as_array).into_iter().flatten() {
            let Some(name) = tool.get("name").and_then(Json::as_str) else { continue };
            let mut found = Vec::new();
            let schema = tool.get("inputSchema").unwrap_or(&Json::Null);
            match declared(schema, &mut Vec::new(), &mut found) {
                Ok(()) if found.is_empty() => drop(self.0.remove(name)),
                Ok(()) => drop(self.0.insert(name.to_owned(), found)),
                Err(why) => {
                    self.0.remove(name);
                    problems.push(format!("clients leave the tool `{name}` out, because {why}"));
                }
            }
        }
        problems
    }

    /// The headers of a request that belongs to the modern era; `None` for every other message.
    pub(super) fn headers(&self, text: &[u8]) -> Option<HeaderMap> {
        if !std::str::from_utf8(text).is_ok_and(|text| text.contains(PROTOCOL_VERSION)) {
            return None;
        }
        let message: Json = serde_json::from_slice(text).ok()?;
        let (method, params) = (message.get("method")?.as_str()?, message.get("params")?);
        let revision = params.get("_meta")?.get(PROTOCOL_VERSION)?.as_str()?;
        let mut headers = HeaderMap::new();
        let mut put = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
                headers.insert(name, value);
            }
        };
        put(HeaderName::from_static("mcp-protocol-version"), revision);
        put(HeaderName::from_static("mcp-method"), method);
        let name = match method {
            "tools/call" | "prompts/get" => params.get("name"),
            "resources/read" => params.get("uri"),
            _ => None,
        };
        let Some(name) = name.and_then(Json::as_str) else { return Some(headers) };
        put(HeaderName::from_static("mcp-name"), name);
        let declared = self.0.get(name).filter(|_| method == "tools/call");
        for (header, path) in declared.into_iter().flatten() {
            let arguments = params.get("arguments").unwrap_or(&Json::Null);
            match path.iter().try_fold(arguments, |value, key| value.get(key)) {
                Some(Json::String(value)) => put(header.clone(), value),
                Some(value @ (Json::Number(_) | Json::Bool(_))) => put(header.clone(), &value.to_string()),
                _ => {}
            }
        }
        Some(headers)
    }
}

/// Whether a revision is one of the modern era.
pub(super) fn is_modern(revision: &HeaderValue) -> bool {
    revision.to_str().is_ok_and(|revision| MODERN.contains(&revision))
}

/// Finds the annotations below a schema; the error says what is wrong with one of them.
fn declared(schema: &Json, path: &mut Vec<String>, found: &mut Vec<(HeaderName, Vec<String>)>) -> Result<(), String> {
    for (key, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        path.push(key.clone());
        if let Some(name) = property.get(ANNOTATION) {
            let header =
                header(name).ok_or_else(|| format!("`{ANNOTATION}` of `{key}` cannot name a header: {name}"))?;
            let kind = property.get("type").and_then(Json::as_str).unwrap_or("nothing");
            if !["string", "integer", "number", "boolean"].contains(&kind) {
                return Err(format!("`{key}` has an `{ANNOTATION}` and is {kind}, not text, a number or a boolean"));
            }
            if found.iter().any(|(known, _)| *known == header) {
                return Err(format!("two of its arguments have the `{ANNOTATION}` {name}"));
            }
            found.push((header, path.clone()));
        }
        if path.len() < MOST_DEPTH {
            declared(property, path, found)?;
        }
        path.pop();
    }
    Ok(())
}

fn header(name: &Json) -> Option<HeaderName> {
    let name = name.as_str().filter(|name| !name.is_empty())?;
    HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).ok()
}

/// A value as a header can hold it.
fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if plain && value.trim() == value && !value.starts_with(SENTINEL) {
        return value.to_owned();
    }
    format!("{SENTINEL}{}?=", STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::message::{Line, parse_line};
    use serde_json::json;

    fn learnt(schema: Json) -> (Declared, Vec<String>) {
        let tools = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t", "inputSchema": schema}]}});
        let mut declared = Declared::default();
        let Line::Message(message) = parse_line(tools.to_string().as_bytes()) else { panic!("a message") };
        let problems = declared.learn(&message);
        (declared, problems)
    }

    fn call(declared: &Declared, arguments: Json) -> Vec<String> {
        let meta = json!({PROTOCOL_VERSION: "2026-07-28"});
        let params = json!({"name": "t", "arguments": arguments, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = declared.headers(request.to_string().as_bytes()).expect("it is modern");
        let shown = headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or("?")));
        shown.collect()
    }

    #[test]
    fn a_modern_request_says_what_it_is() {
        let says = call(&Declared::default(), json!({}));
        assert_eq!(says, ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "mcp-name: t"]);
        let legacy = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
        assert!(Declared::default().headers(legacy.as_bytes()).is_none());
    }

    #[test]
    fn declared_arguments_go_into_headers() {
        let place = json!({"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}});
        let properties = json!({"n": {"type": "integer", "x-mcp-header": "N"}, "place": place});
        let (declared, problems) = learnt(json!({"type": "object", "properties": properties}));
        assert_eq!(problems, Vec::<String>::new());
        let says = call(&declared, json!({"n": 7, "place": {"city": "Köln"}}));
        assert_eq!(says[3..], ["mcp-param-n: 7", "mcp-param-city: =?base64?S8O2bG4=?="]);
        assert_eq!(call(&declared, json!({})).len(), 3);
    }

    #[test]
    fn declarations_that_no_header_can_follow_are_said() {
        for property in [
            json!({"type": "string", "x-mcp-header": ""}),
            json!({"type": "string", "x-mcp-header": "a b"}),
            json!({"type": "string", "x-mcp-header": 3}),
            json!({"type": "array", "x-mcp-header": "A"}),
        ] {
            let (declared, problems) = learnt(json!({"properties": {"a": property}}));
            assert_eq!(problems.len(), 1, "{property}");
            assert_eq!(call(&declared, json!({"a": "x"})).len(), 3, "{property}");
        }
        let twice = json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}});
        assert!(learnt(json!({"properties": twice})).1[0].contains("two of its arguments"));
    }

    #[test]
    fn what_no_header_can_hold_is_encoded() {
        assert_eq!(encoded("plain text"), "plain text");
        assert_eq!(encoded(" a"), "=?base64?IGE=?=");
        assert_eq!(encoded("a\nb"), "=?base64?YQpi?=");
        assert_eq!(encoded("=?base64?x?="), "=?base64?PT9iYXNlNjQ/eD89?=");
    }
}
