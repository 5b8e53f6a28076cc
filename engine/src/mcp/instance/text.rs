//! Texts that a schema accepts: by format, by the property's name, by pattern and length.

use super::pattern;
use crate::source::Json;

/// What is said of bytes.
const BASE64: &str = "ZXhhbXBsZQ==";

/// A text for each format.
const FORMATS: [(&str, &str); 19] = [
    ("date-time", "2025-01-01T00:00:00Z"),
    ("date", "2025-01-01"),
    ("time", "12:00:00Z"),
    ("duration", "P1D"),
    ("email", "user@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/"),
    ("url", "https://example.com/"),
    ("uri-reference", "/"),
    ("uuid", "00000000-0000-4000-8000-000000000000"),
    ("regex", ".*"),
    ("byte", BASE64),
    ("iri", "https://example.com/"),
    ("idn-email", "user@example.com"),
    ("idn-hostname", "example.com"),
    ("json-pointer", "/example"),
    ("uri-template", "/{example}"),
];

/// What a property of such a name mostly wants, where the schema does not say; the first part that fits wins.
const NAMES: [(&str, &str); 9] = [
    ("timezone", "UTC"),
    ("email", "user@example.com"),
    ("url", "https://example.com/"),
    ("uri", "https://example.com/"),
    ("datetime", "2025-01-01T00:00:00Z"),
    ("date", "2025-01-01"),
    ("time", "12:00"),
    ("path", "example.txt"),
    ("file", "example.txt"),
];

/// Tried against a pattern, in this order.
const CANDIDATES: [&str; 16] = [
    "example",
    "a",
    "A",
    "1",
    "0",
    "abc",
    "ABC",
    "a1",
    "A1",
    "a-b",
    "123",
    "1.0.0",
    "v1.0.0",
    "2025-01-01",
    "12:00",
    "#000000",
];

/// A text for the schema of the property `name`.
pub(super) fn text(schema: &Json, name: &str) -> String {
    let least = length(schema, "minLength").unwrap_or(0);
    let most = length(schema, "maxLength").unwrap_or(usize::MAX);
    let fits = |text: &str| (least..=most).contains(&text.chars().count());
    let first = by_format(schema).or_else(|| by_name(name)).unwrap_or("example");
    if let Some(pattern) = schema.get("pattern").and_then(Json::as_str) {
        let made = || pattern::matching(pattern, least).into_iter();
        // Patterns are those of another language, some with what only this engine has.
        let read = fancy_regex::Regex::new(pattern);
        let matches = |text: &str| fits(text) && read.as_ref().is_ok_and(|read| read.is_match(text).unwrap_or(false));
        let known = std::iter::once(first).chain(CANDIDATES).chain(FORMATS.map(|(_, text)| text)).map(str::to_owned);
        return known.chain(made()).find(|text| matches(text)).unwrap_or_else(|| first.to_owned());
    }
    if fits(first) {
        return first.to_owned();
    }
    let cut: String = first.chars().take(most).collect();
    let missing = least.min(64 * 1024).saturating_sub(cut.chars().count());
    cut + &"x".repeat(missing)
}

fn by_format(schema: &Json) -> Option<&'static str> {
    if schema.get("contentEncoding").is_some_and(|encoding| encoding == "base64") {
        return Some(BASE64);
    }
    let format = schema.get("format")?.as_str()?;
    FORMATS.iter().find(|(known, _)| *known == format).map(|(_, text)| *text)
}

fn by_name(name: &str) -> Option<&'static str> {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    NAMES.iter().find(|(part, _)| name.ends_with(part)).map(|(_, text)| *text)
}

fn length(schema: &Json, key: &str) -> Option<usize> {
    schema.get(key)?.as_u64().map(|length| length.min(1 << 20) as usize)
}
