//! When two JSON values are the same.
//!
//! JSON has one kind of number, so `1` equals `1.0` and `-0` equals `0`; integers compare exactly over all 64 bits,
//! and an integer equals a fraction only when the values are exactly the same. Objects have no order.

use crate::source::Json;
use serde_json::Number;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Whether two values are the same.
pub(super) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// A number that is the same for values that are the same.
pub(super) fn fingerprint(value: &Json) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        // What compares equal is equal as a fraction too, however it is rounded.
        Json::Number(number) => (number.as_f64().unwrap_or(0.0) + 0.0).to_bits().hash(&mut hasher),
        Json::Array(items) => items.iter().for_each(|item| fingerprint(item).hash(&mut hasher)),
        Json::Object(members) => {
            let member = |(key, value): (&String, &Json)| {
                let mut hasher = DefaultHasher::new();
                (key, fingerprint(value)).hash(&mut hasher);
                hasher.finish()
            };
            members.iter().map(member).fold(0, u64::wrapping_add).hash(&mut hasher);
        }
        Json::String(text) => text.hash(&mut hasher),
        Json::Bool(value) => value.hash(&mut hasher),
        Json::Null => {}
    }
    hasher.finish()
}

/// The order of two numbers, exact over all 64-bit integers.
pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => against_float(a, b.as_f64()?),
        (None, Some(b)) => against_float(b, a.as_f64()?).map(Ordering::reverse),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Floats saturate into `i128`, far outside of 64 bits, so the integer part compares exactly and the rest decides.
fn against_float(integer: i128, float: f64) -> Option<Ordering> {
    let whole = float.trunc();
    let order = integer.cmp(&(whole as i128));
    match order {
        _ if float.is_nan() => None,
        Ordering::Equal => 0.0.partial_cmp(&(float - whole)),
        other => Some(other),
    }
}

/// What a person would call this kind of value.
pub(super) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Json {
        serde_json::from_str(text).expect("valid JSON")
    }

    #[test]
    fn numbers_are_one_kind_and_integers_are_exact() {
        assert!(same(&parse("1"), &parse("1.0")));
        assert!(same(&parse("-0.0"), &parse("0")));
        assert!(same(&parse("1e2"), &parse("100")));
        assert!(same(&parse("18446744073709551615"), &json!(u64::MAX)));
        assert!(!same(&parse("18446744073709551615"), &parse("18446744073709551614")));
        assert!(!same(&parse("9007199254740993"), &parse("9007199254740992.0")));
        assert!(!same(&parse("9223372036854775807"), &parse("9223372036854775808")));
        assert!(!same(&parse("1"), &parse("1.5")));
        assert!(!same(&parse("1"), &parse("\"1\"")));
    }

    #[test]
    fn what_is_the_same_has_the_same_fingerprint() {
        for (a, b) in [
            ("1", "1.0"),
            ("-0.0", "0"),
            ("18446744073709551615", "18446744073709551615"),
            (r#"{"a":[1,{"b":null}],"c":"x"}"#, r#"{"c":"x","a":[1.0,{"b":null}]}"#),
        ] {
            assert_eq!(fingerprint(&parse(a)), fingerprint(&parse(b)), "{a} {b}");
        }
        for (a, b) in [("1", "2"), ("[1,2]", "[2,1]"), (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#), ("\"1\"", "1")] {
            assert_ne!(fingerprint(&parse(a)), fingerprint(&parse(b)), "{a} {b}");
        }
    }

    #[test]
    fn order_across_kinds_of_numbers() {
        let order = |a: &str, b: &str| match (parse(a), parse(b)) {
            (Json::Number(a), Json::Number(b)) => compare(&a, &b),
            _ => None,
        };
        assert_eq!(order("-1", "18446744073709551615"), Some(Ordering::Less));
        assert_eq!(order("1", "0.5"), Some(Ordering::Greater));
        assert_eq!(order("-1", "-0.5"), Some(Ordering::Less));
        assert_eq!(order("1e300", "18446744073709551615"), Some(Ordering::Greater));
        assert_eq!(order("-1e300", "-9223372036854775808"), Some(Ordering::Less));
    }

    #[test]
    fn objects_have_no_order_and_null_is_a_value() {
        assert!(same(&parse(r#"{"a":1,"b":2}"#), &parse(r#"{"b":2,"a":1}"#)));
        assert!(!same(&parse(r#"{"a":null}"#), &parse("{}")));
    }
}
