//! What a cassette keeps of a request over HTTP: the status and the headers of its answer, and of one that holds no message
//! of the protocol all the rest, too. What may be a secret is not kept.

use super::replace;
use crate::mcp::transport::http::outcome::{self, Ended, Head, Trouble};
use crate::source::Json;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::sync::Arc;

/// What stands where a value stood that is not kept.
const HIDDEN: &str = "[redacted]";
/// A header whose name holds one of these may be a secret, or the id of a session.
const SECRETS: [&str; 8] = ["auth", "cookie", "session", "token", "secret", "key", "signature", "credential"];
/// Holds `auth` and says only what is asked for.
const NO_SECRET: &str = "www-authenticate";
/// Differs with every recording and says nothing.
const DATE: &str = "date";

/// What came over HTTP.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Carried {
    /// The status; none when there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The headers of the answer.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub headers: Map<String, Json>,
    /// Its body, when that is neither a stream nor a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The events of a stream without the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Json>,
    /// What went wrong on the way, as `expect.http` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Why the body is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd: Option<String>,
}

impl Carried {
    /// The head of an answer.
    pub(super) fn head(head: &Head) -> Carried {
        let mut headers = HeaderMap::new();
        for (name, value) in head.headers.iter().filter(|(name, _)| *name != DATE) {
            headers.append(name, kept(name, value));
        }
        let mut whole = outcome::head_json(&Head { status: head.status, headers });
        let headers = whole.get_mut("headers").and_then(Json::as_object_mut).map(std::mem::take).unwrap_or_default();
        Carried { status: Some(head.status.as_u16()), headers, ..Carried::default() }
    }

    /// A request that is over; where it holds an answer that is kept as a message, only how that came.
    pub(super) fn of(ended: &Ended, answered: bool) -> Carried {
        let mut carried = ended.head.as_deref().map(Carried::head).unwrap_or_default();
        if let Some(trouble) = &ended.trouble {
            carried.error = Some(trouble.kind.to_owned());
            carried.message = Some(trouble.message.clone());
            carried.hint.clone_from(&trouble.hint);
        }
        if !answered || ended.answers_elsewhere {
            carried.body.clone_from(&ended.body);
            carried.events = ended.events.iter().map(outcome::item_json).collect();
            carried.odd = ended.odd.clone().filter(|_| !ended.answers_elsewhere);
        }
        carried
    }

    /// The same with one text in the place of another.
    pub(super) fn replaced(self, from: &str, to: &str) -> Carried {
        let Ok(mut value) = serde_json::to_value(&self) else { return self };
        replace(&mut value, from, to);
        serde_json::from_value(value).unwrap_or(self)
    }

    /// What is played of it, under a ticket: the head first, the end when the answer came, if one did.
    pub(super) fn play(self, ticket: u64, answered: bool) -> (Option<Arc<Head>>, Ended) {
        let status = self.status.and_then(|status| StatusCode::from_u16(status).ok());
        let head = status.map(|status| Arc::new(Head { status, headers: headers(&self.headers) }));
        let message = self.message.unwrap_or_default();
        let trouble = self.error.map(|error| Trouble { kind: outcome::trouble_kind(&error), message, hint: self.hint });
        // One that was accepted without a word about its answer has none yet.
        let accepted = status.is_some_and(|status| status.is_success()) && trouble.is_none() && self.odd.is_none();
        let ended = Ended {
            ticket,
            head: head.clone(),
            body: self.body,
            events: self.events.iter().map(outcome::item_of).collect(),
            trouble,
            odd: self.odd,
            answers_elsewhere: accepted,
            in_session: false,
            answered,
            ..Ended::default()
        };
        (head, ended)
    }
}

/// A header without what may be a secret.
fn kept(name: &HeaderName, value: &HeaderValue) -> HeaderValue {
    if *name != NO_SECRET && SECRETS.iter().any(|word| name.as_str().contains(word)) {
        return HeaderValue::from_static(HIDDEN);
    }
    let query = value.as_bytes().iter().position(|byte| *byte == b'?').filter(|_| *name == LOCATION);
    let clean =
        query.and_then(|at| HeaderValue::from_bytes(&[&value.as_bytes()[..=at], HIDDEN.as_bytes()].concat()).ok());
    clean.unwrap_or_else(|| value.clone())
}

fn headers(kept: &Map<String, Json>) -> HeaderMap {
    let header = |(name, value): (&String, &Json)| {
        let name = HeaderName::try_from(name.as_str()).ok()?;
        Some((name, HeaderValue::from_bytes(value.as_str()?.as_bytes()).ok()?))
    };
    kept.iter().filter_map(header).collect()
}
