//! What `tools/call` gives, as the result of a hook.

use crate::source::Json;

/// A tool's result: its structured content; where there is none, the JSON that its only text is; where there is no text
/// either, `null`. The error is the text of a result that says `isError`, or what is wrong with it.
pub(super) fn of(result: &Json) -> Result<String, Outcome> {
    let texts: Vec<&str> =
        result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).collect();
    if result["isError"] == true {
        return Err(Outcome::Failed(texts.join("\n")));
    }
    if let Some(structured) = result.get("structuredContent").filter(|structured| !structured.is_null()) {
        return Ok(unwrapped(structured).to_string());
    }
    match texts[..] {
        [] => Ok("null".to_owned()),
        [text] if serde_json::from_str::<Json>(text).is_ok() => Ok(text.replace(['\n', '\r'], " ")),
        _ => Err(Outcome::Unreadable("it has no structured content, and its text is not JSON")),
    }
}

/// Why there is no result.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// The tool says that it failed.
    Failed(String),
    /// It is no result of a hook.
    Unreadable(&'static str),
}

/// SDKs put what is no object under `result`; no hook returns an object with that key alone.
fn unwrapped(structured: &Json) -> &Json {
    match structured.as_object() {
        Some(object) if object.len() == 1 => object.get("result").unwrap_or(structured),
        _ => structured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn structured_content_is_the_result() {
        assert_eq!(of(&json!({"structuredContent": {"pass": true}})), Ok(r#"{"pass":true}"#.into()));
        assert_eq!(of(&json!({"structuredContent": {"result": false}})), Ok("false".into()));
        assert_eq!(of(&json!({"content": [{"type": "text", "text": "true"}]})), Ok("true".into()));
        assert_eq!(of(&json!({"content": []})), Ok("null".into()));
        assert!(matches!(of(&json!({"content": [{"text": "hello"}]})), Err(Outcome::Unreadable(_))));
        let failed = of(&json!({"isError": true, "content": [{"text": "no"}]}));
        assert_eq!(failed, Err(Outcome::Failed("no".into())));
    }
}
