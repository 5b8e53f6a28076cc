//! Diagnostics as a person reads them.
//!
//! ```text
//! error: unknown key `expct`
//!  --> a.test.mcp.yml:4:5
//!   |
//! 4 |     expct: {}
//!   |     ^^^^^ did you mean `expect`?
//! hint: a test takes `it`, `request`, …
//! ```
//!
//! Only the lines around a place are handed to the renderer, so that the size of the file costs nothing.

use super::{Diagnostic, Severity};
use crate::source::visible::visible_lines;
use crate::source::{Source, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt::Write;
use std::ops::Range;

/// How much of a long line is shown where nothing limits it, in characters.
const MOST: usize = 140;
/// How much of it is shown in a narrow terminal.
const LEAST: usize = 30;
/// What a line number takes beside its digits, and the marks where a line was cut.
const GUTTER: usize = 3 + 2;
/// Places at most this many lines apart share one excerpt.
const NEAR: u32 = 12;
/// How wide the renderer may go: excerpts are already cut.
const WIDTH: usize = 4 * MOST;

/// Appends one diagnostic, with a line end after its last line.
pub(super) fn render(diagnostic: &Diagnostic, color: bool, columns: usize, out: &mut String) {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.term_width(WIDTH);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
    if let Some((source, span)) = &diagnostic.place {
        let mut marks = vec![Mark { span: *span, label: diagnostic.label.as_deref(), kind: AnnotationKind::Primary }];
        marks.extend(diagnostic.also.iter().map(|(span, text)| Mark {
            span: *span,
            label: Some(text),
            kind: AnnotationKind::Context,
        }));
        for excerpt in excerpts(source, marks, columns) {
            group = group.element(excerpt);
        }
    }
    let rendered = renderer.render(&[group]);
    match &diagnostic.place {
        Some((source, span)) => out.push_str(&with_place(&rendered, source, *span)),
        None => out.push_str(&rendered),
    }
    out.push('\n');
    for hint in &diagnostic.hints {
        let style = if color { annotate_snippets::renderer::DEFAULT_HELP_STYLE } else { anstyle::Style::new() };
        // A hint may quote what an extension or a file says.
        for (at, line) in visible_lines(hint).enumerate() {
            let _ = match at {
                0 => writeln!(out, "{style}hint{style:#}: {line}"),
                _ => writeln!(out, "      {line}"),
            };
        }
    }
}

/// The text with the true column in its header: the renderer counts from where a long line was cut.
fn with_place(rendered: &str, source: &Source, span: Span) -> String {
    let place = source.position(span.start);
    let header = format!("{}:{}:", source.name, place.line);
    let Some(at) = rendered.find(&header).map(|at| at + header.len()) else { return rendered.to_owned() };
    let digits = rendered[at..].bytes().take_while(u8::is_ascii_digit).count();
    format!("{}{}{}", &rendered[..at], place.column, &rendered[at + digits..])
}

struct Mark<'a> {
    span: Span,
    label: Option<&'a str>,
    kind: AnnotationKind,
}

/// One snippet for marks that stand near each other, else one each, the primary first.
fn excerpts<'a>(source: &'a Source, marks: Vec<Mark<'a>>, columns: usize) -> Vec<Snippet<'a, Annotation<'a>>> {
    let line = |mark: &Mark<'_>| source.position(mark.span.start).line;
    let first = marks.iter().map(line).min().unwrap_or(1);
    let last = marks.iter().map(line).max().unwrap_or(1);
    let digits = last.to_string().len();
    let room = columns.saturating_sub(digits + GUTTER).clamp(LEAST, MOST);
    let short = (first..=last.min(first + NEAR)).all(|line| source.line(line).len() <= room);
    if last - first <= NEAR && short {
        return vec![excerpt(source, first, last, marks, room)];
    }
    marks
        .into_iter()
        .map(|mark| (line(&mark), mark))
        .map(|(line, mark)| excerpt(source, line, line, vec![mark], room))
        .collect()
}

