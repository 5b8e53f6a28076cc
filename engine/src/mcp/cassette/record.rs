//! Recording: what crosses a connection becomes exchanges on a tape.

use super::names;
use super::{Carried, Cassette, Exchange, Outgoing, Redact, Said, TMP, beside, replace, test_label};
use crate::child::Exit;
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::Incoming;
use crate::mcp::transport::http::outcome::{Ended, Head};
use crate::source::Json;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What every connection of a run records onto.
#[derive(Clone)]
pub struct Tape(Arc<Mutex<Recorded>>);

struct Recorded {
    path: PathBuf,
    redact: Redact,
    /// Secrets that came up: tokens that were fetched.
    learnt: Vec<String>,
    cassette: Cassette,
}

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tape({})", self.lock().path.display())
    }
}

impl Tape {
    /// An empty tape, to be written to `path`; what an older recording there ignores stays ignored.
    ///
    /// Whether it can be written shows here, and not when everything has been said.
    pub fn new(path: &Path, redact: Redact) -> io::Result<Tape> {
        beside(path)?;
        let ignore = Cassette::load(path).map(|old| old.ignore).unwrap_or_default();
        let cassette = Cassette { ignore, ..Cassette::default() };
        Ok(Tape(Arc::new(Mutex::new(Recorded { path: path.to_owned(), redact, learnt: Vec::new(), cassette }))))
    }

    /// Where it will be written.
    pub fn path(&self) -> PathBuf {
        self.lock().path.clone()
    }

    /// A recorder for one connection; `tmp` is the folder behind `${tmp}`.
    pub fn recorder(&self, server: &str, tmp: &str) -> Recorder {
        Recorder {
            tape: self.clone(),
            server: server.to_owned(),
            tmp: tmp.to_owned(),
            test: None,
            open: Vec::new(),
            given_up: Vec::new(),
            before: Vec::new(),
            posted: None,
            tickets: Vec::new(),
        }
    }

