//! What the terminal can do, and printing to it without tripping over a reader that went away.

use super::{BAD_INPUT, Color, OK, Talk};
use crate::diagnostic::{Diagnostics, Severity};
use crate::reporter::Screen;
use std::io::{ErrorKind, IsTerminal, Write};

/// The width of a report that no terminal limits.
const PLAIN_WIDTH: usize = 100;

/// How many problems are shown: a generated suite can have one mistake ten thousand times.
const MOST_PROBLEMS: usize = 200;

/// What stdout can do.
pub(super) fn stdout(talk: &Talk) -> Screen {
    let stream = std::io::stdout();
    let terminal = stream.is_terminal();
    screen(talk, terminal, anstream::AutoStream::choice(&stream), terminal_size::terminal_size_of(&stream))
}

/// What stderr can do.
pub(super) fn stderr(talk: &Talk) -> Screen {
    let stream = std::io::stderr();
    let terminal = stream.is_terminal();
    screen(talk, terminal, anstream::AutoStream::choice(&stream), terminal_size::terminal_size_of(&stream))
}

fn screen(
    talk: &Talk,
    terminal: bool,
    choice: anstream::ColorChoice,
    size: Option<(terminal_size::Width, terminal_size::Height)>,
) -> Screen {
    let color = match talk.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => choice != anstream::ColorChoice::Never,
    };
    let width = size.map_or(PLAIN_WIDTH, |(width, _)| usize::from(width.0)).max(40);
    Screen { color, width, live: terminal && !talk.quiet && std::env::var_os("TERM").is_none_or(|term| term != "dumb") }
}

/// Prints to stdout; a closed pipe is no problem of ours.
pub(super) fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Prints what a command was called for; half of it in a full disk is no success.
pub(super) fn print_data(text: &str) -> u8 {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            tell(&format!("error: stdout cannot be written: {error}\n"));
            BAD_INPUT
        }
        _ => OK,
    }
}

/// Prints to stderr.
pub(super) fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Prints problems to stderr, and how many there are.
pub(super) fn tell_problems(diagnostics: &Diagnostics, talk: &Talk) {
    if diagnostics.list.is_empty() {
        return;
    }
    let shown: Vec<_> = diagnostics.list.iter().take(MOST_PROBLEMS).cloned().collect();
    let screen = stderr(talk);
    let columns = if std::io::stderr().is_terminal() { screen.width } else { usize::MAX };
    tell(&Diagnostics::from(shown).render_within(screen.color, columns));
    if diagnostics.list.len() > MOST_PROBLEMS {
        tell(&format!("\n… and {} more\n", diagnostics.list.len() - MOST_PROBLEMS));
    }
    let errors = diagnostics.list.iter().filter(|problem| problem.severity == Severity::Error).count();
    let warnings = diagnostics.list.len() - errors;
    let count = |number: usize, noun: &str| crate::reporter::text::count(number, noun);
    match (errors, warnings) {
        (0, _) => tell("\n"),
        (_, 0) => tell(&format!("\n{} found; nothing was run\n", count(errors, "error"))),
        _ => {
            let text =
                format!("\n{} and {} found; nothing was run\n", count(errors, "error"), count(warnings, "warning"));
            tell(&text);
        }
    }
}
