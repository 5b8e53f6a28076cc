//! What known rules say about a mismatch.

use super::tree::{Field, Tree};
use super::{equality, shown, table};
use crate::diagnostic::did_you_mean;
use crate::source::Json;
use serde_json::Map;

/// Characters kept on either side of a change inside a long text.
const AROUND: usize = 60;

/// Where two texts part, in a sentence.
pub(super) fn text_difference(expected: &str, actual: &str) -> String {
    let at = common(expected, actual) + 1;
    match (expected.chars().count(), actual.chars().count()) {
        (_, 0) => "the text is empty".into(),
        (a, _) if at > a && a > 0 => format!("the text goes on after character {a}"),
        (_, b) if at > b => format!("the text ends after character {b}"),
        _ => format!("the text differs at character {at}"),
    }
}

fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Two long texts, each cut around the place where they part.
pub(super) fn around_change(expected: &Json, actual: &Json) -> (Option<Json>, Option<Json>) {
    let (Json::String(a), Json::String(b)) = (expected, actual) else { return (None, None) };
    let long = 8 * AROUND;
    if a.len() <= long && b.len() <= long {
        return (None, None);
    }
    let from = common(a, b).saturating_sub(AROUND);
    let window = |text: &str| {
        let total = text.chars().count();
        let kept: String = text.chars().skip(from).take(4 * AROUND).collect();
        let before = if from > 0 { format!("({from} characters) …") } else { String::new() };
        let left = total.saturating_sub(from + 4 * AROUND);
        let after = if left > 0 { format!("… ({left} more characters)") } else { String::new() };
        Json::String(format!("{before}{kept}{after}"))
    };
    (Some(window(a)), Some(window(b)))
}

/// Rules over two values that are not the same.
pub(super) fn of_values(expected: &Json, actual: &Json) -> Vec<String> {
    let mut hints = Vec::new();
    match (expected, actual) {
        (Json::Number(number), Json::String(text)) if text.trim() == number.to_string() => {
            hints.push(format!("the server sends the number as text: expect \"{text}\", or fix the server"));
        }
        (Json::String(text), Json::Number(number)) if text.trim() == number.to_string() => {
            hints.push(format!("the server sends a number: expect {number} without quotes, or fix the server"));
        }
        (Json::String(text), Json::Bool(value)) if text.trim() == value.to_string() => {
            hints.push(format!("the server sends a boolean: expect {value} without quotes"));
        }
        (Json::Bool(value), Json::String(text)) if text.trim() == value.to_string() => {
            hints.push(format!("the server sends the boolean as text: expect \"{text}\", or fix the server"));
        }
        (Json::String(a), Json::String(b)) => hints.extend(of_texts(a, b)),
        (Json::Array(_) | Json::Object(_), Json::String(text)) if holds_json(text) => {
            hints.push("the text is JSON: `$json: …` looks inside".into());
        }
        _ => {}
    }
    hints
}

fn of_texts(expected: &str, actual: &str) -> Option<String> {
    if expected.trim() == actual.trim() {
        return Some("only white space at the beginning or end differs".into());
    }
    if expected.replace("\r\n", "\n") == actual.replace("\r\n", "\n") {
        return Some("only line ends differ: one has CR LF, the other LF".into());
    }
    if seen(expected) == seen(actual) {
        return Some(
            "the difference cannot be seen: one has characters that look like nothing, or like a space".into(),
        );
    }
    if expected.split_whitespace().eq(actual.split_whitespace()) {
        return Some("only white space differs".into());
    }
    if expected.to_lowercase() == actual.to_lowercase() {
        return Some("only upper and lower case differ: `$equalsIgnoreCase` ignores it".into());
    }
    let parsed =
        |text: &str| serde_json::from_str::<Json>(text).ok().filter(|value| value.is_object() || value.is_array());
    match (parsed(expected), parsed(actual)) {
        (Some(a), Some(b)) if equality::same(&a, &b) => {
            Some("both texts are the same JSON, written differently: `$json: …` compares the values".into())
        }
        (_, Some(_)) => Some("the text is JSON: `$json: …` looks inside".into()),
        _ => None,
    }
}

/// What a person sees of a text: every kind of space is one, and what has no picture is not there.
fn seen(text: &str) -> String {
    let spaces = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    spaces.filter(|c| !shown::is_invisible(*c)).collect()
}

fn holds_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Rules over a value of the wrong kind.
pub(super) fn of_kind(needs: &str, actual: &Json) -> Vec<String> {
    match actual {
        Json::String(text) if needs.contains("number") && text.trim().parse::<f64>().is_ok() => {
            vec!["the server sends the number as text".into()]
        }
        Json::String(text) if !needs.contains("text") && holds_json(text) => {
            vec!["the text is JSON: `$json: …` looks inside".into()]
        }
        _ => Vec::new(),
    }
}

/// Rules over a key that is not there.
pub(super) fn of_missing_key(field: &Field, fields: &[Field], actual: &Map<String, Json>) -> Vec<String> {
    let free = |key: &&str| !fields.iter().any(|field| field.key == **key);
    let keys = || actual.keys().map(String::as_str).filter(free);
    let folded = |key: &str| key.replace(['_', '-'], "").to_lowercase();
    if field.key == "isError" && matches!(&field.tree, Tree::Value { value: Json::Bool(false), .. }) {
        let hint = "this server leaves `isError` out, which means false: use `expect.isError: false`, or drop the key";
        return vec![hint.into()];
    }
    if let Some(key) = keys().find(|key| folded(key) == folded(&field.key)) {
        return vec![format!("there is `{key}`, spelt differently")];
    }
    let called = format!("${}", field.key);
    if fields.len() == 1 && table::find(&called).is_some() {
        return vec![format!("`{}` is compared as a key of the answer: the matcher is `{called}`", field.key)];
    }
    let inside = actual.iter().find(|(_, value)| value.get(&field.key).is_some());
    let near = did_you_mean(&field.key, keys()).map(|key| format!("there is `{key}`: is that the one?"));
    near.or_else(|| inside.map(|(key, _)| format!("there is `{key}.{}`, one level deeper", field.key)))
        .into_iter()
        .collect()
}

/// What a list holds, for a search that found nothing in it.
pub(super) fn of_list(actual: &[Json]) -> Vec<String> {
    if actual.is_empty() {
        return vec!["the list is empty".into()];
    }
    let names = actual.iter().map_while(|value| match value {
        Json::Object(members) => members.get("name").or_else(|| members.get("uri")).and_then(Json::as_str),
        Json::String(text) => Some(text),
        _ => None,
    });
    let names: Vec<String> = names.take(8).map(|name| format!("`{}`", shown::cut(name, 40))).collect();
    let more =
        if names.len() < actual.len() { format!(" and {} more", actual.len() - names.len()) } else { String::new() };
    if names.is_empty() { Vec::new() } else { vec![format!("it has {}{more}", names.join(", "))] }
}
