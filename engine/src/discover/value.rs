//! What can be expected of an answer that came, and came again: what stayed the same, and the shape of what did not.

use crate::source::Json;
use serde_json::{Map, json};

/// An expectation that both values meet.
pub(super) fn expectation(first: &Json, second: &Json) -> Json {
    if first == second {
        return literal(first);
    }
    match (first, second) {
        (Json::Object(first), Json::Object(second))
            if first.len() == second.len()
                && first.keys().all(|key| second.contains_key(key))
                && !first.keys().any(|key| is_special_key(key)) =>
        {
            let both = first.iter().map(|(key, value)| (key.clone(), expectation(value, &second[key])));
            Json::Object(both.collect::<Map<_, _>>())
        }
        (Json::Array(first), Json::Array(second)) if first.len() == second.len() => {
            first.iter().zip(second).map(|(first, second)| expectation(first, second)).collect()
        }
        _ => shape(first, second),
    }
}

/// The types of two values.
pub(super) fn shape(first: &Json, second: &Json) -> Json {
    match (kind(first), kind(second)) {
        (one, other) if one == other => json!({"$type": one}),
        ("integer" | "number", "integer" | "number") => json!({"$type": "number"}),
        (one, other) => json!({"$type": [one, other]}),
    }
}

/// The value as an expectation in which nothing is taken for a matcher.
pub(super) fn literal(value: &Json) -> Json {
    if is_special(value) { json!({"$literal": value}) } else { value.clone() }
}

fn is_special(value: &Json) -> bool {
    match value {
        Json::String(text) => text.starts_with("match:") || text == "toBeEmpty",
        Json::Array(items) => items.iter().any(is_special),
        Json::Object(members) => members.iter().any(|(key, value)| is_special_key(key) || is_special(value)),
        _ => false,
    }
}

fn is_special_key(key: &str) -> bool {
    key.starts_with('$') || key.starts_with("match:")
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_becomes_a_type() {
        let first = json!({"at": "10:00", "n": 1, "list": [1, 2], "same": {"$price": 3}, "x": null});
        let second = json!({"at": "10:01", "n": 1.5, "list": [1], "same": {"$price": 3}, "x": "y"});
        let expected = json!({
            "at": {"$type": "string"}, "n": {"$type": "number"}, "list": {"$type": "array"},
            "same": {"$literal": {"$price": 3}}, "x": {"$type": ["null", "string"]},
        });
        assert_eq!(expectation(&first, &second), expected);
        assert_eq!(expectation(&json!("match:x"), &json!("match:x")), json!({"$literal": "match:x"}));
    }
}