fn excerpt<'a>(
    source: &'a Source,
    first: u32,
    last: u32,
    marks: Vec<Mark<'a>>,
    room: usize,
) -> Snippet<'a, Annotation<'a>> {
    let mut text = String::new();
    let mut annotations = Vec::new();
    for number in first..=last {
        let line = source.line(number);
        let line_start = line.as_ptr() as usize - source.text.as_ptr() as usize;
        let here: Vec<&Mark<'a>> =
            marks.iter().filter(|mark| source.position(mark.span.start).line == number).collect();
        let window = match here.first() {
            Some(mark) if line.len() > room => window(line, mark.span.start as usize - line_start, room),
            _ => 0..line.len(),
        };
        if window.start > 0 {
            text.push('…');
        }
        for mark in here {
            // A span of several lines is marked on its first one.
            let start = line.floor_char_boundary(mark.span.start as usize - line_start).clamp(window.start, window.end);
            let end =
                line.ceil_char_boundary((mark.span.end as usize).saturating_sub(line_start)).clamp(start, window.end);
            let shift = text.len();
            let range = shift + start - window.start..shift + end - window.start;
            let annotation = mark.kind.span(range);
            annotations.push(match mark.label {
                Some(label) => annotation.label(label),
                None => annotation,
            });
        }
        text.push_str(&line[window.clone()]);
        if window.end < line.len() {
            text.push('…');
        }
        text.push('\n');
    }
    Snippet::source(text).path(&*source.name).line_start(first as usize).annotations(annotations)
}

/// The part of a long line around the byte `at`: rather more of what follows than of what stands before.
fn window(line: &str, at: usize, room: usize) -> Range<usize> {
    let at = line.floor_char_boundary(at);
    let (before, after) = (&line[..at], &line[at..]);
    let kept = room * 3 / 7;
    let start = before.char_indices().rev().nth(kept - 1).map_or(0, |(byte, _)| byte);
    let end = after.char_indices().nth(room - kept).map_or(line.len(), |(byte, _)| at + byte);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, needle: &str) -> String {
        let source = Source::new("a.yml", "a.yml", text.to_owned());
        let at = text.find(needle).expect("the needle");
        let mut out = String::new();
        let diagnostic = Diagnostic::error("wrong").at(&source, Span::new(at, at + needle.len())).label("here");
        render(&diagnostic.hint("write it right"), false, usize::MAX, &mut out);
        out
    }

    #[test]
    fn the_caret_stands_under_its_text_after_tabs_and_wide_characters() {
        let out = rendered("ok: 1\n\t語é: bad\n", "bad");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[1], " --> a.yml:2:6");
        let width = |text: &str| unicode_width::UnicodeWidthStr::width(text);
        let text = lines[3].split("bad").next().expect("the text");
        let caret = lines[4].split('^').next().expect("the caret");
        assert_eq!(width(text), width(caret), "{out}");
        assert_eq!(lines[5], "hint: write it right");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret_and_keep_their_column() {
        let out = rendered(&format!("{}bad{}", "ä".repeat(5000), "x".repeat(5000)), "bad");
        assert!(out.contains("a.yml:1:5001"), "{out}");
        assert!(out.lines().all(|line| line.chars().count() < 200), "{out}");
        assert!(out.contains("^^^ here"), "{out}");
    }

    #[test]
    fn no_line_of_the_source_is_wider_than_the_terminal() {
        let text = format!("{}bad{}\n", "- a ".repeat(30), " b".repeat(60));
        let source = Source::new("a.yml", "a.yml", text.clone());
        let at = text.find("bad").expect("the needle");
        for columns in [60, 80, 140] {
            let mut out = String::new();
            render(&Diagnostic::error("wrong").at(&source, Span::new(at, at + 3)), false, columns, &mut out);
            let widest = out.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= columns && out.contains("bad b b") && out.contains("a bad"), "{columns}:\n{out}");
        }
    }

    #[test]
    fn a_place_beside_a_character_or_past_the_end_is_shown_all_the_same() {
        let source = Source::new("a.yml", "a.yml", format!("{}\nä\n", "語".repeat(200)));
        for (start, end) in
            [(1, 2), (1, 5000), (301, 302), (602, 603), (700, 800), (u32::MAX as usize, u32::MAX as usize)]
        {
            let mut out = String::new();
            render(&Diagnostic::error("odd").at(&source, Span::new(start, end)), false, usize::MAX, &mut out);
            assert!(out.contains("a.yml:"), "{out}");
        }
    }

    #[test]
    fn far_places_get_excerpts_of_their_own() {
        let text = format!("a: 1\n{}a: 2\n", "b: 0\n".repeat(100));
        let source = Source::new("a.yml", "a.yml", text.clone());
        let again = text.rfind("a: 2").expect("the second");
        let mut out = String::new();
        let diagnostic =
            Diagnostic::error("twice").at(&source, Span::new(again, again + 1)).also(Span::new(0, 1), "first");
        render(&diagnostic, false, usize::MAX, &mut out);
        assert!(out.contains("102 | a: 2") && out.contains("1 | a: 1"), "{out}");
        assert!(out.lines().count() < 12, "{out}");
    }
}
