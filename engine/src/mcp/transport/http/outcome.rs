//! What became of one HTTP request: the head of its answer, what its body held, and what went wrong on the way.

use super::sse;
use crate::mcp::fault::{Code, Fault};
use crate::source::Json;
use hyper::header::{HeaderMap, LOCATION};
use hyper::{Response, StatusCode};
use serde_json::json;
use std::error::Error;
use std::sync::Arc;

/// How much of a body a message about it shows.
const SHOWN: usize = 300;

/// What can go wrong on the way.
const KINDS: [&str; 7] = ["refused", "unreachable", "tls", "closed", "truncated", "malformed", "oversize"];

/// What a 404 in a session means.
pub const LOST_SESSION: &str =
    "a server that has lost the session answers like this: `reinitialize: true` in its config opens a new one";

/// The head of an answer.
#[derive(Debug, Clone)]
pub struct Head {
    /// The status.
    pub status: StatusCode,
    /// The headers, names in lower case.
    pub headers: HeaderMap,
}

/// A request that is over.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    /// Which one: what [`send`](crate::mcp::transport::Transport::send) returned.
    pub ticket: u64,
    /// The head of the answer, if one came.
    pub head: Option<Arc<Head>>,
    /// Its body, when it was no stream of events.
    pub body: Option<String>,
    /// The events of its body, the first of them.
    pub events: Vec<sse::Item>,
    /// What went wrong.
    pub trouble: Option<Trouble>,
    /// Why the body is no answer, though it came whole.
    pub odd: Option<String>,
    /// Answers to requests come on another stream.
    pub answers_elsewhere: bool,
    /// The server had given the conversation an id.
    pub in_session: bool,
    /// It carried a request, and an answer came with it.
    pub answered: bool,
    /// The id of the request that it carried, when no answer came.
    pub awaits: Option<Json>,
    /// What it carried, where that was no request.
    pub about: Option<String>,
}

/// What went wrong on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// `refused`, `unreachable`, `tls`, `closed`, `truncated`, `malformed` or `oversize`.
    pub kind: &'static str,
    /// In one sentence.
    pub message: String,
    /// The next action.
    pub hint: Option<String>,
}

impl Head {
    pub(super) fn of<B>(response: &Response<B>) -> Head {
        Head { status: response.status(), headers: response.headers().clone() }
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type of the body, without its parameters, in lower case.
    pub fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }
}

impl Trouble {
    pub(super) fn new(kind: &'static str, message: impl Into<String>) -> Trouble {
        Trouble { kind, message: message.into(), hint: None }
    }

    /// The same with something to do about it.
    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Trouble {
        self.hint = Some(hint.into());
        self
    }

    /// The same with what went before.
    #[must_use]
    pub(super) fn after(mut self, notes: &[String]) -> Trouble {
        for note in notes.iter().rev() {
            self.message = format!("{note}: {}", self.message);
        }
        self
    }

    /// What an error of the connection means.
    pub(super) fn of_exchange(error: &hyper::Error) -> Trouble {
        let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        if error.is_parse() && error.to_string().contains("too large") {
            return Trouble::new("malformed", "the head of the answer is too large, or has more than 100 headers");
        }
        if error.is_parse() {
            return Trouble::new("malformed", format!("what came is no HTTP: {error}"));
        }
        if error.is_body_write_aborted() || error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return Trouble::new("closed", "the server closed the connection without an answer");
        }
        Trouble::new("closed", format!("the connection broke: {error}{cause}"))
    }

    /// What an error in the middle of a body means.
    pub(super) fn of_body(error: &hyper::Error, read: usize) -> Trouble {
        let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        Trouble::new("truncated", format!("the body ended in the middle, after {read} bytes ({error}{cause})"))
    }
}

impl Ended {
    /// The whole of it as one value, for expectations.
    pub fn to_json(&self) -> Json {
        let mut whole = match &self.head {
            Some(head) => head_json(head),
            None => serde_json::Map::new(),
        };
        if let Some(body) = &self.body {
            whole.insert("body".into(), body.as_str().into());
        }
        if !self.events.is_empty() {
            whole.insert("events".into(), self.events.iter().map(item_json).collect());
        }
        if let Some(trouble) = &self.trouble {
            whole.insert("error".into(), trouble.kind.into());
            whole.insert("message".into(), trouble.message.as_str().into());
        }
        Json::Object(whole)
    }

    /// What is worth knowing of a message that awaited no answer and was not accepted.
    pub fn refusal(&self) -> Option<String> {
        let what = self.about.as_deref().unwrap_or("a message");
        if let Some(trouble) = &self.trouble {
            return Some(format!("{what} could not be delivered: {}", trouble.message));
        }
        let head = self.head.as_ref()?;
        (!head.status.is_success()).then(|| self.told(what, head))
    }

    /// How the server answered `what`: the status, and the beginning of the body.
    fn told(&self, what: &str, head: &Head) -> String {
        let mut message = format!("the server answered {what} with {}", status_text(head.status));
        match self.body.as_deref().map(str::trim) {
            Some("") | None => {}
            Some(body) if is_text(body) => message.push_str(&format!(": {}", shown(body))),
            Some(_) => message.push_str(": a body that is no text"),
        }
        message
    }

