//! The headers of the modern era, which repeat what a message says so that nobody on the way has to read it.
//!
//! ```text
//! MCP-Protocol-Version: 2026-07-28      what `_meta` of the message names
//! Mcp-Method: tools/call
//! Mcp-Name: echo                        of tools/call, prompts/get and resources/read; the id of a task
//! Mcp-Param-Region: =?base64?w6k=?=     an argument whose schema says `x-mcp-header: Region`
//! ```
//!
//! A message belongs to the modern era when its `_meta` says so: the suite can leave it out, and then gets none of these.

use crate::mcp::era::PROTOCOL_VERSION;
use crate::mcp::mirror::{self, Parameter};
use crate::source::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use memchr::memmem;
use std::collections::HashMap;

/// What was learnt of a server's tools.
#[derive(Debug, Default)]
pub(super) struct Standard {
    /// The arguments of each that stand in headers too, or what is wrong with the way it says so.
    tools: HashMap<String, Result<Vec<Parameter>, String>>,
    /// The last listing that was asked for.
    listing: Option<Json>,
}

/// What is repeated of a message.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// None of another era.
    pub(super) headers: HeaderMap,
    /// Why some are missing.
    pub(super) note: Option<String>,
}

impl Standard {
    /// The headers of a message.
    pub(super) fn repeat(&mut self, text: &[u8]) -> Repeated {
        // Most messages are of the other era, and need not be read again.
        memmem::find(text, PROTOCOL_VERSION.as_bytes()).and_then(|_| self.read(text)).unwrap_or_default()
    }

    fn read(&mut self, text: &[u8]) -> Option<Repeated> {
        let message = serde_json::from_slice::<Json>(text).ok()?;
        let (method, params) = (message.get("method")?.as_str()?, message.get("params")?);
        let version = params.get("_meta")?.get(PROTOCOL_VERSION)?.as_str()?;
        let mut repeated = Repeated::default();
        let mut put = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
                repeated.headers.insert(name, value);
            }
        };
        put(HeaderName::from_static("mcp-protocol-version"), version);
        put(HeaderName::from_static("mcp-method"), method);
        let key = match method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
            _ => "",
        };
        let name = params.get(key).and_then(Json::as_str);
        if let Some(name) = name {
            put(HeaderName::from_static("mcp-name"), name);
        }
        if method == "tools/list" {
            self.listing = message.get("id").cloned();
        }
        match name.filter(|_| method == "tools/call").and_then(|name| Some((name, self.tools.get(name)?))) {
            Some((_, Ok(declared))) => {
                let arguments = params.get("arguments").unwrap_or(&Json::Null);
                for Parameter { header, path } in declared {
                    let Ok(header) = format!("mcp-param-{header}").parse::<HeaderName>() else { continue };
                    match path.iter().try_fold(arguments, |value, key| value.get(key)) {
                        Some(Json::String(text)) => put(header, text),
                        Some(scalar @ (Json::Bool(_) | Json::Number(_))) => put(header, &scalar.to_string()),
                        _ => {}
                    }
                }
            }
            Some((name, Err(why))) => {
                repeated.note = Some(format!("clients refuse to call `{name}` over HTTP: {why}"));
            }
            None => {}
        }
        Some(repeated)
    }

    /// Whether the tools were asked for.
    pub(super) fn has_listed(&self) -> bool {
        self.listing.is_some()
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
            self.tools.insert(name.to_owned(), mirror::parameters(schema));
        }
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
        let meta = json!({PROTOCOL_VERSION: "2026-07-28"});
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
        assert_eq!(shown(&standard.repeat(&call(json!({"region": null}))).headers), plain);
        let headers = standard.repeat(&call(json!({"region": "é", "deep": {"n": 7}}))).headers;
        assert_eq!(shown(&headers)[2..4], ["mcp-param-n: 7", "mcp-param-region: =?base64?w6k=?="]);
    }

    #[test]
    fn a_tool_that_says_its_headers_wrongly_gets_none_and_a_note() {
        let mut standard = Standard::default();
        let good = json!({"type": "string", "x-mcp-header": "Region"});
        let schema = json!({"properties": {"region": good, "n": {"type": "number", "x-mcp-header": "N"}}});
        standard.learn(&json!({"tools": [{"name": "weather", "inputSchema": schema}]}));
        let repeated = standard.repeat(&call(json!({"region": "a", "n": 1})));
        assert!(!repeated.headers.contains_key("mcp-param-region"));
        let note = repeated.note.expect("a note");
        assert!(note.contains("`weather`") && note.contains("`n` has an `x-mcp-header`"), "{note}");
    }

    #[test]
    fn a_message_of_the_legacy_era_is_not() {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
        assert!(Standard::default().repeat(text).headers.is_empty());
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
