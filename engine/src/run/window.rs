//! What belongs to one step: every message, noise line and stderr byte that was read while it was open.

use crate::event::Direction;
use crate::mcp::message::{Kind, Message, broken, is_misplaced};
use crate::source::Json;
use std::borrow::Cow;
use std::rc::Rc;

/// How much a window keeps: beyond it messages are counted and dropped, so that a flooding server costs memory for one
/// step only.
const MOST_BYTES: usize = 128 * 1024 * 1024;
/// How much stderr a window keeps: the end, where the reason of a crash stands.
const MOST_STDERR: usize = 1024 * 1024;

/// How many notes a window keeps.
const MOST_NOTES: usize = 20;
/// What an entry costs beside its text: a flood of tiny messages is one too.
const ENTRY: usize = size_of::<Entry>() + size_of::<Message>();

/// One step's window.
#[derive(Debug, Default)]
pub(super) struct Window {
    entries: Vec<Entry>,
    bytes: usize,
    /// What came on stderr.
    pub(super) stderr: String,
    /// Messages and lines that were dropped because there were too many.
    pub(super) dropped: usize,
    /// A line came that was too long to be read.
    pub(super) oversize: bool,
    /// What may be wrong with a line whose end has not come.
    pub(super) unfinished: Option<String>,
    /// The id of an answer that nobody awaits.
    pub(super) stray: Option<Json>,
    /// Things worth knowing that are no failure.
    pub(super) notes: Vec<String>,
    /// Values that were fetched, and that no report may show.
    pub(super) secrets: Vec<String>,
}

/// Something that crossed the pipe.
#[derive(Debug)]
enum Entry {
    Sent(Vec<u8>),
    Received(Rc<Message>),
    Noise(String),
    /// A question inside of a result.
    Asked {
        method: String,
        params: Json,
    },
    Traffic(String),
}

impl Window {
    pub(super) fn sent(&mut self, line: impl Into<Vec<u8>>) {
        let line = line.into();
        self.push(line.len(), Entry::Sent(line));
    }

    pub(super) fn received(&mut self, message: Rc<Message>) {
        self.push(message.raw.len(), Entry::Received(message));
    }

    pub(super) fn noise(&mut self, line: String) {
        self.push(line.len(), Entry::Noise(line));
    }

    /// What a result asks for counts as a request of the server.
    pub(super) fn asked(&mut self, method: String, params: Json) {
        self.push(method.len(), Entry::Asked { method, params });
    }

    pub(super) fn traffic(&mut self, line: String) {
        self.push(line.len(), Entry::Traffic(line));
    }

    pub(super) fn stderr(&mut self, text: &str) {
        self.stderr.push_str(text);
        if self.stderr.len() > 2 * MOST_STDERR {
            let mut cut = self.stderr.len() - MOST_STDERR;
            while !self.stderr.is_char_boundary(cut) {
                cut += 1;
            }
            self.stderr.replace_range(..cut, "");
        }
    }

    /// Something worth knowing; a flood of notes is cut short.
    pub(super) fn note(&mut self, note: String) {
        match self.notes.len() {
            ..MOST_NOTES => self.notes.push(note),
            MOST_NOTES => self.notes.push("and more of this kind".into()),
            _ => {}
        }
    }

    /// What was odd about the messages that came, each once.
    pub(super) fn oddities(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for note in self.received_messages().flat_map(|message| &message.notes) {
            if all.len() < MOST_NOTES && !all.contains(&note.as_str()) {
                all.push(note);
            }
        }
        all
    }

    /// Forgets what the engine itself asked and was answered: only what the server did on its own is left.
    pub(super) fn without_answers(mut self) -> Window {
        self.entries.retain(|entry| match entry {
            Entry::Sent(_) | Entry::Traffic(_) => false,
            Entry::Received(message) => !matches!(message.kind, Kind::Response { .. }),
            Entry::Noise(_) | Entry::Asked { .. } => true,
        });
        self
    }

    fn push(&mut self, bytes: usize, entry: Entry) {
        let bytes = bytes + ENTRY;
        if self.bytes + bytes > MOST_BYTES && !self.entries.is_empty() {
            self.dropped += 1;
            return;
        }
        self.bytes += bytes;
        self.entries.push(entry);
    }

    /// The server's notifications: method and params, in order.
    pub(super) fn notifications(&self) -> impl Iterator<Item = (&str, Json)> {
        self.received_messages().filter_map(|message| match &message.kind {
            Kind::Notification { method } => Some((method.as_str(), params(message))),
            _ => None,
        })
    }

    /// The server's requests: method and params, in order.
    pub(super) fn requests(&self) -> impl Iterator<Item = (&str, Json)> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Received(message) => match &message.kind {
                Kind::Request { method, .. } => Some((method.as_str(), params(message))),
                _ => None,
            },
            Entry::Asked { method, params } => Some((method.as_str(), params.clone())),
            Entry::Sent(_) | Entry::Noise(_) | Entry::Traffic(_) => None,
        })
    }

    /// Lines on stdout that were no message, JSON that is none included.
    pub(super) fn noise_lines(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Noise(line) => Some(line.as_str()),
            Entry::Received(message) if matches!(message.kind, Kind::Invalid { .. }) => Some(message.raw.as_str()),
            _ => None,
        })
    }

    /// Why the answer that did not come may have come and not been readable.
    pub(super) fn suspicion(&self) -> Option<String> {
        let misplaced = || {
            let found = self.stderr.lines().any(is_misplaced);
            found.then(|| "a message stands on stderr: messages belong on stdout, and logs on stderr".to_owned())
        };
        let invalid = || {
            let why = self.received_messages().find_map(|message| match &message.kind {
                Kind::Invalid { id: None, why } => Some(why),
                _ => None,
            })?;
            Some(format!("a message came that no client can use: {why}"))
        };
        self.noise_lines().find_map(broken).or_else(invalid).or_else(|| self.unfinished.clone()).or_else(misplaced)
    }

    /// Everything that crossed the pipe, in order.
    pub(super) fn frames(&self) -> impl Iterator<Item = (Direction, Cow<'_, str>)> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Sent(line) => Some((Direction::Sent, String::from_utf8_lossy(line.trim_ascii_end()))),
            Entry::Received(message) => Some((Direction::Received, message.raw.as_str().into())),
            Entry::Noise(line) => Some((Direction::Noise, line.as_str().into())),
            Entry::Traffic(line) => Some((Direction::Http, line.as_str().into())),
            Entry::Asked { .. } => None,
        })
    }

    /// Errors whose id is `null`, as text.
    pub(super) fn received_errors_without_id(&self) -> impl Iterator<Item = &str> {
        self.received_messages().filter_map(|message| match &message.kind {
            Kind::Response { id, is_error: true } if id.is_null() => Some(message.raw.as_str()),
            _ => None,
        })
    }

    fn received_messages(&self) -> impl Iterator<Item = &Message> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Received(message) => Some(&**message),
            _ => None,
        })
    }
}

/// The `params` of a message; `null` when it has none.
pub(super) fn params(message: &Message) -> Json {
    message.value().ok().and_then(|mut value| value.get_mut("params").map(Json::take)).unwrap_or(Json::Null)
}
