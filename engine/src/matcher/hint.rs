//! What known rules say about a mismatch.

use super::regex::Pattern;
use super::tree::{Field, KEY, Tree};
use super::{Found, Path, aegis, alike, date, equality, shown, table};
use crate::diagnostic::did_you_mean;
use crate::source::{Json, Span};
use serde_json::{Map, Number};
use std::cmp::Ordering;
use std::collections::HashSet;

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
    if let (Json::Object(members), false) = (expected, actual.is_object())
        && let (1, Some(key)) = (members.len(), members.keys().next())
        && table::find(&format!("${key}")).is_some()
    {
        hints.push(format!("`{key}` is compared as a key of the answer: the matcher is `${key}`"));
    }
    if let Some(pattern) = expected.as_str().and_then(aegis::without_prefix) {
        hints.push(format!("if this is meant as a pattern, it is `{pattern}`"));
    }
    match (expected, actual) {
        (Json::Number(number), Json::String(text)) => match serde_json::from_str::<Number>(text.trim()) {
            Ok(sent) if equality::compare(number, &sent) == Some(Ordering::Equal) => {
                hints.push(format!("the server sends the number as text: expect \"{text}\", or fix the server"));
            }
            Ok(_) => hints.push("the server sends a number as text, and another one".into()),
            Err(_) => {}
        },
        (Json::String(text), Json::Number(number)) if text.trim() == number.to_string() => {
            hints.push(format!("the server sends a number: expect {number} without quotes, or fix the server"));
        }
        (Json::String(text), Json::Bool(value)) if text.trim() == value.to_string() => {
            hints.push(format!("the server sends a boolean: expect {value} without quotes"));
        }
        (Json::Bool(value), Json::String(text)) if text.trim() == value.to_string() => {
            hints.push(format!("the server sends the boolean as text: expect \"{text}\", or fix the server"));
        }
        (Json::Number(a), Json::Number(b)) if !a.is_f64() && !b.is_f64() && a.as_f64() == b.as_f64() => {
            hints.push(
                "beyond 2⁵³ a double rounds whole numbers, and to it these two are the same: as text they stay".into(),
            );
        }
        (Json::Number(a), Json::Number(b)) if rounding(a, b) => {
            hints.push(format!("they differ by rounding: `$approx: [{a}, 0.000001]` allows for it"));
        }
        (Json::String(a), Json::String(b)) => hints.extend(of_texts(a, b)),
        (Json::Array(_) | Json::Object(_), Json::String(text)) if holds_json(text) => {
            hints.push("the text is JSON: `$json: …` looks inside".into());
        }
        _ => {}
    }
    hints
}

/// Whether two fractions are the same but for their last digits.
fn rounding(a: &Number, b: &Number) -> bool {
    let floats = a.is_f64() && b.is_f64();
    floats && a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= (1e-9 * a.abs().max(b.abs())).min(1e-6))
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
    if let Some(hint) = alike::hint(expected, actual) {
        return Some(hint);
    }
    if is_pattern_of(expected, actual) {
        return Some(format!("as a pattern it would match: `match:{}`", shown::cut(expected, KEY)));
    }
    if date::written(expected).is_some_and(|at| date::written(actual) == Some(at)) {
        let within = format!("`$dateWithin: {{ of: \"{expected}\", by: 0s }}`");
        return Some(format!("both are the same moment, written differently: {within} compares moments"));
    }
    let parsed =
        |text: &str| serde_json::from_str::<Json>(text).ok().filter(|value| value.is_object() || value.is_array());
    match (parsed(expected), parsed(actual)) {
        (Some(a), Some(b)) if equality::same(&a, &b) => {
            Some("both texts are the same JSON, written differently: `$json: …` compares the values".into())
        }
        (Some(a), Some(b)) => Some(match first_difference(&a, &b) {
            Some(said) => format!("both texts are JSON, and differ {said}; `$json: …` compares the values"),
            None => "the text is JSON: `$json: …` looks inside".into(),
        }),
        (_, Some(_)) => Some("the text is JSON: `$json: …` looks inside".into()),
        _ => None,
    }
}

/// Whether a text that is compared as it stands was probably meant to match another one.
fn is_pattern_of(expected: &str, actual: &str) -> bool {
    let looks = expected.starts_with('^')
        || expected.ends_with('$')
        || [r"\d", r"\w", r"\s", ".*", ".+"].iter().any(|sign| expected.contains(sign));
    looks && Pattern::new(expected, "").is_ok_and(|pattern| pattern.matches(actual) == Some(true))
}

/// Where two values that are not the same differ, in a few words.
fn first_difference(expected: &Json, actual: &Json) -> Option<String> {
    let mut found = Found::all();
    Tree::literal(expected, Span::default()).check(Some(actual), &Path::root("$"), &mut found);
    found.finish().into_iter().next().map(|worst| format!("at `{}`: {}", worst.path, worst.message))
}

