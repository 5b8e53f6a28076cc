//! Durations as people write them: `250ms`, `30s`, `1.5s`, `2m`, or a bare number of milliseconds.

use crate::source::{Kind, Node};
use std::time::Duration;

/// Reads a duration; `None` when it is none.
pub fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: f64 = text[..at].trim_end().parse().ok()?;
    let seconds = match &text[at..] {
        "" | "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// Reads a duration from a number of milliseconds or a text.
pub fn of(node: &Node) -> Option<Duration> {
    match &node.kind {
        Kind::Number(number) => Duration::try_from_secs_f64(number.as_f64()? / 1000.0).ok(),
        _ => parse(node.as_str()?),
    }
}
