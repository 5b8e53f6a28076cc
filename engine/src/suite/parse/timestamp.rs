//! Timestamps of YAML 1.1 in a request: mcp-aegis makes dates of them, and sends those as JavaScript writes dates.

use crate::source::{Kind, Node, Source};
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// What js-yaml takes for a timestamp that is no date alone.
static TIMESTAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?";
    Regex::new(&format!(r"{date}(?:[ \t]*(?:[Zz]|([-+])(\d\d?)(?::(\d\d))?))?$")).ok()
});

/// Writes every timestamp without quotes as it is sent: `2024-01-15T00:00:00.000Z`.
pub(super) fn as_sent(node: &mut Node, source: &Source) {
    match &mut node.kind {
        Kind::List(items) => items.iter_mut().for_each(|item| as_sent(item, source)),
        Kind::Map(entries) => entries.iter_mut().for_each(|entry| as_sent(&mut entry.value, source)),
        Kind::String(text) if text.starts_with(|c: char| c.is_ascii_digit()) && source.slice(node.span) == *text => {
            if let Some(sent) = sent(text) {
                *text = sent;
            }
        }
        _ => {}
    }
}

fn sent(text: &str) -> Option<String> {
    if text.len() == 10
        && let Ok(date) = text.parse::<Date>()
    {
        return Some(format!("{date}T00:00:00.000Z"));
    }
    let parts = TIMESTAMP.as_ref()?.captures(text)?;
    let at = moment(&parts)?;
    Some(format!("{}.{:03}Z", at.strftime("%Y-%m-%dT%H:%M:%S"), at.millisecond()))
}

fn moment(parts: &Captures<'_>) -> Option<DateTime> {
    let number = |at: usize| parts.get(at).and_then(|part| part.as_str().parse::<i64>().ok());
    let small = |at: usize| i8::try_from(number(at)?).ok();
    let fraction = parts.get(7).map_or("", |part| part.as_str());
    let milliseconds: i32 = format!("{:0<3}", fraction.get(..3).unwrap_or(fraction)).parse().ok()?;
    let year = i16::try_from(number(1)?).ok()?;
    let at = DateTime::new(year, small(2)?, small(3)?, small(4)?, small(5)?, small(6)?, milliseconds * 1_000_000);
    let offset = SignedDuration::from_mins(number(9).unwrap_or(0) * 60 + number(10).unwrap_or(0));
    let east = parts.get(8).is_none_or(|sign| sign.as_str() == "+");
    at.ok()?.checked_sub(if east { offset } else { -offset }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_sent_as_javascript_writes_them() {
        for (text, expected) in [
            ("2024-01-15", "2024-01-15T00:00:00.000Z"),
            ("2024-01-15T10:30:00Z", "2024-01-15T10:30:00.000Z"),
            ("2024-1-5 10:30:00", "2024-01-05T10:30:00.000Z"),
            ("2024-01-15t10:30:00.12345 +02:30", "2024-01-15T08:00:00.123Z"),
            ("2024-01-15T23:30:00.5-5", "2024-01-16T04:30:00.500Z"),
        ] {
            assert_eq!(sent(text).as_deref(), Some(expected), "{text}");
        }
        for text in
            ["2024-1-5", "2024-02-30", "2024-01-15T25:00:00Z", "2024", "20240115", "2024-01-15T10:30Z", "20é4-01-15"]
        {
            assert_eq!(sent(text), None, "{text}");
        }
    }
}
