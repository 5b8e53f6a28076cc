//! Why a line that was meant as a message is none.
//!
//! A server whose answer cannot be read looks like one that does not answer. What it wrote says more than the silence:
//! `NaN` in its JSON, a message spread over several lines, text before the message on the same line.

use serde_json::error::Category;
use serde_json::value::RawValue;

/// Words that are numbers in some languages and nothing in JSON.
const NO_NUMBERS: [&str; 3] = ["NaN", "nan", "Infinity"];

/// How the messages of other protocols begin.
const HEADER: &str = "content-length:";
/// How much of a line without an end is shown.
const SHOWN: usize = 60;

/// What is wrong with a line whose end has not come.
pub fn unfinished(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let shown = text.trim();
    if shown.is_empty() {
        return None;
    }
    let cut = shown.char_indices().nth(SHOWN).map(|(at, _)| format!("{}…", &shown[..at]));
    let end = if text.ends_with('\r') { "ends with `\\r` alone" } else { "has no newline at its end" };
    Some(format!("what came last on stdout {end}: `{}`; a message ends with `\\n`", cut.as_deref().unwrap_or(shown)))
}

/// Whether a line on stderr is an answer that belongs on stdout.
pub fn is_misplaced(line: &str) -> bool {
    let has = |key: &str| line.contains(key);
    line.starts_with('{') && has("\"jsonrpc\"") && has("\"id\"") && (has("\"result\"") || has("\"error\""))
}

/// What is wrong with a line, when it looks like a message that went wrong.
pub fn broken(line: &str) -> Option<String> {
    let text = line.trim_start();
    if !text.starts_with(['{', '[']) {
        if text.get(..HEADER.len()).is_some_and(|start| start.eq_ignore_ascii_case(HEADER)) {
            return Some(format!(
                "`{text}` stands on stdout: MCP has no headers, a message is one line",
                text = text.trim_end()
            ));
        }
        let glued = text.contains("\"jsonrpc\"");
        return glued
            .then(|| "a message on stdout has other text before it on its line: log to stderr instead".to_owned());
    }
    let error = serde_json::from_str::<&RawValue>(text).err()?;
    Some(match error.classify() {
        Category::Eof => {
            "a line on stdout ends in the middle of a message: a message stands on one line, not pretty-printed"
                .to_owned()
        }
        _ => {
            let found = text.get(error.column().saturating_sub(1)..).unwrap_or_default();
            match NO_NUMBERS.iter().find(|word| found.starts_with(**word)) {
                Some(word) => format!("a line on stdout is no message: JSON has no `{word}`"),
                None if found.starts_with('\'') => {
                    "a line on stdout is no message: JSON has double quotes, not single ones".to_owned()
                }
                None if found.starts_with('{') && error.to_string().starts_with("trailing") => {
                    "two messages stand on one line of stdout: each ends with a newline".to_owned()
                }
                None => format!("a line on stdout is no message: it is not JSON from column {} on", error.column()),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_went_wrong_with_a_message() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}"#, "JSON has no `NaN`"),
            (r#"{"jsonrpc": "2.0", "id": 1, "result": {"x": -Infinity}}"#, "JSON has no `Infinity`"),
            ("{", "ends in the middle of a message"),
            (r#"  "id": 1,"#, ""),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}"#, "ends in the middle of a message"),
            (r#"{"jsonrpc":"2.0",id:1}"#, "it is not JSON from column 18 on"),
            (r#"ready {"jsonrpc":"2.0","id":1,"result":{}}"#, "other text before it"),
            ("{'jsonrpc': '2.0', 'id': 1, 'result': {}}", "JSON has double quotes"),
            (r#"{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","id":1,"result":{}}"#, "two messages stand on one line"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}} // done"#, "it is not JSON from column 38 on"),
            ("Content-Length: 12", "`Content-Length: 12` stands on stdout: MCP has no headers"),
            ("Listening on 8080", ""),
            ("", ""),
        ];
        for (line, expected) in cases {
            let told = broken(line).unwrap_or_default();
            assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{line}: {told}");
        }
    }

    #[test]
    fn says_what_a_line_without_an_end_is() {
        assert_eq!(unfinished(b" \r"), None);
        let told = unfinished(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap_or_default();
        assert!(told.starts_with("what came last on stdout has no newline at its end: `{\"jsonrpc\""), "{told}");
        let told = unfinished("{\"é\": 1}\r".repeat(40).as_bytes()).unwrap_or_default();
        assert!(told.contains("ends with `\\r` alone: `{\"é\"") && told.contains("…`"), "{told}");
    }
}
