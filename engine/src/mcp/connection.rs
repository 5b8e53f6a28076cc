//! The client: one open way to a server, from the handshake to the shutdown.
//!
//! `mcptest run` drives the [transport](Connection::transport) itself once the handshake is over, because a step may send
//! anything at all. Everybody else asks one thing after the other with [`Connection::request`].

mod asking;
mod opening;
mod tools;

use super::cassette::{Reel, Spool};
use super::fault::{Code, Fault};
use super::lifecycle::{self, Introduction};
use super::message::{Message, same_id};
use super::target::Target;
use super::transport::http::Http;
use super::transport::stdio::Stdio;
use super::transport::{Closed, Incoming, Transport};
use crate::child::Exit;
use crate::source::Json;
use hyper::StatusCode;
use serde_json::{Map, json};
use std::time::Duration;
use tokio::time::Instant;

/// How long a stage of the shutdown waits when somebody is waiting too.
pub const HURRIED: Duration = Duration::from_millis(400);
/// How the ids begin that no suite uses.
const OWN_IDS: &str = "mcptest-";

/// Sees everything that crosses a connection, and answers what the server asks of its client.
pub trait Witness {
    /// A message is sent; with the end of its line.
    fn sent(&mut self, _line: &str) {}

    /// A message came that is not the awaited answer.
    fn received(&mut self, _message: Message) {}

    /// The awaited answer came.
    fn answered(&mut self, _answer: &Message) {}

    /// A line came that is no message.
    fn noise(&mut self, _line: String) {}

    /// Something came on stderr.
    fn stderr(&mut self, _text: &str) {}

    /// A line of the transcript: a request over HTTP and its status, an attempt, a stream that is resumed.
    fn traffic(&mut self, _line: String) {}

    /// Something worth knowing that is no failure.
    fn note(&mut self, _note: String) {}

    /// A value was fetched that must not reach a report.
    fn secret(&mut self, _value: String) {}

    /// The answer to a request of the server, as a whole message; `None` leaves it unanswered. By default `ping` is
    /// answered and everything else is refused.
    fn answer(&mut self, id: &Json, method: &str, _request: &Message) -> Option<Json> {
        Some(lifecycle::refusal(id, method))
    }
}

/// Looks away.
impl Witness for () {}

/// An open way to a server; dropping it ends the server at once.
#[derive(Debug)]
pub struct Connection {
    /// What the server is reached through.
    pub transport: Transport,
    /// How the process ended, once it has.
    pub exit: Option<Exit>,
    /// Requests that timed out: their answers may still come.
    pub overdue: Vec<Json>,
    /// The status that the last request had over HTTP, if it had one.
    pub status: Option<StatusCode>,
    target: Target,
    modern: Option<Modern>,
    last_id: u64,
}

/// What every request of a modern conversation says of itself.
#[derive(Debug, Clone)]
pub struct Modern {
    /// The revision.
    pub revision: String,
    /// What goes under `_meta`.
    pub meta: Map<String, Json>,
}

impl Connection {
    /// Starts the server and shakes hands; a server that does not get that far is ended again.
    pub async fn open(target: Target, witness: &mut dyn Witness) -> Result<(Connection, Introduction), Fault> {
        let mut connection = Connection::start(target)?;
        match connection.begin(true, witness).await {
            Ok(introduction) => Ok((connection, introduction)),
            Err(fault) => {
                connection.close(true, witness).await;
                Err(fault)
            }
        }
    }

    /// Starts the server without a word. Needs a tokio runtime.
    pub fn start(target: Target) -> Result<Connection, Fault> {
        let transport = match &target.spool {
            Some(Spool { reel: Reel::Replay(deck), server, tmp }) => {
                Transport::Replay(Box::new(deck.player(server, tmp)))
            }
            Some(Spool { reel: Reel::Record(tape), server, tmp }) => {
                let inner = Box::new(Connection::reach(&target)?);
                Transport::Recorded(inner, Box::new(tape.recorder(server, tmp)))
            }
            None => Connection::reach(&target)?,
        };
        Ok(Connection { transport, exit: None, overdue: Vec::new(), status: None, target, modern: None, last_id: 0 })
    }

    fn reach(target: &Target) -> Result<Transport, Fault> {
        // A server that says when it is ready ends before that if it cannot have its port.
        let taken = match (&target.command, &target.endpoint) {
            (Some(_), Some(endpoint)) => target.ready_pattern.is_none() && endpoint.is_taken(),
            _ => false,
        };
        let start = |command| Stdio::start(command, target.max_line).map(Box::new);
        let process = target.command.as_ref().map(start).transpose().map_err(|error| {
            let fault = Fault::new(Code::StartFailed, error.to_string());
            error.hints().into_iter().fold(fault, Fault::hint)
        })?;
        match (&target.endpoint, process) {
            (Some(endpoint), process) => {
                let http = Http::new(endpoint.clone(), process, target.max_line);
                let mut http = http.map_err(|why| Fault::new(Code::StartFailed, why))?;
                http.taken = taken;
                Ok(Transport::Http(Box::new(http)))
            }
            (None, Some(stdio)) => Ok(Transport::Stdio(stdio)),
            (None, None) => Err(Fault::new(Code::StartFailed, "there is neither a command nor a URL")),
        }
    }

