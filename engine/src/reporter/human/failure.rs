//! One failure as text.

use crate::event::{Failure, FailureKind};
use crate::reporter::text::fit;
use crate::reporter::visible::visible;
use crate::source::Json;
use std::fmt::Write;

/// How a failure is shown.
#[derive(Debug, Clone, Copy)]
pub(in crate::reporter) struct Style {
    pub(in crate::reporter) color: bool,
    pub(in crate::reporter) width: usize,
}

/// Place, suite line with a caret, path, expected and actual, hints.
pub(in crate::reporter) fn render(failure: &Failure, style: Style) -> String {
    let paint = super::paint::Paint { color: style.color };
    let at = &failure.at;
    let kind = match failure.kind {
        FailureKind::Mismatch => "mismatch",
        FailureKind::Fault => failure.code.unwrap_or("fault"),
    };
    let mut text = format!("{}: {}\n", paint.bold(kind), visible(&failure.message));
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    let _ = writeln!(text, "{margin}--> {}:{}:{}", visible(&at.file), at.line, at.column);
    let _ = writeln!(text, "{number} | {}", fit(&visible(&at.text), style.width.saturating_sub(number.len() + 3)));
    let before = " ".repeat(at.column.saturating_sub(1) as usize);
    let _ = writeln!(text, "{margin} | {before}{}", "^".repeat(at.width.max(1) as usize));
    let mut field = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            let _ = writeln!(text, "  {name:<8} {}", fit(&visible(value), style.width.saturating_sub(11)));
        }
    };
    field("path", failure.path.as_deref());
    field("expected", failure.expected.as_ref().map(Json::to_string).as_deref());
    field("actual", failure.actual.as_ref().map(Json::to_string).as_deref());
    for hint in &failure.hints {
        field("hint", Some(hint));
    }
    text
}
