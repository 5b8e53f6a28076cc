//! Why a line that was meant as a message is none.
//!
//! A server whose answer cannot be read looks like one that does not answer. What it wrote says more than the silence:
//! `NaN` in its JSON, a message spread over several lines, text before the message on the same line.

use serde_json::error::Category;
use serde_json::value::RawValue;

/// Words that are numbers in some languages and nothing in JSON.
const NO_NUMBERS: [&str; 3] = ["NaN", "nan", "Infinity"];

/// What is wrong with a line, when it looks like a message that went wrong.
pub fn broken(line: &str) -> Option<String> {
    let text = line.trim_start();
    if !text.starts_with(['{', '[']) {
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
            (r#"{"jsonrpc":"2.0",'id':1}"#, "it is not JSON from column 18 on"),
            (r#"ready {"jsonrpc":"2.0","id":1,"result":{}}"#, "other text before it"),
            ("Listening on 8080", ""),
            ("", ""),
        ];
        for (line, expected) in cases {
            let told = broken(line).unwrap_or_default();
            assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{line}: {told}");
        }
    }
}
