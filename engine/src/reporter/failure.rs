//! Failures as text: the place, the suite line with a caret, the path, expected against actual, the diff, hints.
//!
//! ```text
//! mismatch: the text differs at character 8
//!   --> fs.test.mcp.yml:14:15
//! 14 |         text: "Hello, world!"
//!    |               ^^^^^^^^^^^^^^^
//!   path     $.result.content[0].text
//!   expected "Hello, world!"
//!   actual   "Hello, World!"
//!                    ^
//!   hint     only upper and lower case differ: `$equalsIgnoreCase` ignores it
//! ```
//!
//! Colour only repeats what a sign says already. Whatever a server sent, nothing in here moves a cursor.

mod drawing;
mod line;
mod value;

use super::text::rows;
use super::visible::visible;
use crate::event::{Failure, FailureKind};
use crate::matcher::Found;
use anstyle::{AnsiColor, Style as Ansi};

/// How failures are shown.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// With colours.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
}

/// Failures of one test that are shown in full; the rest get a line each.
const IN_FULL: usize = 6;
/// Failures that get a line at all.
const LISTED: usize = 20;
/// Columns of a field's name and the space around it: `  expected `.
const MARGIN: usize = 11;
/// Rows that a hint may take.
const HINT_ROWS: usize = 6;
/// Rows that a message may take: an extension can say as much as it likes.
const MESSAGE_ROWS: usize = 24;

/// One failure in full.
pub fn render(failure: &Failure, style: Style) -> String {
    let mut text = heading(failure, style);
    line::show(&failure.at, style, &mut text);
    if let Some(path) = &failure.path {
        field(&mut text, style, "path", &visible(path), 2);
    }
    match &failure.diff {
        Some(diff) => drawing::show(diff, failure, style, &mut text),
        None => value::show(failure, style, &mut text),
    }
    for hint in &failure.hints {
        field(&mut text, style, "hint", &visible(hint), HINT_ROWS);
    }
    text
}

/// All failures of a test, in blocks: the first ones in full, those that a diff above already shows and those past the
/// first few in a line each, and however many there are, not more than a screen or two.
pub fn render_all(failures: &[Failure], style: Style) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let (mut full, mut brief) = (0, String::new());
    let mut covered: Option<&str> = None;
    for (at, failure) in failures.iter().enumerate() {
        if at >= LISTED {
            let least = if failures.len() >= Found::LIMIT { "at least " } else { "" };
            brief.push_str(&format!("and {least}{} more\n", failures.len() - at));
            break;
        }
        let in_diff = covered.zip(failure.path.as_deref()).is_some_and(|(root, path)| path.starts_with(root));
        if failure.diff.is_some() || !in_diff && full < IN_FULL {
            blocks.extend((!brief.is_empty()).then(|| std::mem::take(&mut brief)));
            blocks.push(render(failure, style));
            full += 1;
            covered = failure.diff.as_ref().map(|diff| diff.path.as_str());
        } else {
            brief.push_str(&one_line(failure, style));
        }
    }
    blocks.extend((!brief.is_empty()).then_some(brief));
    blocks
}

fn heading(failure: &Failure, style: Style) -> String {
    let kind = match failure.kind {
        FailureKind::Mismatch => "mismatch",
        FailureKind::Fault => failure.code.unwrap_or("fault"),
    };
    let message = visible(&failure.message);
    let mut wrapped = rows(&message, style.width.saturating_sub(kind.len() + 2));
    let cut = if wrapped.len() > MESSAGE_ROWS { "…" } else { "" };
    wrapped.truncate(MESSAGE_ROWS);
    format!("{}: {}{cut}\n", paint(style, Ansi::new().bold(), kind), wrapped.join("\n    "))
}

fn one_line(failure: &Failure, style: Style) -> String {
    let path = failure.path.as_deref().map(|path| format!(" {}", visible(path))).unwrap_or_default();
    let text = format!("also line {}{path}: {}", failure.at.line, visible(&failure.message));
    format!("{}\n", super::text::fit(&text, style.width))
}

/// `  name     text`, in as many rows as it needs up to a limit.
fn field(out: &mut String, style: Style, name: &str, text: &str, limit: usize) {
    let room = style.width.saturating_sub(MARGIN).max(20);
    let mut wrapped: Vec<&str> = rows(text, room).into_iter().map(str::trim_end).collect();
    let cut = wrapped.len() > limit;
    wrapped.truncate(limit);
    let name = paint(style, Ansi::new().dimmed(), &format!("{name:<8}"));
    out.push_str(&format!("  {name} {}", wrapped.join(&format!("\n{}", " ".repeat(MARGIN)))));
    out.push_str(if cut { "…\n" } else { "\n" });
}

fn paint(style: Style, ansi: Ansi, text: &str) -> String {
    if style.color && !text.is_empty() { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
}

fn green() -> Ansi {
    AnsiColor::Green.on_default()
}

fn red() -> Ansi {
    AnsiColor::Red.on_default()
}

#[cfg(test)]
mod tests;
