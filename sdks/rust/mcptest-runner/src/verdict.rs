//! The verdict of `mcp.call`.
//!
//! ```json
//! {"success":true,"data":null,"text":"sunny","error":null,"duration_ms":3}
//! ```
//!
//! A result that this shape would lose something of comes verbatim instead: `{"content":[…],"isError":false}`.

use crate::answer::typed;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether the tool did not report an error.
    pub success: bool,
    /// The structured content, or null.
    pub data: Value,
    /// The text blocks, joined by newlines.
    pub text: String,
    /// The text of a call that failed.
    pub error: Option<String>,
    /// How long the call took; the binary does not tell it for a result that it forwards verbatim.
    pub duration_ms: Option<f64>,
    /// The server's whole result, when it holds more than text and structured content: images, audio, resources, links.
    pub raw: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    success: bool,
    #[serde(deserialize_with = "present")]
    data: Value,
    #[serde(deserialize_with = "present")]
    text: Option<String>,
    #[serde(deserialize_with = "present")]
    error: Option<String>,
    duration_ms: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Verbatim {
    content: Vec<Value>,
    #[serde(default)]
    structured_content: Value,
    #[serde(default)]
    is_error: bool,
    #[serde(default, rename = "_meta")]
    _meta: Value,
}

/// Null is a value here, and absence is not.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

/// Reads either shape; the error says what is wrong with it.
pub(crate) fn read(result: Value) -> Result<Verdict, String> {
    if result.get("content").is_none() {
        let Wire { success, data, text, error, duration_ms } = typed(result)?;
        let text = text.unwrap_or_default();
        return Ok(Verdict { success, data, text, error, duration_ms: Some(duration_ms), raw: None });
    }
    let Verbatim { content, structured_content, is_error, .. } = typed(result.clone())?;
    let texts: Vec<&str> = content.iter().filter(|block| block["type"] == "text").filter_map(text_of).collect();
    let text = texts.join("\n");
    let error = is_error.then(|| text.clone());
    Ok(Verdict { success: !is_error, data: structured_content, text, error, duration_ms: None, raw: Some(result) })
}

fn text_of(block: &Value) -> Option<&str> {
    block["text"].as_str()
}