    /// What is asked from here on, a test of a file asks.
    pub fn concerns(&mut self, file: &str, test: &str) {
        self.transport.concerns(file, test);
    }

    /// The modern conversation; none in the legacy era, or before one was agreed on.
    pub fn modern(&self) -> Option<&Modern> {
        self.modern.as_ref()
    }

    /// From here on every request of a modern conversation says this of itself too.
    pub fn set_meta(&mut self, key: &str, value: Json) {
        if let Some(modern) = &mut self.modern {
            modern.meta.insert(key.to_owned(), value);
        }
    }

    /// Takes a request back without a word, where that is how it is done; else the server has to be told.
    pub fn abandon(&mut self, id: &Json) -> bool {
        self.transport.http().is_some_and(|http| http.abandon(id))
    }

    /// Tells the server something.
    pub async fn notify(&mut self, method: &str, params: Option<Json>, witness: &mut dyn Witness) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(params) = params {
            message["params"] = params;
        }
        self.send(&message, witness).await;
    }

    /// Hears what the server says while nothing is asked, until there is no server to hear.
    pub async fn listen(&mut self, witness: &mut dyn Witness) -> Fault {
        loop {
            match self.transport.listen().await {
                Incoming::Failed(fault) => return *fault,
                Incoming::Message(message) => {
                    self.take_in(message, Instant::now() + HURRIED, witness).await;
                }
                other => {
                    if let Some(exit) = self.note(other, witness) {
                        return Fault::new(Code::ConnectionLost, format!("the server ended ({exit})"));
                    }
                }
            }
        }
    }

    /// Whether a request with this id timed out.
    pub fn is_overdue(&self, id: &Json) -> bool {
        self.overdue.iter().any(|overdue| same_id(overdue, id))
    }

    /// An id that no suite uses.
    pub fn fresh_id(&mut self) -> Json {
        self.last_id += 1;
        Json::String(format!("{OWN_IDS}{}", self.last_id))
    }

    /// Ends the server: EOF, then SIGTERM, then SIGKILL; `hurried` when somebody is waiting.
    pub async fn close(&mut self, hurried: bool, witness: &mut dyn Witness) -> Closed {
        let grace = self.target.shutdown;
        let mut closed = self.transport.close(if hurried { grace.at_most(HURRIED) } else { grace }).await;
        self.exit = self.exit.or(closed.exit);
        for incoming in std::mem::take(&mut closed.rest) {
            self.note(incoming, witness);
        }
        closed
    }

    /// The ticket of what was sent.
    async fn send(&mut self, message: &Json, witness: &mut dyn Witness) -> Option<u64> {
        let line = format!("{message}\n");
        witness.sent(&line);
        // Why it failed is how the process ended, which is received like everything else.
        self.transport.send(line.as_bytes()).await.ok()
    }

    /// Shows what came to the witness; the exit when it is the end of the process.
    fn note(&mut self, incoming: Incoming, witness: &mut dyn Witness) -> Option<Exit> {
        match incoming {
            Incoming::Message(message) => witness.received(message),
            Incoming::Noise(line) => witness.noise(line),
            Incoming::Oversize { head, bytes } => witness.noise(format!("{head}… ({bytes} bytes)")),
            Incoming::Stderr(text) => witness.stderr(&text),
            Incoming::Traffic(line) => witness.traffic(line),
            Incoming::Note(note) => witness.note(note),
            Incoming::Secret(value) => witness.secret(value),
            Incoming::Ended(ended) => {
                if let Some(refusal) = ended.refusal().filter(|_| !ended.answered) {
                    witness.note(refusal);
                }
            }
            Incoming::StderrClosed | Incoming::StdoutClosed | Incoming::Head { .. } | Incoming::Failed(_) => {}
            Incoming::Exited(exit) => {
                self.exit = Some(exit);
                return Some(exit);
            }
        }
        None
    }
}

/// Whether the engine made up an id, or a token: it is another one in another session.
pub fn is_own_id(id: &Json) -> bool {
    id.as_str().is_some_and(|id| id.starts_with(OWN_IDS))
}

/// A duration in a message: `500ms`, `30s`.
pub fn plain(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis >= 1000 && millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

#[cfg(test)]
mod tests;
