//! Colours, and nothing but colours: every style only repeats what a word or a symbol already says.

use crate::event::Status;
use anstyle::{AnsiColor, Style};

/// Puts colour on text, or leaves it plain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) color: bool,
}

impl Paint {
    pub(super) fn style(self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.style(Style::new().bold(), text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.style(Style::new().dimmed(), text)
    }

    pub(super) fn status(self, status: Status, text: &str) -> String {
        self.style(of(status), text)
    }

    pub(super) fn strong(self, status: Status, text: &str) -> String {
        self.style(of(status).bold(), text)
    }

    pub(super) fn warning(self, text: &str) -> String {
        self.style(AnsiColor::Yellow.on_default(), text)
    }
}

/// What stands before a status.
pub(super) fn symbol(status: Status) -> &'static str {
    match status {
        Status::Passed => "✓",
        Status::Failed => "✗",
        Status::Faulted => "!",
        Status::Skipped => "-",
    }
}

/// A status in a word.
pub(super) fn word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Faulted => "faulted",
        Status::Skipped => "skipped",
    }
}

fn of(status: Status) -> Style {
    match status {
        Status::Passed => AnsiColor::Green.on_default(),
        Status::Failed => AnsiColor::Red.on_default(),
        Status::Faulted => AnsiColor::Magenta.on_default(),
        Status::Skipped => AnsiColor::Yellow.on_default(),
    }
}
