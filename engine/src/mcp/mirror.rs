//! The headers in which a request of the modern era over HTTP says again what its body says, so that whoever stands between
//! client and server can route it without reading the body.
//!
//! ```text
//! Mcp-Method: tools/call
//! Mcp-Name: deploy
//! Mcp-Param-Region: us-west1               the argument whose schema says `x-mcp-header: Region`
//! Mcp-Param-Note: =?base64?w7xiZXI=?=      what a header cannot hold as it is
//! ```

use crate::source::Json;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashMap;

/// Where a request of the modern era names its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where a schema names the header of an argument.
const HEADER: &str = "x-mcp-header";
/// How deep arguments are looked for: a header belongs to what can be reached through `properties` alone.
const MOST_DEPTH: usize = 16;

/// What is known of a server's tools.
#[derive(Debug, Clone, Default)]
pub struct Mirror {
    tools: HashMap<String, Vec<Parameter>>,
}

/// An argument that is said again in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What follows `Mcp-Param-`.
    pub header: String,
    /// Where it stands in the arguments.
    pub path: Vec<String>,
}

impl Mirror {
    /// The headers of a line that is sent; none unless it speaks the modern era.
    pub fn of(&self, line: &[u8]) -> Vec<(String, String)> {
        if memchr::memmem::find(line, REVISION.as_bytes()).is_none() {
            return Vec::new();
        }
        let message: Json = serde_json::from_slice(line).unwrap_or_default();
        let meta = message.get("params").and_then(|params| params.get("_meta"));
        let Some(revision) = meta.and_then(|meta| meta.get(REVISION)?.as_str()) else { return Vec::new() };
        let mut headers = self.headers(&message);
        headers.push(("MCP-Protocol-Version".to_owned(), encode(revision)));
        headers
    }

    /// Takes in a line that came: a list of tools may say which arguments belong into headers.
    pub fn hear(&mut self, line: &[u8]) {
        if memchr::memmem::find(line, HEADER.as_bytes()).is_some()
            && let Ok(message) = serde_json::from_slice::<Json>(line)
            && let Some(result) = message.get("result")
        {
            self.learn(result);
        }
    }

    /// Takes in the tools of a `tools/list` result.
    pub fn learn(&mut self, result: &Json) {
        for tool in result.get("tools").and_then(Json::as_array).into_iter().flatten() {
            let (Some(name), Some(schema)) = (tool.get("name").and_then(Json::as_str), tool.get("inputSchema")) else {
                continue;
            };
            match parameters(schema) {
                Ok(parameters) if !parameters.is_empty() => drop(self.tools.insert(name.to_owned(), parameters)),
                _ => drop(self.tools.remove(name)),
            }
        }
    }

    /// The headers of a message.
    pub fn headers(&self, message: &Json) -> Vec<(String, String)> {
        let Some(method) = message.get("method").and_then(Json::as_str) else { return Vec::new() };
        let mut headers = vec![("Mcp-Method".to_owned(), encode(method))];
        let key = match method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => return headers,
        };
        let Some(name) = message.pointer(&format!("/params/{key}")).and_then(Json::as_str) else { return headers };
        headers.push(("Mcp-Name".to_owned(), encode(name)));
        let parameters = self.tools.get(name).filter(|_| method == "tools/call");
        for parameter in parameters.into_iter().flatten() {
            let arguments = message.pointer("/params/arguments");
            let value = parameter.path.iter().try_fold(arguments, |at, key| Some(at?.get(key))).flatten();
            let text = match value {
                Some(Json::String(text)) => text.clone(),
                Some(value @ (Json::Number(_) | Json::Bool(_))) => value.to_string(),
                _ => continue,
            };
            headers.push((format!("Mcp-Param-{}", parameter.header), encode(&text)));
        }
        headers
    }
}

