//! What a tool call came to, in the shape that SDKs type.
//!
//! ```json
//! {"success":true,"data":null,"text":"sunny","error":null,"duration_ms":3}
//! ```
//!
//! A result that this shape would lose something of, such as an image, is forwarded as it came. Both shapes are closed:
//! fields that servers and newer revisions of MCP add to a result are no part of the channel.

use super::frame::{Refusal, plain};
use super::upstream::odd;
use crate::mcp::message::Message;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult<'a> {
    #[serde(borrow)]
    content: Option<Vec<Block<'a>>>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

/// What is forwarded of a result.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Forwarded<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(borrow, rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Verdict<'a> {
    success: bool,
    data: Option<&'a RawValue>,
    text: Option<&'a str>,
    error: Option<&'a str>,
    duration_ms: u64,
}

/// The text of the verdict on a result of `tools/call`.
pub(super) fn verdict(text: &str, took: Duration) -> Result<String, Refusal> {
    // A list would be read as the fields in their order.
    if !text.trim_start().starts_with('{') {
        return Err(odd("the answer to `tools/call` is no result of a tool, which is an object".into()));
    }
    let result: ToolResult<'_> = serde_json::from_str(text)
        .map_err(|error| odd(format!("the answer to `tools/call` is no result of a tool: {}", plain(&error))))?;
    if result.content.is_none() && result.structured_content.is_none() {
        return Err(odd("the answer to `tools/call` has neither `content` nor `structuredContent`".into()));
    }
    let blocks = result.content.unwrap_or_default();
    if blocks.iter().any(|block| block.kind != "text" || block.text.is_none()) {
        let forwarded = serde_json::from_str::<Forwarded<'_>>(text).and_then(|found| serde_json::to_string(&found));
        return forwarded.map_err(|error| Refusal::internal(plain(&error)));
    }
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
    let joined = (!texts.is_empty()).then(|| texts.join("\n"));
    let success = !result.is_error.unwrap_or(false);
    let said = joined.as_deref().filter(|text| !text.is_empty());
    let data = result.structured_content;
    let why = said.or(data.map(RawValue::get)).unwrap_or("the tool failed, and did not say why");
    let verdict = Verdict {
        success,
        data,
        text: joined.as_deref(),
        error: (!success).then_some(why),
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    };
    serde_json::to_string(&verdict).map_err(|error| Refusal::internal(error.to_string()))
}

/// The result as it came, or, when it holds what no reader of JSON would take, as it can be read.
pub(super) fn clean(answer: &Message) -> Result<Cow<'_, str>, Refusal> {
    match answer.body_text() {
        Some(text) if answer.notes.is_empty() => Ok(text.into()),
        _ => answer.body().map(|value| value.to_string().into()).map_err(|malformed| odd(malformed.why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::message::{Line, parse_line};

    fn verdict_of(result: &str) -> Result<String, String> {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let Line::Message(message) = parse_line(line.as_bytes()) else { panic!("{line}") };
        verdict(&clean(&message).unwrap(), Duration::from_micros(3700)).map_err(|refusal| refusal.message)
    }

    #[test]
    fn texts_are_joined_and_data_is_kept_as_it_came() {
        assert_eq!(
            verdict_of(
                r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"n":1.50}}"#
            ),
            Ok(r#"{"success":true,"data":{"n":1.50},"text":"a\nb","error":null,"duration_ms":3}"#.into())
        );
        assert_eq!(
            verdict_of(r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#),
            Ok(r#"{"success":false,"data":null,"text":"no","error":"no","duration_ms":3}"#.into())
        );
        assert_eq!(
            verdict_of(r#"{"content":[],"isError":true}"#),
            Ok(r#"{"success":false,"data":null,"text":null,"error":"the tool failed, and did not say why","duration_ms":3}"#.into())
        );
    }

    #[test]
    fn what_would_be_lost_is_forwarded() {
        let image = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"isError":false}"#;
        assert_eq!(verdict_of(image), Ok(image.into()));
        let modern = r#"{"resultType":"complete","content":[{"type":"image","of":1.50}],"_meta":{"a":1},"of":"ours"}"#;
        assert_eq!(verdict_of(modern), Ok(r#"{"content":[{"type":"image","of":1.50}],"_meta":{"a":1}}"#.into()));
    }

    #[test]
    fn what_is_no_result_is_said_to_be_none() {
        assert!(verdict_of("{}").unwrap_err().contains("neither `content`"));
        let why = verdict_of(r#"{"content":[7]}"#).unwrap_err();
        assert!(why.ends_with("no result of a tool: invalid type: integer `7`, expected an object"), "{why}");
        for what in ["null", "7", "[[], 7, false]"] {
            let why = verdict_of(what).unwrap_err();
            assert!(why.ends_with("is no result of a tool, which is an object"), "{why}");
        }
    }
}
