//! A diff, drawn: `-` is expected, `+` came.

use super::value::written;
use super::{Style, field, green, paint, red};
use crate::event::Failure;
use crate::event::diff::{Diff, Line, Op};
use crate::reporter::text::fit;
use crate::reporter::visible::visible;
use anstyle::Style as Ansi;

/// Shows the diff below a legend; a matcher's argument is not in the diff and is shown above it.
pub(super) fn show(diff: &Diff, failure: &Failure, style: Style, out: &mut String) {
    if let Some(expected) = failure.expected.as_ref().filter(|_| failure.matcher.is_some()) {
        field(out, style, "expected", &written(expected), 3);
    }
    let legend = format!("{} {}", paint(style, red(), "- expected"), paint(style, green(), "+ actual"));
    out.push_str(&format!("  {} {legend}\n", paint(style, Ansi::new().dimmed(), "diff    ")));
    for line in &diff.lines {
        out.push_str(&drawn(line, style));
    }
    if diff.more > 0 {
        out.push_str(&format!("      … {} more lines\n", diff.more));
    }
}

fn drawn(line: &Line, style: Style) -> String {
    let ansi = match line.op {
        Op::Same => Ansi::new().dimmed(),
        Op::Expected => red(),
        Op::Actual => green(),
    };
    let indent = "  ".repeat(line.depth.min(20));
    let room = style.width.saturating_sub(6 + indent.len()).max(20);
    let text = visible(&line.text);
    let fitted = fit(&text, room);
    let body = match line.marks.first() {
        Some([from, to]) if style.color && *text == line.text && to <= &fitted.chars().count() => {
            let part = |from: usize, to: usize| fitted.chars().skip(from).take(to - from).collect::<String>();
            let rest = fitted.chars().count();
            format!(
                "{}{}{}",
                paint(style, ansi, &part(0, *from)),
                paint(style, ansi.bold().underline(), &part(*from, *to)),
                paint(style, ansi, &part(*to, rest))
            )
        }
        _ => paint(style, ansi, &fitted),
    };
    let sign = paint(style, ansi, &line.op.sign().to_string());
    format!("    {sign} {indent}{body}{}", mark(line, &fitted, &indent, style))
}

/// Without colours the change of a pair of lines is pointed out below the second one.
fn mark(line: &Line, fitted: &str, indent: &str, style: Style) -> String {
    match line.marks.first() {
        Some([from, to]) if !style.color && line.op == Op::Actual && *to <= fitted.chars().count() => {
            let columns = |from: usize, to: usize| {
                let part: String = fitted.chars().skip(from).take(to - from).collect();
                crate::reporter::text::columns(&part)
            };
            format!("\n      {indent}{}{}\n", " ".repeat(columns(0, *from)), "^".repeat(columns(*from, *to).max(1)))
        }
        _ => "\n".to_owned(),
    }
}
