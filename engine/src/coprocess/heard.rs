//! What is heard of one session of direct calls: frames and notes for the events, stderr for errors, secrets to hide.

use super::hidden::Hidden;
use crate::event::{Body, Direction, Frame, Log, LogFrom, Posted, What};
use crate::mcp::connection::Witness;
use crate::mcp::message::Message;
use crate::reporter::text::cut_middle;
use crate::reporter::visible::visible;
use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;

/// How much of the server's stderr an error carries.
const STDERR: usize = 4096;
/// How much of a frame an event shows: the beginning and the end.
const FRAME: usize = 2000;
/// How many notes of a session are told on stderr: a server may give reason for one with every message.
const MOST_NOTES: usize = 20;

/// The end of the server's stderr, and what happened since the last look.
pub(super) struct Heard {
    pub(super) session: Arc<str>,
    pub(super) events: Vec<Posted>,
    stderr: String,
    notes: usize,
    hidden: Hidden,
}

impl Heard {
    pub(super) fn new(session: Arc<str>, hidden: Hidden) -> Heard {
        Heard { session, events: Vec::new(), stderr: String::new(), notes: 0, hidden }
    }

    pub(super) fn frame(&mut self, direction: Direction, text: &str) {
        let shown = cut_middle(text.trim_end(), FRAME);
        let cut = text.trim_end().len().saturating_sub(shown.len());
        let frame = Frame { session: self.session.clone(), step: None, direction, text: shown, cut };
        self.events.push(posted(Body::Frame(frame)));
    }

    /// The end of what the server wrote to stderr; cut only when nothing in it has to be hidden any more.
    pub(super) fn stderr_tail(&self) -> String {
        let text = self.hidden.text(self.stderr.trim_end());
        text[text.ceil_char_boundary(text.len().saturating_sub(STDERR))..].to_owned()
    }
}

/// Something that happened now.
pub(super) fn posted(body: Body) -> Posted {
    Posted { at: SystemTime::now(), file: None, what: What::Event(body) }
}

/// No event shows this value from here on.
pub(super) fn secret(value: String) -> Posted {
    Posted { at: SystemTime::now(), file: None, what: What::Secret(value) }
}

impl Witness for Heard {
    fn secret(&mut self, value: String) {
        self.hidden.add(std::slice::from_ref(&value));
        self.events.push(secret(value));
    }

    fn sent(&mut self, line: &str) {
        self.frame(Direction::Sent, line);
    }

    fn received(&mut self, message: Message) {
        self.frame(Direction::Received, &message.raw);
    }

    fn noise(&mut self, line: String) {
        self.frame(Direction::Noise, &line);
    }

    fn traffic(&mut self, line: String) {
        self.frame(Direction::Http, &line);
    }

    fn note(&mut self, note: String) {
        self.notes += 1;
        if self.notes <= MOST_NOTES {
            let _ = writeln!(std::io::stderr(), "note: {}", visible(&self.hidden.text(&note)));
        }
        let session = Some(self.session.clone());
        self.events.push(posted(Body::Log(Log { from: LogFrom::Engine, session, step: None, text: note })));
    }

    fn stderr(&mut self, text: &str) {
        self.stderr.push_str(text);
        if self.stderr.len() > 4 * STDERR {
            let cut = self.stderr.ceil_char_boundary(self.stderr.len() - 2 * STDERR);
            self.stderr.replace_range(..cut, "");
        }
    }
}