    /// Writes what was recorded so far, without secrets; how many exchanges there are.
    pub fn save(&self) -> io::Result<usize> {
        let recorded = self.lock();
        let mut value = serde_json::to_value(&recorded.cassette.exchanges)?;
        (recorded.redact)(&mut value, &recorded.learnt);
        let exchanges: Vec<Exchange> = serde_json::from_value(value)?;
        let count = exchanges.len();
        Cassette { exchanges, ..recorded.cassette.clone() }.save(&recorded.path)?;
        Ok(count)
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records one connection.
#[derive(Debug)]
pub struct Recorder {
    tape: Tape,
    server: String,
    tmp: String,
    /// The test that asks.
    test: Option<String>,
    /// Requests without an answer so far.
    open: Vec<Open>,
    /// Requests whose answer the client did not wait for; what still comes is no answer to anything.
    given_up: Vec<Json>,
    /// What the server said while nothing was asked; it belongs to the next exchange.
    before: Vec<Said>,
    /// What was sent last, until it is known whether it has a ticket.
    posted: Option<Posted>,
    /// What is told of over HTTP, and where it is on the tape.
    tickets: Vec<(u64, usize)>,
}

/// Something that may be told of over HTTP.
#[derive(Debug)]
enum Posted {
    /// A request, and where it is on the tape.
    Request(usize),
    /// A notification of a test, which is kept only if it has an answer.
    Notification(Json),
}

/// A request without an answer so far.
#[derive(Debug)]
struct Open {
    id: Json,
    /// Where it is on the tape.
    position: usize,
    /// Under which name its progress is told.
    token: Option<Json>,
    /// It is a subscription that was acknowledged: what comes now is said to others.
    listens: bool,
}

impl Recorder {
    /// What is asked from here on, a test asks.
    pub fn concerns(&mut self, file: &str, test: &str) {
        self.test = Some(test_label(&self.tape.path(), file, test));
    }

    /// A line was sent.
    pub fn sent(&mut self, line: &[u8]) {
        self.posted = None;
        match Outgoing::read(line) {
            Outgoing::Request(id, request) => self.begin(id, request),
            Outgoing::Answer(message) => self.answered(message),
            Outgoing::Notification(message) => self.notified(message),
        }
    }

    /// What was sent last has a ticket: what is told of it over HTTP belongs to its exchange.
    pub fn carried_by(&mut self, ticket: u64) {
        let Some(posted) = self.posted.take().filter(|_| ticket > 0) else { return };
        let position = match posted {
            Posted::Request(position) => position,
            Posted::Notification(message) => self.push(message, Vec::new()),
        };
        self.tickets.push((ticket, position));
    }

    /// Something came.
    pub fn came(&mut self, incoming: &Incoming) {
        match incoming {
            Incoming::Message(message) => self.received(message),
            Incoming::Noise(line) => self.stdout(line),
            Incoming::Stderr(text) => self.stderr(text),
            Incoming::Exited(exit) => self.exited(*exit),
            Incoming::Head { ticket, head } => self.accepted(*ticket, head),
            Incoming::Ended(ended) => self.ended(ended),
            Incoming::Secret(value) => self.tape.lock().learnt.push(value.clone()),
            _ => {}
        }
    }

    /// A message came.
    pub fn received(&mut self, message: &Message) {
        let Ok(mut value) = message.value() else { return self.stdout(&message.raw) };
        let whole = |value: &mut Json, keys: &[&str]| {
            let fields = value.as_object_mut().map(std::mem::take).unwrap_or_default();
            Json::Object(fields.into_iter().filter(|(key, _)| keys.contains(&key.as_str())).collect())
        };
        match &message.kind {
            Kind::Response { id, .. } => match self.open.iter().position(|open| open.id == *id) {
                Some(at) => {
                    let position = self.open.remove(at).position;
                    let response = self.clean(whole(&mut value, &["result", "error"]));
                    self.tape.lock().cassette.exchanges[position].response = Some(response);
                }
                None if self.given_up.contains(id) => {}
                None => self.stdout(&message.raw),
            },
            Kind::Notification { .. } => {
                let notification = self.clean(whole(&mut value, &["method", "params"]));
                self.told(notification);
            }
            Kind::Request { .. } => {
                let request = Some(self.clean(whole(&mut value, &["id", "method", "params"])));
                self.say(Said { request, ..Said::NOTHING });
            }
            Kind::Invalid { .. } => self.stdout(&message.raw),
        }
    }

    /// A line on stdout that is no message.
    pub fn stdout(&mut self, line: &str) {
        let stdout = Some(line.replace(&self.tmp, TMP));
        self.say(Said { stdout, ..Said::NOTHING });
    }

    /// Text came on stderr.
    pub fn stderr(&mut self, text: &str) {
        let stderr = Some(text.replace(&self.tmp, TMP));
        self.say(Said { stderr, ..Said::NOTHING });
    }

    /// The process ended: over what it was asked last, for everything before it lived through.
    pub fn exited(&mut self, exit: Exit) {
        if let Some(open) = self.open.iter().rfind(|open| !open.listens) {
            self.tape.lock().cassette.exchanges[open.position].exit = Some(exit.into());
        }
        self.open.clear();
    }

    fn begin(&mut self, id: Json, request: Json) {
        let during = std::mem::take(&mut self.before);
        let token = names::token(&request).cloned();
        let position = self.push(request, during);
        self.open.push(Open { id, position, token, listens: false });
        self.posted = Some(Posted::Request(position));
    }

    /// Puts an exchange on the tape; where it is.
    fn push(&mut self, request: Json, during: Vec<Said>) -> usize {
        let request = self.clean(request);
        let (server, test) = (self.server.clone(), self.test.clone());
        let exchange = Exchange { server, test, request, during, response: None, http: None, exit: None };
        let mut recorded = self.tape.lock();
        recorded.cassette.exchanges.push(exchange);
        recorded.cassette.exchanges.len() - 1
    }

    fn notified(&mut self, mut message: Json) {
        if message["method"] != "notifications/cancelled" {
            self.posted = self.test.is_some().then(|| Posted::Notification(Outgoing::kept(&mut message)));
        } else if let Some(at) = self.open.iter().position(|open| open.id == message["params"]["requestId"]) {
            let Open { id, position, .. } = self.open.remove(at);
            self.given_up.push(id);
            self.tickets.retain(|(_, told)| *told != position);
        }
    }

    /// A stream of which the head came may have no end before the server's.
    fn accepted(&mut self, ticket: u64, head: &Head) {
        let position = self.tickets.iter().find(|(told, _)| *told == ticket).map(|(_, position)| *position);
        if let Some(position) = position.filter(|_| head.status.is_success()) {
            self.carry(position, |_| Carried::head(head));
        }
    }

    /// A request over HTTP is over: if it has no answer now, none comes.
    fn ended(&mut self, ended: &Ended) {
        let Some(at) = self.tickets.iter().position(|(ticket, _)| *ticket == ended.ticket) else { return };
        let (_, position) = self.tickets.remove(at);
        self.carry(position, |exchange| Carried::of(ended, exchange.response.is_some()));
        if !ended.answers_elsewhere {
            self.open.retain(|open| open.position != position);
        }
    }

    fn carry(&mut self, position: usize, carried: impl FnOnce(&Exchange) -> Carried) {
        let mut recorded = self.tape.lock();
        let exchange = &mut recorded.cassette.exchanges[position];
        exchange.http = Some(carried(exchange).replaced(&self.tmp, TMP));
    }

    /// A notification belongs to the request that it names, if it names one.
    fn told(&mut self, notification: Json) {
        let (token, subscription) = (names::progressing(&notification), names::acknowledged(&notification));
        let named = self.open.iter().position(|open| match (token, subscription) {
            (Some(token), _) => open.token.as_ref() == Some(token),
            (None, Some(id)) => open.id == *id,
            (None, None) => false,
        });
        let acknowledges = subscription.is_some();
        let said = Said { notification: Some(notification), ..Said::NOTHING };
        match named {
            Some(at) => {
                self.open[at].listens |= acknowledges;
                self.tape.lock().cassette.exchanges[self.open[at].position].during.push(said);
            }
            None => self.say(said),
        }
    }

    fn say(&mut self, said: Said) {
        match self.open.iter().rfind(|open| !open.listens) {
            Some(open) => self.tape.lock().cassette.exchanges[open.position].during.push(said),
            None => self.before.push(said),
        }
    }

    /// The client answered something that the server had asked.
    fn answered(&mut self, mut message: Json) {
        let id = message["id"].take();
        let answer = ["result", "error"].into_iter().find_map(|key| Some(json!({ key: message.get_mut(key)?.take() })));
        let Some(answer) = answer.map(|answer| self.clean(answer)) else { return };
        let asked = |said: &&mut Said| said.request.as_ref().is_some_and(|request| request["id"] == id);
        if let Some(said) = self.before.iter_mut().find(asked) {
            said.answer = Some(answer);
            return;
        }
        let mut recorded = self.tape.lock();
        let mut said = recorded.cassette.exchanges.iter_mut().rev().flat_map(|exchange| &mut exchange.during);
        if let Some(said) = said.find(|said| said.answer.is_none() && asked(said)) {
            said.answer = Some(answer);
        }
    }

    fn clean(&self, mut value: Json) -> Json {
        replace(&mut value, &self.tmp, TMP);
        value
    }
}
