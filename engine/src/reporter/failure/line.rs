//! The suite line with its caret.

use super::{Style, paint, red};
use crate::event::At;
use crate::reporter::text::columns;
use crate::reporter::visible::visible;
use std::fmt::Write;

/// Columns kept before the caret when a long line is cut on its left.
const BEFORE: usize = 24;

/// Place, line and caret; a long line is cut to what is around the caret.
pub(super) fn show(at: &At, style: Style, out: &mut String) {
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    let room = style.width.saturating_sub(number.len() + 3).max(20);
    let (line, before, width) = window(at, room);
    // Writing to text cannot fail.
    let _ = writeln!(out, "{margin}--> {}:{}:{}", visible(&at.file), at.line, at.column);
    let _ = writeln!(out, "{number} | {line}");
    let caret = paint(style, red(), &"^".repeat(width));
    let _ = writeln!(out, "{margin} | {}{caret}", " ".repeat(before));
}

/// The part of the line that is shown, the columns before the caret, and the caret's width.
fn window(at: &At, room: usize) -> (String, usize, usize) {
    let shown: Vec<String> =
        at.text.chars().map(|c| if c == '\t' { "    ".into() } else { visible(&c.to_string()).into_owned() }).collect();
    let widths: Vec<usize> = shown.iter().map(|c| columns(c)).collect();
    let from = (at.column.saturating_sub(1 + at.cut) as usize).min(shown.len());
    let to = (from + at.width.max(1) as usize).min(shown.len()).max(from);
    let span = |from: usize, to: usize| widths[from..to].iter().sum::<usize>();
    let mut start = 0;
    if span(0, to) > room {
        while start < from && span(start, from) > BEFORE.min(room / 3) {
            start += 1;
        }
    }
    let cut_left = start > 0 || at.cut > 0;
    let (mut end, mut used) = (start, usize::from(cut_left));
    while end < shown.len() && used + widths[end] < room {
        used += widths[end];
        end += 1;
    }
    let cut_right = end < shown.len();
    let line: String = shown[start..end].concat();
    let line = format!("{}{line}{}", if cut_left { "…" } else { "" }, if cut_right { "…" } else { "" });
    let caret_end = to.min(end).max(from.min(end));
    (line, span(start, from.min(end)) + usize::from(cut_left), span(from.min(end), caret_end).max(1))
}
