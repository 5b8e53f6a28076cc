//! What stands below a test that went wrong: its failures, the last frames exchanged, the end of stderr.

use super::paint::Paint;
use super::screen::Screen;
use super::{Look, visible, visible_lines};
use crate::event::{Direction, FailureKind, TestFinished};
use crate::reporter::failure::{Style, render_all};
use crate::reporter::tail::Tail;
use crate::reporter::text::{count, cut_middle, rows};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

const INDENT: &str = "    ";
/// Columns of a text that is shown elsewhere.
const WIDTH: usize = 100;
/// Rows of the terminal that one frame may take below a failure; the rest is cut out of its middle.
const FRAME_ROWS: usize = 6;

/// Shows everything, with a blank line before and after.
pub(super) fn show(
    finished: &TestFinished,
    tail: &Tail,
    notes: &[String],
    look: Look,
    screen: &mut Screen,
) -> io::Result<()> {
    let style = Style { color: look.color, width: look.width.saturating_sub(INDENT.len()) };
    for block in render_all(&finished.failures, style) {
        screen.gap()?;
        screen.block(INDENT, &block)?;
    }
    for note in notes {
        screen.line(note)?;
    }
    if !look.show_frames {
        frames(tail, look, screen)?;
    }
    if !look.verbose {
        stderr(tail, look, screen)?;
    }
    screen.gap()
}

/// The same as plain text of its own, for somebody else's report.
pub(in crate::reporter) fn text(finished: &TestFinished, tail: &Tail) -> String {
    let (written, width) = (Written::default(), WIDTH + INDENT.len());
    let look = Look { color: false, width, live: false, quiet: false, verbose: false, show_frames: false };
    let mut screen = Screen::new(Box::new(written.clone()));
    // Memory takes whatever is written to it.
    let _ = show(finished, tail, &[], look, &mut screen).and_then(|()| screen.flush());
    let bytes = written.0.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(|line| line.strip_prefix(INDENT).unwrap_or(line)).collect();
    lines.join("\n").trim_end().to_owned()
}

/// What a screen wrote.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The message of a fault that was told in full just above: a server that is gone faults the rest of its file, and one
/// line each is enough for those.
pub(super) fn again<'a>(finished: &'a TestFinished, tail: &Tail, told: &Option<(Arc<str>, String)>) -> Option<&'a str> {
    let [failure] = &finished.failures[..] else { return None };
    let (file, message) = told.as_ref()?;
    let same = *file == finished.test.file && *message == failure.message;
    (same && failure.kind == FailureKind::Fault && tail.is_empty()).then_some(&*failure.message)
}

fn frames(tail: &Tail, look: Look, screen: &mut Screen) -> io::Result<()> {
    if tail.frames.kept.is_empty() {
        return Ok(());
    }
    let several = tail.frames.kept.iter().any(|frame| frame.step != tail.frames.kept[0].step);
    title("exchanged", tail.frames.dropped, "earlier frame", look, screen)?;
    let mut step = None;
    for kept in &tail.frames.kept {
        if several && kept.step != step {
            step = kept.step;
            let label = step.map_or_else(|| "between steps".to_owned(), |number| format!("step {number}"));
            screen.line(&format!("{INDENT}{}", Paint { color: look.color }.dim(&label)))?;
        }
        screen.block(INDENT, &frame(kept.direction, &kept.text, look, FRAME_ROWS))?;
    }
    Ok(())
}

fn stderr(tail: &Tail, look: Look, screen: &mut Screen) -> io::Result<()> {
    if tail.stderr.kept.is_empty() {
        return Ok(());
    }
    title("stderr", tail.stderr.dropped, "earlier line", look, screen)?;
    let margin = Paint { color: look.color }.dim("│");
    for kept in &tail.stderr.kept {
        for line in visible_lines(&kept.text) {
            screen.line(&format!("{INDENT}{margin} {line}"))?;
        }
    }
    Ok(())
}

fn title(name: &str, dropped: usize, what: &str, look: Look, screen: &mut Screen) -> io::Result<()> {
    let rest = if dropped == 0 { String::new() } else { format!(", after {}", count(dropped, what)) };
    screen.gap()?;
    screen.line(&format!("{INDENT}{}", Paint { color: look.color }.dim(&format!("{name}{rest}"))))
}

/// A frame with its arrow, in at most `limit` rows of the terminal.
pub(super) fn frame(direction: Direction, text: &str, look: Look, limit: usize) -> String {
    let paint = Paint { color: look.color };
    let arrow = match direction {
        Direction::Sent => paint.dim("→"),
        Direction::Received => paint.dim("←"),
        Direction::Noise => paint.warning("← noise:"),
        Direction::Http => paint.dim("· http:"),
    };
    let room = look.width.saturating_sub(INDENT.len() + 2).max(20);
    let shown = visible(text);
    let shown = cut_middle(&shown, room.saturating_mul(limit));
    format!("{arrow} {}", rows(&shown, room).join("\n  "))
}
