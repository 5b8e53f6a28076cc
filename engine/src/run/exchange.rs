//! Sends the lines of one step, or of several in parallel, and listens until each has what it awaits.
//!
//! Correlation is by id only: answers may come in any order, between notifications and requests of the server. Everything
//! that is read while a call is open belongs to the earliest open one.

use super::line::{Awaits, Line, page};
use super::respond::{Scripts, Turns};
use super::session::Session;
use super::stop::Listener;
use super::window::Window;
use crate::child::Exit;
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::stdio::Incoming;
use crate::source::{Json, Node};
use crate::suite::Listing;
use serde_json::json;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How many pages a listing may have: more is a loop.
const MOST_PAGES: usize = 10_000;

/// One line and what became of it.
#[derive(Debug)]
pub(super) struct Call {
    /// What is sent.
    pub(super) line: Line,
    /// Everything that belongs to it.
    pub(super) window: Window,
    /// How long it may take.
    pub(super) timeout: Duration,
    /// Whether it stays open until the process has ended.
    pub(super) until_exit: bool,
    /// Whether no answer is what is hoped for.
    pub(super) hopes_for_silence: bool,
    /// How long it stays open after its answer.
    pub(super) settle: Duration,
    /// The pages of a listing.
    pub(super) pages: Option<Pages>,
    /// The answer, once it came.
    pub(super) answer: Option<Rc<Message>>,
    /// How long the answer took.
    pub(super) took: Duration,
    /// How it ended.
    pub(super) end: Option<End>,
    sent_at: Instant,
}

/// The pages of a listing so far.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) listing: Listing,
    pub(super) meta: Option<Node>,
    /// The answer so far, all pages joined.
    pub(super) joined: Option<Json>,
    cursors: HashSet<String>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// It has what it awaits.
    Done,
    /// The time is over.
    TimedOut,
    /// The process ended.
    Exited(Exit),
    /// The server closed its stdout and lives on.
    StdoutClosed,
    /// An answer that is none.
    Malformed(String),
    /// The run was interrupted.
    Interrupted,
}

impl Call {
    pub(super) fn new(line: Line, timeout: Duration) -> Call {
        let now = Instant::now();
        Call {
            line,
            window: Window::default(),
            timeout,
            until_exit: false,
            hopes_for_silence: false,
            settle: Duration::ZERO,
            pages: None,
            answer: None,
            took: Duration::ZERO,
            end: None,
            sent_at: now,
        }
    }

    /// A call that sends nothing and lasts until the process has ended.
    pub(super) fn until_exit(timeout: Duration) -> Call {
        let line = Line { bytes: Vec::new(), awaits: Awaits::Nothing, method: None };
        Call { until_exit: true, ..Call::new(line, timeout) }
    }

    fn deadline(&self) -> Instant {
        self.sent_at + self.timeout
    }

    fn awaits(&self, message: &Message) -> bool {
        let Some(id) = message.id() else { return false };
        self.end.is_none()
            && self.answer.is_none()
            && match &self.line.awaits {
                Awaits::Nothing => false,
                Awaits::AnyAnswer => matches!(message.kind, Kind::Response { .. }),
                Awaits::Answer { id: own, or_null } => id == own || (*or_null && id.is_null()),
            }
    }
}

impl Pages {
    pub(super) fn new(listing: Listing, meta: Option<&Node>) -> Pages {
        Pages { listing, meta: meta.cloned(), joined: None, cursors: HashSet::new() }
    }

    /// Takes one page in; the next cursor, if there is one.
    fn take(&mut self, mut response: Json) -> Result<Option<String>, String> {
        let key = self.listing.key();
        let cursor = match response.get_mut("result").and_then(|result| result.as_object_mut()?.remove("nextCursor")) {
            None | Some(Json::Null) => None,
            Some(Json::String(cursor)) => Some(cursor),
            Some(other) => return Err(format!("`nextCursor` is no text: {other}")),
        };
        let items = response.pointer_mut(&format!("/result/{key}")).map(Json::take);
        match &mut self.joined {
            None => {
                if let Some(items) = items {
                    response["result"][key] = items;
                }
                self.joined = Some(response);
            }
            Some(_) if response.get("error").is_some() => self.joined = Some(response),
            Some(joined) => {
                let all = joined.pointer_mut(&format!("/result/{key}")).and_then(Json::as_array_mut);
                if let (Some(all), Some(Json::Array(items))) = (all, items) {
                    all.extend(items);
                }
            }
        }
        match &cursor {
            Some(cursor) if !self.cursors.insert(cursor.clone()) => {
                Err(format!("the pages never end: the cursor `{cursor}` came twice"))
            }
            Some(_) if self.cursors.len() >= MOST_PAGES => Err(format!("the pages never end: {MOST_PAGES} came")),
            _ => Ok(cursor),
        }
    }
}