/// What a person sees of a text: every kind of space is one, and what has no picture is not there. Line ends and tabs are
/// seen.
fn seen(text: &str) -> String {
    let is_shown = |c: char| matches!(c, '\n' | '\r' | '\t');
    let spaces = text.chars().map(|c| if c.is_whitespace() && !is_shown(c) { ' ' } else { c });
    spaces.filter(|c| is_shown(*c) || !shown::is_invisible(*c)).collect()
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
    let known: HashSet<&str> = fields.iter().map(|field| field.key.as_str()).collect();
    let free = |key: &&str| !known.contains(*key);
    let keys = || actual.keys().map(String::as_str).filter(free);
    let folded = |key: &str| key.replace(['_', '-'], "").to_lowercase();
    let respelt = || keys().find(|key| folded(key) == folded(&field.key));
    if field.key == "isError"
        && respelt().is_none()
        && matches!(&field.tree, Tree::Value { value: Json::Bool(false), .. })
    {
        let hint = "this server leaves `isError` out, which means false: use `expect.isError: false`, or drop the key";
        return vec![hint.into()];
    }
    if let Some(key) = respelt() {
        return vec![format!("there is `{}`, spelt differently", shown::cut(key, KEY))];
    }
    let called = format!("${}", field.key);
    if fields.len() == 1 && table::find(&called).is_some() {
        return vec![format!("`{}` is compared as a key of the answer: the matcher is `{called}`", field.key)];
    }
    let inside = actual.iter().find(|(_, value)| value.get(&field.key).is_some());
    let near = near_key(&field.key, keys()).map(|key| format!("there is `{}`: is that the one?", shown::cut(key, KEY)));
    near.or_else(|| {
        inside.map(|(key, _)| format!("there is `{}.{}`, one level deeper", shown::cut(key, KEY), field.key))
    })
    .into_iter()
    .collect()
}

/// The key that a missing one probably means. One or two letters are near to every other, and mean nothing.
pub(super) fn near_key<'k>(key: &str, keys: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let is_word = |key: &str| key.chars().count() > 2;
    did_you_mean(key, keys.filter(|other| is_word(other) && is_word(key)))
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

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use serde_json::{Value, json};

    /// The hints of the first mismatch.
    fn hints(expected: Value, actual: Value) -> String {
        check(&expected, Some(&actual)).swap_remove(0).hints.join("; ")
    }

    #[test]
    fn what_a_reader_cannot_see_is_said() {
        for (expected, actual, said) in [
            (json!(3), json!("3.0"), "sends the number as text: expect \"3.0\""),
            (json!(3), json!("4"), "sends a number as text, and another one"),
            (json!(0.3), json!(0.300_000_000_000_000_04), "`$approx: [0.3, 0.000001]`"),
            (json!("a b"), json!("a\u{a0}b"), "the difference cannot be seen"),
            (json!("a b"), json!("a\nb"), "only white space differs"),
            (json!("a b"), json!("a\tb"), "only white space differs"),
            (json!("paypal"), json!("p\u{430}ypal"), "(U+0430), expected `a` (U+0061)"),
            (json!("contains:x"), json!("xyz"), "`match:contains:x`"),
            (json!("Match:not:contains:x"), json!("xyz"), "`match:not:contains:x`"),
            (json!({"gt": 1}), json!(5), "the matcher is `$gt`"),
            (json!(["a", "b"]), json!(["b", "a"]), "in another order: `$unordered`"),
            (json!(9007199254740993_u64), json!(9007199254740992_u64), "beyond 2⁵³"),
            (json!("^abc\\d+$"), json!("abc12"), "it would match: `match:^abc\\d+$`"),
            (json!("2024-01-15T10:30:00Z"), json!("2024-01-15T12:30:00+02:00"), "the same moment"),
            (
                json!(r#"{"a":1,"b":[1,2]}"#),
                json!(r#"{"b": [1, 3], "a": 1}"#),
                "both texts are JSON, and differ at `$.b[1]`: expected 2, got 3; `$json: …`",
            ),
            (json!({"isError": false}), json!({"IsError": false}), "there is `IsError`, spelt differently"),
            (json!({"isError": false}), json!({}), "this server leaves `isError` out"),
            (json!({"match:partial": [1]}), json!([0, 1]), "`[1]` is what is expected here"),
        ] {
            let hints = hints(expected.clone(), actual.clone());
            assert!(hints.contains(said), "{expected} {actual}: {hints}");
        }
    }

    #[test]
    fn what_is_plain_to_see_is_not() {
        for (expected, actual) in [
            (json!(3), json!("three")),
            (json!(0.3), json!(0.4)),
            (json!("Total: 5"), json!("Total: 6")),
            (json!({"d": 1}), json!({"a": 1})),
            (json!(["a", "b"]), json!(["b", "c"])),
            (json!({"name": 1}), json!(5)),
            (json!(9007199254740993_u64), json!(9007199254740999_u64)),
            (json!("2024-01-15T10:30:00Z"), json!("2024-01-15T10:31:00Z")),
            (json!("costs 5$"), json!("costs 6$")),
            (json!({"match:partial": [1]}), json!([0, 2])),
        ] {
            let hints = hints(expected.clone(), actual.clone());
            assert!(hints.is_empty(), "{expected} {actual}: {hints}");
        }
    }
}
