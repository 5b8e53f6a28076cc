//! One message of the protocol, with the text it came as.
//!
//! Only the envelope is read when a line arrives: which kind of message it is, its id, its method. The body (`result`,
//! `error` or `params`) stays text until something looks at it. A message that breaks the rules is still classified where
//! it can be, so that the answer to a request is known as such however odd it is; what was odd stands in its notes.
//!
//! ```text
//! {"jsonrpc":"2.0","id":7,"result":{…}}                   Response
//! {"jsonrpc":"2.0","id":7,"error":{…}}                    Response, is_error
//! {"jsonrpc":"2.0","id":1,"method":"roots/list"}          Request
//! {"jsonrpc":"2.0","method":"notifications/message",…}    Notification
//! {"level":"info"}                                        Invalid
//! Listening…                                              Noise
//! ```

mod broken;
mod envelope;
mod surrogate;

pub use broken::{broken, is_misplaced, unfinished};

use crate::source::Json;
use envelope::Envelope;
use std::ops::Range;

/// The deepest nesting that can be judged: serde_json's own limit.
pub const MAX_DEPTH: usize = 128;
/// What is noted of a message in a batch; only the revision 2025-03-26 has them.
pub const BATCHED: &str = "sent in a batch";
/// Below this every whole number is exact as a float.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
/// The most messages that one line may hold: a hostile batch would multiply its size in memory.
pub const MAX_BATCH: usize = 10_000;

/// One message.
#[derive(Debug, Clone)]
pub struct Message {
    /// The text it came as, without the end of the line.
    pub raw: String,
    /// What it is.
    pub kind: Kind,
    /// What was odd about it, though not odd enough to refuse it.
    pub notes: Vec<String>,
    body: Option<Range<usize>>,
    /// Whether `raw` holds escapes that are no characters.
    surrogates: bool,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// An answer.
    Response {
        /// To which request; `null` when the server could not tell.
        id: Json,
        /// Whether it is an `error`.
        is_error: bool,
    },
    /// The server asks the client.
    Request {
        /// To be returned in the answer.
        id: Json,
        /// What it asks.
        method: String,
    },
    /// The server tells the client.
    Notification {
        /// What it tells.
        method: String,
    },
    /// JSON, but no message of the protocol.
    Invalid {
        /// Its `id`, if it has one.
        id: Option<Json>,
        /// What is wrong with it.
        why: String,
    },
}

/// What a line holds.
#[derive(Debug, Clone)]
pub enum Line {
    /// One message.
    Message(Message),
    /// A batch: a JSON array of messages.
    Batch(Vec<Message>),
    /// Something that is neither a JSON object nor an array.
    Noise(String),
}

/// Why the body of a message cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Malformed {
    /// In a few words.
    pub why: String,
}

/// Reads a line.
pub fn parse_line(line: &[u8]) -> Line {
    let mut notes = Vec::new();
    let raw = match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            notes.push("invalid UTF-8, read as U+FFFD".to_owned());
            String::from_utf8_lossy(line).into_owned()
        }
    };
    match raw.trim_ascii_start().as_bytes().first() {
        Some(b'{') => Message::read(raw, notes).map_or_else(Line::Noise, Line::Message),
        Some(b'[') => batch(raw, notes),
        _ => Line::Noise(raw),
    }
}

fn batch(raw: String, notes: Vec<String>) -> Line {
    let elements = match serde_json::from_str::<Vec<&serde_json::value::RawValue>>(&raw) {
        Ok(elements) => elements,
        Err(_) => return Line::Noise(raw),
    };
    let whole = match elements.len() {
        0 => "an empty batch".to_owned(),
        1..=MAX_BATCH => {
            let messages = elements.into_iter().map(|element| {
                let mut notes = notes.clone();
                notes.push(BATCHED.to_owned());
                Message::read(element.get().to_owned(), notes)
                    .unwrap_or_else(|raw| Message::invalid(raw, Vec::new(), None, "not an object".to_owned()))
            });
            return Line::Batch(messages.collect());
        }
        many => format!("a batch of {many} messages, more than {MAX_BATCH}"),
    };
    Line::Message(Message::invalid(raw, notes, None, whole))
}

/// Whether two ids are one: `2.0` is the number `2`, as for every client that reads JSON; `"2"` is not.
pub fn same_id(one: &Json, other: &Json) -> bool {
    let whole = |id: &Json| id.as_f64().filter(|id| id.fract() == 0.0 && id.abs() < MAX_EXACT);
    one == other || whole(one).zip(whole(other)).is_some_and(|(one, other)| one == other)
}

impl Message {
    /// The whole message.
    pub fn value(&self) -> Result<Json, Malformed> {
        self.parse(&self.raw)
    }

    /// The `result` or `error` of a response, the `params` of a request or notification; `null` if there is none.
    pub fn body(&self) -> Result<Json, Malformed> {
        self.body_text().map_or(Ok(Json::Null), |text| self.parse(text))
    }

    /// The text of the [body](Message::body).
    pub fn body_text(&self) -> Option<&str> {
        self.raw.get(self.body.clone()?)
    }

    /// The id it carries.
    pub fn id(&self) -> Option<&Json> {
        match &self.kind {
            Kind::Response { id, .. } | Kind::Request { id, .. } => Some(id),
            Kind::Invalid { id, .. } => id.as_ref(),
            Kind::Notification { .. } => None,
        }
    }

    /// Reads a text that begins like an object; gives it back if it is none.
    fn read(raw: String, mut notes: Vec<String>) -> Result<Message, String> {
        let repaired = surrogate::repair(&raw);
        let surrogates = repaired.is_some();
        if surrogates {
            notes.push("an escaped surrogate without its other half, read as U+FFFD".to_owned());
        }
        let text = repaired.as_deref().unwrap_or(&raw);
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else { return Err(raw) };
        let (kind, body) = envelope.classify(&mut notes);
        // A repaired text is as long as the original, so its offsets hold in both.
        let body = body.map(|body| {
            let start = body.get().as_ptr().addr() - text.as_ptr().addr();
            start..start + body.get().len()
        });
        Ok(Message { kind, notes, body, surrogates, raw })
    }

    fn invalid(raw: String, notes: Vec<String>, id: Option<Json>, why: String) -> Message {
        Message { raw, kind: Kind::Invalid { id, why }, notes, body: None, surrogates: false }
    }

    fn parse(&self, text: &str) -> Result<Json, Malformed> {
        let repaired = if self.surrogates { surrogate::repair(text) } else { None };
        envelope::json(repaired.as_deref().unwrap_or(text))
    }
}

#[cfg(test)]
mod tests;
