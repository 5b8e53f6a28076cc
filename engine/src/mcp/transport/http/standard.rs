//! The headers of the modern era, which repeat what a message says so that nobody on the way has to read it.
//!
//! ```text
//! MCP-Protocol-Version: 2026-07-28      what `_meta` of the message names
//! Mcp-Method: tools/call
//! Mcp-Name: echo                        of tools/call, prompts/get and resources/read
//! Mcp-Param-Region: =?base64?w6k=?=     an argument whose schema says `x-mcp-header: Region`
//! ```
//!
//! A message belongs to the modern era when its `_meta` says so: the suite can leave it out, and then gets none of these.

use crate::source::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use memchr::memmem;
use std::collections::HashMap;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where schemas nest deeper than this, nobody looks for headers.
const MOST_DEPTH: usize = 16;

/// The arguments of a tool that stand in headers too: the header, and the way to the argument.
type Parameters = Vec<(HeaderName, Vec<String>)>;

/// What was learnt of a server's tools.
#[derive(Debug, Default)]
pub(super) struct Standard {
    tools: HashMap<String, Parameters>,
    /// The listing that is under way.
    listing: Option<Json>,
}

impl Standard {
    /// The headers of a message; none of another era.
    pub(super) fn headers(&mut self, text: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if memmem::find(text, VERSION.as_bytes()).is_none() {
            return headers;
        }
        let Ok(message) = serde_json::from_slice::<Json>(text) else { return headers };
        let Some(method) = message.get("method").and_then(Json::as_str) else { return headers };
        let params = message.get("params");
        let Some(version) = params.and_then(|params| params.get("_meta")?.get(VERSION)?.as_str()) else {
            return headers;
        };
        let mut put = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
                headers.insert(name, value);
            }
        };
        put(HeaderName::from_static("mcp-protocol-version"), version);
        put(HeaderName::from_static("mcp-method"), method);
        let key = match method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => "",
        };
        let name = params.and_then(|params| params.get(key)?.as_str());
        if let Some(name) = name {
            put(HeaderName::from_static("mcp-name"), name);
        }
        if method == "tools/list" {
            self.listing = message.get("id").cloned();
        }
        let declared = name.filter(|_| method == "tools/call").and_then(|name| self.tools.get(name));
        for (header, path) in declared.into_iter().flatten() {
            let arguments = params.and_then(|params| params.get("arguments"));
            let argument = path.iter().try_fold(arguments, |value, key| Some(value?.get(key))).flatten();
            match argument {
                Some(Json::String(text)) => put(header.clone(), text),
                Some(scalar @ (Json::Bool(_) | Json::Number(_))) => put(header.clone(), &scalar.to_string()),
                _ => {}
            }
        }
        headers
    }

    /// Whether an answer lists tools, so that it is worth reading.
    pub(super) fn awaits(&self, id: &Json) -> bool {
        self.listing.as_ref() == Some(id)
    }

    /// Learns from the result of `tools/list`.
    pub(super) fn learn(&mut self, result: &Json) {
        for tool in result.get("tools").and_then(Json::as_array).into_iter().flatten() {
            let (Some(name), Some(schema)) = (tool.get("name").and_then(Json::as_str), tool.get("inputSchema")) else {
                continue;
            };
            let mut parameters = Parameters::new();
            annotated(schema, &mut Vec::new(), &mut parameters);
            self.tools.insert(name.to_owned(), parameters);
        }
    }
}

/// Every property below a schema that says `x-mcp-header`.
fn annotated(schema: &Json, path: &mut Vec<String>, found: &mut Parameters) {
    if path.len() >= MOST_DEPTH {
        return;
    }
    for (key, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        path.push(key.clone());
        let header = property.get("x-mcp-header").and_then(Json::as_str).filter(|name| !name.is_empty());
        if let Some(header) = header.and_then(|name| format!("mcp-param-{name}").parse().ok()) {
            found.push((header, path.clone()));
        }
        annotated(property, path, found);
        path.pop();
    }
}

/// A value as a header can hold it: as it is, or in base64 with a mark.
fn encoded(value: &str) -> String {
    let visible = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let plain = visible && value.trim() == value && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if plain { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(arguments: Json) -> Vec<u8> {
        let meta = json!({VERSION: "2026-07-28"});
        let params = json!({"name": "weather", "arguments": arguments, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string().into_bytes()
    }

    fn shown(headers: &HeaderMap) -> Vec<String> {
        let mut shown: Vec<String> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().expect("text"))).collect();
        shown.sort();
        shown
    }

    #[test]
    fn a_message_of_the_modern_era_is_repeated_in_headers() {
        let mut standard = Standard::default();
        let region = json!({"type": "string", "x-mcp-header": "Region"});
        let deep = json!({"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}});
        let schema = json!({"type": "object", "properties": {"region": region, "deep": deep}});
        standard.learn(&json!({"tools": [{"name": "weather", "inputSchema": schema}]}));
        let plain = ["mcp-method: tools/call", "mcp-name: weather", "mcp-protocol-version: 2026-07-28"];
        assert_eq!(shown(&standard.headers(&call(json!({"region": null})))), plain);
        let headers = standard.headers(&call(json!({"region": "é", "deep": {"n": 7}})));
        assert_eq!(shown(&headers)[2..4], ["mcp-param-n: 7", "mcp-param-region: =?base64?w6k=?="]);
    }

    #[test]
    fn a_message_of_the_legacy_era_is_not() {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
        assert!(Standard::default().headers(text).is_empty());
    }

    #[test]
    fn what_cannot_stand_in_a_header_is_marked() {
        let cases = [("a b", "a b"), (" a", "=?base64?IGE=?="), ("a\nb", "=?base64?YQpi?="), ("", "")];
        for (value, expected) in cases {
            assert_eq!(encoded(value), expected);
        }
        assert_eq!(encoded("=?base64?YQ==?="), "=?base64?PT9iYXNlNjQ/WVE9PT89?=");
    }
}