    /// Why `what` has no answer.
    pub fn fault(&self, what: &str) -> Fault {
        if let Some(trouble) = &self.trouble {
            let mut fault = Fault::new(Code::ConnectionLost, format!("no answer to {what}: {}", trouble.message));
            fault.transient = matches!(trouble.kind, "closed" | "truncated");
            return trouble.hint.iter().fold(fault, |fault, hint| fault.hint(hint.clone()));
        }
        let Some(head) = &self.head else { return Fault::new(Code::ConnectionLost, format!("no answer to {what}")) };
        let mut message = self.told(what, head);
        if let Some(odd) = &self.odd {
            message.push_str(&format!(" ({odd})"));
        }
        let mut fault = Fault::new(Code::HttpError, message);
        fault.transient = head.status.is_server_error();
        match head.status.as_u16() {
            401 | 403 => {
                let fault = match head.header("www-authenticate") {
                    Some(wanted) => fault.hint(format!("it asks for `{}`", shown(wanted))),
                    None => fault,
                };
                fault.hint("credentials are given with `auth` or `headers` of the server")
            }
            404 if self.in_session => fault.hint(LOST_SESSION),
            404 | 405 => fault
                .hint("is the path of `url` right? A server of the older HTTP+SSE transport needs `transport: sse`"),
            300..=399 => match head.headers.get(LOCATION).and_then(|to| to.to_str().ok()) {
                Some(to) => {
                    fault.hint(format!("it redirects to `{to}`; redirects are not followed: put it into `url`"))
                }
                None => fault,
            },
            429 | 503 => match head.header("retry-after") {
                Some(after) => fault.hint(format!("it asks to be left alone for a while: `Retry-After: {after}`")),
                None => fault,
            },
            _ => fault,
        }
    }
}

/// Whether the body of a refusal is of the protocol, and not an error of something before the server, which many write as
/// `{"error": "…"}` too.
pub(super) fn is_rpc(body: &[u8]) -> bool {
    match serde_json::from_slice::<Json>(body) {
        Ok(Json::Array(batch)) => batch.iter().any(Json::is_object),
        Ok(message) => {
            let coded = message.get("error").is_some_and(|error| error.get("code").is_some_and(Json::is_number));
            coded || message.get("jsonrpc").is_some()
        }
        Err(_) => true,
    }
}

/// The head as `expect.http` sees it.
pub fn head_json(head: &Head) -> serde_json::Map<String, Json> {
    let mut headers = serde_json::Map::new();
    for name in head.headers.keys() {
        let values = head.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        headers.insert(name.as_str().to_owned(), values.collect::<Vec<_>>().join(", ").into());
    }
    let mut whole = serde_json::Map::new();
    whole.insert("status".into(), head.status.as_u16().into());
    whole.insert("headers".into(), headers.into());
    whole
}

/// `404 Not Found`.
pub fn status_text(status: StatusCode) -> String {
    status
        .canonical_reason()
        .map_or_else(|| status.as_str().to_owned(), |reason| format!("{} {reason}", status.as_str()))
}

/// A thing of a stream as `expect.http` sees it.
pub fn item_json(item: &sse::Item) -> Json {
    match item {
        sse::Item::Comment(text) => json!({"comment": text}),
        sse::Item::Oversize { head, bytes } => json!({"data": head, "oversize": bytes}),
        sse::Item::Event(event) => {
            let mut whole = serde_json::Map::new();
            let mut put = |key: &str, value: Option<Json>| {
                value.and_then(|value| whole.insert(key.to_owned(), value));
            };
            put("event", event.name.clone().map(Json::String));
            put("id", event.id.clone().map(Json::String));
            put("retry", event.retry.map(Json::from));
            put("data", event.data.clone().map(Json::String));
            put("truncated", event.truncated.then_some(Json::Bool(true)));
            Json::Object(whole)
        }
    }
}

/// The thing that [`item_json`] shows like this.
pub fn item_of(shown: &Json) -> sse::Item {
    let text = |key: &str| shown.get(key).and_then(Json::as_str).map(str::to_owned);
    let number = |key: &str| shown.get(key).and_then(Json::as_u64);
    if let Some(comment) = text("comment") {
        return sse::Item::Comment(comment);
    }
    if let Some(bytes) = number("oversize") {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        return sse::Item::Oversize { head: text("data").unwrap_or_default(), bytes };
    }
    let truncated = shown.get("truncated") == Some(&Json::Bool(true));
    let (name, data, id, retry) = (text("event"), text("data"), text("id"), number("retry"));
    sse::Item::Event(sse::Event { name, data, id, retry, truncated })
}

/// The [kind](Trouble::kind) of this name; of another, that the connection ended.
pub fn trouble_kind(name: &str) -> &'static str {
    KINDS.iter().find(|kind| **kind == name).unwrap_or(&"closed")
}

/// Whether people can read it: what is packed or of another encoding shows as bytes that are no characters.
fn is_text(body: &str) -> bool {
    let odd = |c: &char| *c == char::REPLACEMENT_CHARACTER || (c.is_control() && !c.is_whitespace() && *c != '\u{1b}');
    let head = || body.chars().take(SHOWN);
    head().filter(odd).count() * 10 <= head().count()
}

fn shown(body: &str) -> String {
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
