//! Reading JSON values, with messages that a report can show.

use crate::failure::Failure;
use crate::verdict::Mismatch;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a matcher's argument as a type of its own.
pub fn decode<T: DeserializeOwned>(expected: &Value) -> Result<T, Failure> {
    T::deserialize(expected).map_err(Failure::invalid)
}

/// The value as text, or the mismatch that says what it is instead.
pub fn text(actual: &Value) -> Result<&str, Mismatch> {
    actual.as_str().ok_or_else(|| Mismatch::new(format_args!("expected text, got {}", describe(actual))))
}

/// What kind of value this is, for messages: `a number`.
pub fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wrong_argument_is_an_invalid_one() {
        assert_eq!(decode::<u8>(&json!(7)), Ok(7));
        let Err(Failure::InvalidArgument(reason)) = decode::<u8>(&json!("7")) else {
            panic!("text is no number");
        };
        assert_eq!(reason, "invalid type: string \"7\", expected u8");
    }

    #[test]
    fn text_names_what_it_got() {
        assert_eq!(text(&json!("a")), Ok("a"));
        assert_eq!(text(&json!([])).map_err(|mismatch| mismatch.message), Err("expected text, got a list".into()));
    }
}