/// The calls that are under way in one session.
pub(super) struct Exchange<'a> {
    pub(super) session: &'a mut Session,
    pub(super) calls: &'a mut [Call],
    pub(super) scripts: &'a Scripts<'a>,
    pub(super) turns: &'a mut Turns,
    pub(super) listener: &'a mut Listener,
}

impl Exchange<'_> {
    /// Runs the calls to their ends.
    pub(super) async fn run(&mut self) {
        if let Some(first) = self.calls.first_mut() {
            first.window = std::mem::take(&mut self.session.between);
        }
        for at in 0..self.calls.len() {
            self.send(at).await;
        }
        while let Some(deadline) = self.next_deadline() {
            let heard = tokio::select! {
                biased;
                incoming = timeout_at(deadline, self.session.stdio.receive()) => incoming.ok(),
                () = self.listener.interrupted() => {
                    self.end_all(&End::Interrupted);
                    return;
                }
            };
            match heard {
                Some(incoming) => self.hear(incoming).await,
                None => self.time_out().await,
            }
        }
        self.settle().await;
    }

    /// Listens without sending anything until `deadline`, or until `enough` says so after something came.
    pub(super) async fn wait(&mut self, deadline: Instant, mut enough: impl FnMut(&Window) -> bool) {
        self.calls[0].window = std::mem::take(&mut self.session.between);
        loop {
            let incoming = tokio::select! {
                biased;
                incoming = timeout_at(deadline, self.session.stdio.receive()) => incoming,
                () = self.listener.interrupted() => {
                    self.end_all(&End::Interrupted);
                    return;
                }
            };
            let Ok(incoming) = incoming else { break };
            self.hear(incoming).await;
            while let Some(queued) = self.session.stdio.next_queued() {
                self.hear(queued).await;
            }
            if self.session.exit.is_some() || enough(&self.calls[0].window) {
                break;
            }
        }
        self.calls[0].end.get_or_insert(End::Done);
    }

    async fn send(&mut self, at: usize) {
        let call = &mut self.calls[at];
        call.sent_at = Instant::now();
        let deadline = call.deadline();
        if call.line.bytes.is_empty() {
            return;
        }
        call.window.sent(&String::from_utf8_lossy(&call.line.bytes));
        match timeout_at(deadline, self.session.stdio.send(&call.line.bytes)).await {
            Ok(Ok(())) => {}
            // A closed pipe shows in what the server did next: its exit is awaited like an answer.
            Ok(Err(error)) => call.window.notes.push(format!("the line could not be sent whole: {error}")),
            Err(_) => {
                self.session.broken = true;
                call.end = Some(End::TimedOut);
                return;
            }
        }
        if call.line.awaits == Awaits::Nothing && !call.until_exit && !call.hopes_for_silence {
            call.end = Some(End::Done);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.calls.iter().filter(|call| call.end.is_none()).map(Call::deadline).min()
    }

    async fn hear(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Message(message) => self.hear_message(message).await,
            Incoming::Noise(line) => self.window().noise(line),
            Incoming::Oversize { head, bytes } => {
                let limit = self.session.server.max_line;
                let window = self.window();
                window.noise(format!("{head}… ({bytes} bytes)"));
                window.notes.push(format!("a line of {bytes} bytes is over the limit of {limit} (`maxLine`)"));
            }
            Incoming::Stderr(text) => self.window().stderr(&text),
            Incoming::StderrClosed => {}
            Incoming::StdoutClosed => {
                // The exit follows when the process ended; a server that only closed its stdout can answer nothing.
                self.session.stdio.drain();
                if self.session.stdio.child().try_exit().is_none() {
                    let waited = tokio::time::timeout(Duration::from_millis(200), self.session.stdio.child().wait());
                    if waited.await.is_err() {
                        self.session.broken = true;
                        self.end_all(&End::StdoutClosed);
                    }
                }
            }
            Incoming::Exited(exit) => {
                self.session.exit = Some(exit);
                self.end_all(&End::Exited(exit));
            }
        }
    }

    async fn hear_message(&mut self, message: Message) {
        if matches!(message.kind, Kind::Request { .. }) {
            return self.reply(message).await;
        }
        let Some(at) = self.calls.iter().position(|call| call.awaits(&message)) else {
            self.note_stray(&message);
            self.window().received(Rc::new(message));
            return;
        };
        let message = Rc::new(message);
        let call = &mut self.calls[at];
        call.took = call.sent_at.elapsed();
        if let Kind::Invalid { why, .. } = &message.kind {
            call.end = Some(End::Malformed(why.clone()));
            call.window.received(message);
            return;
        }
        if call.pages.is_some() {
            return self.turn_page(at, message).await;
        }
        call.window.received(message.clone());
        call.answer = Some(message);
        if !call.until_exit {
            call.end = Some(End::Done);
        }
    }

    /// A page of a listing came: asks for the next one, or ends the call.
    async fn turn_page(&mut self, at: usize, message: Rc<Message>) {
        let call = &mut self.calls[at];
        let Some(pages) = &mut call.pages else { return };
        let next = message.value().map_err(|malformed| malformed.to_string()).and_then(|value| pages.take(value));
        call.window.received(message.clone());
        match next {
            Err(why) => call.end = Some(End::Malformed(why)),
            Ok(None) => {
                call.answer = Some(message);
                call.end = Some(End::Done);
            }
            Ok(Some(cursor)) => {
                let id = self.session.fresh_id();
                let line = page(pages.listing, Some(&cursor), pages.meta.as_ref(), id);
                let left = call.timeout.saturating_sub(call.took);
                (call.line, call.timeout) = (line, left);
                self.send(at).await;
            }
        }
    }

    /// The server asks the client something.
    async fn reply(&mut self, message: Message) {
        let Kind::Request { id, method } = &message.kind else { return };
        let reply = self.scripts.answer(id, method, self.turns, &mut self.session.turns);
        self.window().received(Rc::new(message));
        let Some(reply) = reply else { return };
        let line = format!("{reply}\n");
        self.window().sent(&line);
        let patience = Instant::now() + self.session.server.timeout;
        if timeout_at(patience, self.session.stdio.send(line.as_bytes())).await.is_err() {
            self.session.broken = true;
        }
    }

    /// An answer that no open call awaits.
    fn note_stray(&mut self, message: &Message) {
        let Kind::Response { id, .. } = &message.kind else { return };
        let late = self.session.overdue.iter().position(|overdue| overdue == id);
        let note = match late {
            Some(_) => format!("a late answer came: to id {id}, which had timed out"),
            None => format!("an answer came that nobody awaits: to id {id}"),
        };
        self.window().notes.push(note);
    }

    /// The window that is open now: the earliest call's that has not ended, or else the last one's.
    fn window(&mut self) -> &mut Window {
        let last = self.calls.len() - 1;
        let at = self.calls.iter().position(|call| call.end.is_none()).unwrap_or(last);
        &mut self.calls[at].window
    }

    fn end_all(&mut self, end: &End) {
        for call in self.calls.iter_mut().filter(|call| call.end.is_none()) {
            call.end = Some(match end {
                End::Exited(_) if call.until_exit => End::Done,
                end => end.clone(),
            });
        }
    }

    /// Ends the calls whose time is over, and tells the server that nobody waits any more.
    async fn time_out(&mut self) {
        let now = Instant::now();
        for at in 0..self.calls.len() {
            let call = &mut self.calls[at];
            if call.end.is_some() || call.deadline() > now {
                continue;
            }
            call.took = call.sent_at.elapsed();
            call.end = Some(End::TimedOut);
            let Awaits::Answer { id, .. } = &call.line.awaits else { continue };
            if call.answer.is_some() || id.is_null() {
                continue;
            }
            self.session.overdue.push(id.clone());
            if call.hopes_for_silence || call.line.method.as_deref() == Some("initialize") {
                continue;
            }
            let params = json!({"requestId": id, "reason": "timeout"});
            let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            let line = format!("{cancel}\n");
            call.window.sent(&line);
            let patience = now + Duration::from_millis(100);
            if timeout_at(patience, self.session.stdio.send(line.as_bytes())).await.is_err() {
                self.session.broken = true;
            }
        }
    }

    /// Takes in what is in the pipes already, and what comes while a step settles.
    async fn settle(&mut self) {
        self.session.stdio.drain();
        while let Some(queued) = self.session.stdio.next_queued() {
            self.hear(queued).await;
        }
        let settle = self.calls.iter().map(|call| call.settle).max().unwrap_or_default();
        if settle.is_zero() || self.session.exit.is_some() {
            return;
        }
        let deadline = Instant::now() + settle;
        while let Ok(incoming) = timeout_at(deadline, self.session.stdio.receive()).await {
            self.hear(incoming).await;
            if self.session.exit.is_some() {
                return;
            }
        }
    }
}
