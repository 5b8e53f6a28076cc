//! One conversation behind many connections: what is asked goes in as lines, and what comes out finds who waits for it.
//!
//! Inside, every request has a number of its own: clients that know nothing of each other may use the same ids.

use super::super::serve;
use crate::mcp::era::SUBSCRIPTION_ID;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One conversation.
pub(super) struct Session {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// None when it is over.
    input: Option<Sender<Vec<u8>>>,
    /// Who waits for an answer, oldest first.
    callers: BTreeMap<u64, Caller>,
    /// Who wants to hear what no request asked for.
    listener: Option<Sender<Value>>,
    last: u64,
}

struct Caller {
    /// The id as the client knows it.
    id: Value,
    /// The token under which it hears of progress.
    token: Option<Value>,
    /// Whether it is open until it is taken back.
    subscribes: bool,
    messages: Sender<Value>,
}

impl Session {
    /// A conversation on a thread of its own.
    pub(super) fn start() -> Arc<Session> {
        let (input, lines) = channel();
        let session = Arc::new(Session { state: Mutex::new(State { input: Some(input), ..State::default() }) });
        let output = Output(session.clone());
        std::thread::spawn(move || serve(BufReader::new(Input { lines, rest: Vec::new() }), output));
        session
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands in a request; its messages come out at the receiver, the answer last. The number takes it back.
    pub(super) fn ask(&self, mut message: Value) -> (u64, Receiver<Value>) {
        let (messages, receiver) = channel();
        let mut state = self.state();
        state.last += 1;
        let ticket = state.last;
        let id = std::mem::replace(&mut message["id"], json!(ticket));
        let token = message.pointer("/params/_meta/progressToken").cloned();
        let subscribes = message["method"] == "subscriptions/listen";
        state.callers.insert(ticket, Caller { id, token, subscribes, messages });
        state.put(&message);
        (ticket, receiver)
    }

    /// Hands in a notification or an answer.
    pub(super) fn tell(&self, mut message: Value) {
        let mut state = self.state();
        if message["method"] == "notifications/cancelled" {
            let id = message["params"]["requestId"].take();
            let ticket = state.callers.iter().find(|(_, caller)| caller.id == id).map(|(ticket, _)| *ticket);
            let Some(ticket) = ticket else { return };
            message["params"]["requestId"] = json!(ticket);
            state.callers.remove(&ticket);
        }
        state.put(&message);
    }

    /// Takes a request back whose client is gone.
    pub(super) fn take_back(&self, ticket: u64) {
        let mut state = self.state();
        state.callers.remove(&ticket);
        let params = json!({ "requestId": ticket });
        state.put(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }

    /// What no request asked for, from now on; whoever listened before hears the end.
    pub(super) fn listen(&self) -> Receiver<Value> {
        let (listener, messages) = channel();
        self.state().listener = Some(listener);
        messages
    }

    /// Ends the conversation, and every answer that is still awaited.
    pub(super) fn end(&self) {
        *self.state() = State::default();
    }
}

impl State {
    fn put(&self, message: &Value) {
        if let Some(input) = &self.input {
            let _ = input.send(format!("{message}\n").into_bytes());
        }
    }

    /// Gives a message to whom it concerns; to nobody, if nobody waits for it.
    fn route(&mut self, mut message: Value) {
        if message.get("method").is_none() {
            let caller = message["id"].as_u64().and_then(|ticket| self.callers.remove(&ticket));
            if let Some(caller) = caller {
                message["id"] = caller.id;
                let _ = caller.messages.send(message);
            }
            return;
        }
        if let Some(named) = message.pointer_mut("/params/_meta").and_then(|meta| meta.get_mut(SUBSCRIPTION_ID)) {
            let Some(caller) = named.as_u64().and_then(|ticket| self.callers.get(&ticket)) else { return };
            *named = caller.id.clone();
            let _ = caller.messages.send(message);
            return;
        }
        let token = message.pointer("/params/progressToken");
        let by_token = self.callers.values().find(|caller| token.is_some() && caller.token.as_ref() == token);
        // Whatever the server says by itself comes of a call.
        let caller = by_token.or_else(|| self.callers.values().rev().find(|caller| !caller.subscribes));
        if let Some(messages) = caller.map(|caller| &caller.messages).or(self.listener.as_ref()) {
            let _ = messages.send(message);
        }
    }
}

/// What clients sent, as a reader.
struct Input {
    lines: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.lines.recv().unwrap_or_default();
        }
        let count = self.rest.len().min(into.len());
        into[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

/// Where the server writes: a line at a time.
struct Output(Arc<Session>);

impl Write for Output {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.state().route(serde_json::from_slice(line)?);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