/// The arguments of a schema that are said again in headers; a tool whose schema says it wrongly must not be used.
pub fn parameters(schema: &Json) -> Result<Vec<Parameter>, String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn collect(schema: &Json, path: &mut Vec<String>, found: &mut Vec<Parameter>) -> Result<(), String> {
    if path.len() > MOST_DEPTH {
        return Ok(());
    }
    for (name, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get(HEADER) {
            let header = header.as_str().ok_or_else(|| format!("the `x-mcp-header` of `{name}` is no text"))?;
            if header.is_empty() || !header.bytes().all(is_token) {
                return Err(format!("`{header}`, the `x-mcp-header` of `{name}`, cannot name a header"));
            }
            let kind = property.get("type").and_then(Json::as_str);
            if !matches!(kind, Some("string" | "integer" | "boolean")) {
                return Err(format!("`{name}` has an `x-mcp-header`, and is no text, integer or boolean"));
            }
            if found.iter().any(|other: &Parameter| other.header.eq_ignore_ascii_case(header)) {
                return Err(format!("the `x-mcp-header` `{header}` stands twice"));
            }
            found.push(Parameter { header: header.to_owned(), path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// What may stand in the name of a header (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A value as a header can hold it.
pub fn encode(text: &str) -> String {
    let plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(properties: Json) -> Json {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn requests_are_mirrored() {
        let properties = json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "in": {"type": "object", "properties": {"note": {"type": "string", "x-mcp-header": "Note"}}},
            "query": {"type": "string"},
        });
        let mut mirror = Mirror::default();
        mirror.learn(&json!({"tools": [{"name": "deploy", "inputSchema": schema(properties)}]}));
        let arguments = json!({"region": "us west", "count": 3, "dry": null, "in": {"note": "über"}, "query": "x"});
        let call = json!({"method": "tools/call", "params": {"name": "deploy", "arguments": arguments}});
        let headers: Vec<String> =
            mirror.headers(&call).into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let mut wanted = [
            "Mcp-Method: tools/call",
            "Mcp-Name: deploy",
            "Mcp-Param-Region: us west",
            "Mcp-Param-Count: 3",
            "Mcp-Param-Note: =?base64?w7xiZXI=?=",
        ];
        wanted.sort_unstable();
        let mut headers = headers;
        headers.sort_unstable();
        assert_eq!(headers, wanted);
        let read = json!({"method": "resources/read", "params": {"uri": "file:///ä"}});
        assert_eq!(mirror.headers(&read)[1], ("Mcp-Name".to_owned(), "=?base64?ZmlsZTovLy/DpA==?=".to_owned()));
        assert_eq!(mirror.headers(&json!({"method": "tools/list"})).len(), 1);
        assert!(mirror.headers(&json!({"id": 1, "result": {}})).is_empty());
    }

    #[test]
    fn what_a_header_cannot_hold_is_encoded() {
        assert_eq!(encode("us west 1"), "us west 1");
        assert_eq!(encode(""), "");
        for text in [" a", "a ", "a\tb", "a\r\nb", "ü", "=?base64?eA==?="] {
            let inside =
                encode(text).strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")).map(str::to_owned);
            assert_eq!(STANDARD.decode(inside.expect(text)).expect("base64"), text.as_bytes());
        }
    }

    #[test]
    fn wrong_headers_spoil_a_tool() {
        let wrong = [
            json!({"a": {"type": "string", "x-mcp-header": ""}}),
            json!({"a": {"type": "object", "x-mcp-header": "A"}}),
            json!({"a": {"type": "number", "x-mcp-header": "A"}}),
            json!({"a": {"x-mcp-header": "A"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A b"}}),
            json!({"a": {"type": "string", "x-mcp-header": "Ä"}}),
            json!({"a": {"type": "string", "x-mcp-header": 3}}),
        ];
        for properties in wrong {
            assert!(parameters(&schema(properties.clone())).is_err(), "{properties}");
        }
        assert_eq!(parameters(&json!({"type": "object"})), Ok(Vec::new()));
    }
}
