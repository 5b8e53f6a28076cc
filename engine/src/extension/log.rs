//! What extensions say while they work, kept on the thread that called them until it is collected.
//!
//! The caller knows what the words belong to (a step, a file, a report), and it is the same thread, so nothing has to
//! be locked or routed.

use std::cell::RefCell;
use std::sync::Arc;

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For the extension's author.
    Debug,
    /// Worth knowing.
    Info,
    /// Something looks wrong.
    Warn,
    /// Something went wrong.
    Error,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The extension.
    pub by: Arc<str>,
    /// How much it matters.
    pub level: Level,
    /// The text.
    pub text: String,
}

thread_local! {
    static SAID: RefCell<Vec<Said>> = const { RefCell::new(Vec::new()) };
}

/// Keeps messages until the caller takes them.
pub(super) fn keep(messages: impl IntoIterator<Item = Said>) {
    SAID.with_borrow_mut(|said| said.extend(messages));
}

/// Takes what was said on this thread since the last time.
pub fn take() -> Vec<Said> {
    SAID.with_borrow_mut(std::mem::take)
}

impl Level {
    /// Its name in events.
    pub fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}
