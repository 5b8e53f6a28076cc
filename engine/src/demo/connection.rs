//! What the threads of one conversation share: the output, the session's state, and the calls that are under way.

use super::lifecycle::{Level, Revision};
use super::modern::{self, Stance};
use super::reply::Refusal;
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The message of the day until `set_motd` changes it.
const MOTD: &str = "hello from the demo server";

/// One client's conversation.
pub(super) struct Connection<'a> {
    output: Mutex<Box<dyn Write + Send + 'a>>,
    state: Mutex<State>,
}

/// What the session has agreed on, and what is under way.
pub(super) struct State {
    /// The negotiated revision; none before `initialize`.
    pub(super) revision: Option<Revision>,
    /// The capabilities the client declared.
    pub(super) client: Value,
    /// The least level of log messages that are sent.
    pub(super) level: Level,
    /// The resources the client wants to hear of.
    pub(super) subscriptions: BTreeSet<String>,
    /// The subscriptions of the modern era, by the ids of their requests: the id, and the resources.
    pub(super) listening: HashMap<String, (Value, Vec<String>)>,
    /// The text of `demo://motd`.
    pub(super) motd: String,
    calls: HashMap<String, Sender<Signal>>,
    asked: HashMap<u64, Sender<Signal>>,
    next: u64,
}

/// What reaches a call while it waits.
enum Signal {
    Cancelled,
    Answered(Value),
}

/// One request under way.
pub(super) struct Call {
    id: Value,
    params: Value,
    stance: Option<Stance>,
    signals: Receiver<Signal>,
    sender: Sender<Signal>,
}

impl<'a> Connection<'a> {
    /// A conversation that writes to `output`.
    pub(super) fn new(output: Box<dyn Write + Send + 'a>) -> Connection<'a> {
        let state = State {
            revision: None,
            client: Value::Null,
            level: Level::Info,
            subscriptions: BTreeSet::new(),
            listening: HashMap::new(),
            motd: MOTD.to_owned(),
            calls: HashMap::new(),
            asked: HashMap::new(),
            next: 1,
        };
        Connection { output: Mutex::new(output), state: Mutex::new(state) }
    }

    /// The state, locked: never held across a write or a wait.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The negotiated revision; the newest before `initialize`.
    pub(super) fn revision(&self) -> Revision {
        self.state().revision.unwrap_or(Revision::LATEST)
    }

    /// Sends one message as one line.
    pub(super) fn send(&self, message: &Value) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(&line)?;
        output.flush()
    }

    /// Sends a notification; a client that is gone is noticed by the reader.
    pub(super) fn notify(&self, method: &str, params: Value) {
        let _ = self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Notes a request that may be cancelled or wait for the client; none when its id is taken.
    pub(super) fn begin(&self, id: &Value, params: &Value, stance: Option<&Stance>) -> Option<Call> {
        let (sender, signals) = channel();
        match self.state().calls.entry(id.to_string()) {
            Entry::Occupied(_) => return None,
            Entry::Vacant(entry) => entry.insert(sender.clone()),
        };
        Some(Call { id: id.clone(), params: params.clone(), stance: stance.cloned(), signals, sender })
    }

    /// Forgets a request that is answered.
    pub(super) fn end(&self, call: &Call) {
        self.state().calls.remove(&call.id.to_string());
    }

    /// Tells a call that the client took it back.
    pub(super) fn cancel(&self, id: &Value) {
        let mut state = self.state();
        state.listening.remove(&id.to_string());
        if let Some(call) = state.calls.get(&id.to_string()) {
            let _ = call.send(Signal::Cancelled);
        }
    }

    /// Hands the client's answer to the call that asked for it.
    pub(super) fn answered(&self, message: Value) {
        let asked = message.get("id").and_then(Value::as_u64).and_then(|id| self.state().asked.remove(&id));
        if let Some(call) = asked {
            let _ = call.send(Signal::Answered(message));
        }
    }

    /// Ends every call that still waits: the client is gone.
    pub(super) fn hang_up(&self) {
        let mut state = self.state();
        state.asked.clear();
        for call in state.calls.values() {
            let _ = call.send(Signal::Cancelled);
        }
    }

    /// Asks the client, and waits for its answer: the whole response. In the modern era nothing is waited for: the
    /// request comes again, with the answer.
    pub(super) fn ask(&self, call: &Call, method: &str, params: Value) -> Result<Value, Refusal> {
        if call.stance.is_some() {
            return modern::ask(call, method, params);
        }
        let id = {
            let mut state = self.state();
            let id = state.next;
            state.next += 1;
            state.asked.insert(id, call.sender.clone());
            id
        };
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request).map_err(|_| Refusal::Cancelled)?;
        match call.signals.recv() {
            Ok(Signal::Answered(answer)) => Ok(answer),
            Ok(Signal::Cancelled) | Err(_) => {
                self.state().asked.remove(&id);
                Err(Refusal::Cancelled)
            }
        }
    }
}

impl Call {
    /// Waits, unless the call is cancelled meanwhile.
    pub(super) fn pause(&self, time: Duration) -> Result<(), Refusal> {
        match self.signals.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            _ => Err(Refusal::Cancelled),
        }
    }

    /// The token under which the client wants to hear of progress.
    pub(super) fn progress_token(&self) -> Option<&Value> {
        self.params.pointer("/_meta/progressToken")
    }

    /// The parameters of the request.
    pub(super) fn params(&self) -> &Value {
        &self.params
    }

    /// What the request says of itself in the modern era.
    pub(super) fn stance(&self) -> Option<&Stance> {
        self.stance.as_ref()
    }
}
