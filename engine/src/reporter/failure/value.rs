//! Expected against actual, one above the other, with the change pointed out.

use super::{MARGIN, Style, field, green, paint, red};
use crate::event::Failure;
use crate::reporter::text::{columns, rows};
use crate::reporter::visible::{is_invisible, push_escape};
use crate::source::Json;

/// Rows that one value may take.
const ROWS: usize = 6;
/// Characters kept before a change when a text is too long for one row.
const BEFORE: usize = 20;

/// Shows both values, or the one there is.
pub(super) fn show(failure: &Failure, style: Style, out: &mut String) {
    let room = style.width.saturating_sub(MARGIN).max(20);
    if let (Some(Json::String(expected)), Some(Json::String(actual)), None) =
        (&failure.expected, &failure.actual, &failure.matcher)
        && expected != actual
    {
        return texts(expected, actual, room, style, out);
    }
    if let Some(expected) = &failure.expected {
        field(out, style, "expected", &written(expected), ROWS);
    }
    match &failure.actual {
        Some(actual) => field(out, style, "actual", &written(actual), ROWS),
        None if failure.expected.is_some() => field(out, style, "actual", "nothing", 1),
        None => {}
    }
}

/// A value as a suite would have it, in one line.
pub(super) fn written(value: &Json) -> String {
    match value {
        Json::String(text) if text.starts_with("match:") => escaped(text),
        Json::Object(members)
            if members.len() == 1 && members.keys().all(|key| key.starts_with('$') || key.starts_with("match:")) =>
        {
            members.iter().map(|(key, value)| format!("{}: {}", escaped(key), inner(value))).collect()
        }
        other => inner(other),
    }
}

fn inner(value: &Json) -> String {
    match value {
        Json::String(text) => quoted(text),
        Json::Array(items) => format!("[{}]", items.iter().map(inner).collect::<Vec<_>>().join(", ")),
        Json::Object(members) if members.is_empty() => "{}".into(),
        Json::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{}: {}", escaped(key), inner(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

fn quoted(text: &str) -> String {
    match text.contains('"') && !text.contains('\'') {
        true => format!("'{}'", escaped(text)),
        false => format!("\"{}\"", escaped(text).replace('"', "\\\"")),
    }
}

/// Text on one line; spaces that only look like spaces are told apart.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = is_invisible(c) && c != '\u{200d}'
            || c.is_whitespace() && c != ' '
            || ('\u{fe00}'..='\u{fe0f}').contains(&c);
        if hidden { push_escape(&mut shown, c) } else { shown.push(c) }
    }
    shown
}

/// Two texts that differ: aligned, cut around the change, with a mark below it.
fn texts(expected: &str, actual: &str, room: usize, style: Style, out: &mut String) {
    let (expected, actual) = (quoted(expected), quoted(actual));
    let head = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let longest = columns(&expected).max(columns(&actual));
    if longest > room * 2 || longest > room && head > room {
        let (expected, actual) = (around(&expected, head, room), around(&actual, head, room));
        return aligned(&expected, &actual, style, out);
    }
    if longest > room {
        field(out, style, "expected", &expected, ROWS);
        return field(out, style, "actual", &actual, ROWS);
    }
    aligned(&expected, &actual, style, out);
}

/// One row of a long text, around its character `at`.
fn around(text: &str, at: usize, room: usize) -> String {
    let from = at.saturating_sub(BEFORE);
    let before = if from > 0 { "…" } else { "" };
    let kept: String = text.chars().skip(from).collect();
    let row = rows(&kept, room.saturating_sub(2))[0];
    let after = if row.len() < kept.len() { "…" } else { "" };
    format!("{before}{row}{after}")
}

fn aligned(expected: &str, actual: &str, style: Style, out: &mut String) {
    let (a, b): (Vec<char>, Vec<char>) = (expected.chars().collect(), actual.chars().collect());
    let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let tail = a.iter().rev().zip(b.iter().rev()).take(a.len().min(b.len()) - head).take_while(|(a, b)| a == b).count();
    let row = |name: &str, text: &[char], ansi: anstyle::Style| {
        let part = |from: usize, to: usize| text[from..to].iter().collect::<String>();
        let changed = paint(style, ansi.bold(), &part(head, text.len() - tail));
        let name = paint(style, anstyle::Style::new().dimmed(), &format!("{name:<8}"));
        format!("  {name} {}{changed}{}\n", part(0, head), part(text.len() - tail, text.len()))
    };
    out.push_str(&row("expected", &a, red()));
    out.push_str(&row("actual", &b, green()));
    let before: String = b[..head].iter().collect();
    let changed: String = b[head..b.len() - tail].iter().collect();
    let mark = "^".repeat(columns(&changed).max(1));
    out.push_str(&format!("{}{}\n", " ".repeat(MARGIN + columns(&before)), paint(style, green(), &mark)));
}
