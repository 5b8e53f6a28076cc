//! The client: one open way to a server, from the handshake to the shutdown.
//!
//! `mcptest run` drives the [transport](Connection::transport) itself once the handshake is over, because a step may send
//! anything at all. Everybody else asks one thing after the other with [`Connection::request`].

use super::fault::{Code, Fault};
use super::lifecycle::{self, Introduction};
use super::message::{Kind, Message};
use super::target::Target;
use super::transport::http::Http;
use super::transport::http::outcome::Ended;
use super::transport::stdio::Stdio;
use super::transport::{Closed, Incoming, Transport};
use crate::child::Exit;
use crate::source::Json;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the awaited `ping` after the handshake may take: a server that never answers it costs this once.
const BARRIER: Duration = Duration::from_secs(2);
/// How long a stage of the shutdown waits when somebody is waiting too.
pub const HURRIED: Duration = Duration::from_millis(400);
/// How much of stderr `readyPattern` is held against: the end.
const MOST_STARTUP: usize = 1024 * 1024;

/// Sees everything that crosses a connection, and answers what the server asks of its client.
pub trait Witness {
    /// A message is sent; with the end of its line.
    fn sent(&mut self, _line: &str) {}

    /// A message came that is not the awaited answer.
    fn received(&mut self, _message: Message) {}

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
    target: Target,
    last_id: u64,
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
        let start = |command| Stdio::start(command, target.max_line).map(Box::new);
        let process = target.command.as_ref().map(start).transpose().map_err(|error| {
            let fault = Fault::new(Code::StartFailed, error.to_string());
            error.hints().into_iter().fold(fault, Fault::hint)
        })?;
        let transport = match (&target.endpoint, process) {
            (Some(endpoint), process) => {
                let http = Http::new(endpoint.clone(), process, target.max_line);
                Transport::Http(Box::new(http.map_err(|why| Fault::new(Code::StartFailed, why))?))
            }
            (None, Some(stdio)) => Transport::Stdio(stdio),
            (None, None) => return Err(Fault::new(Code::StartFailed, "there is neither a command nor a URL")),
        };
        Ok(Connection { transport, exit: None, overdue: Vec::new(), target, last_id: 0 })
    }

    /// Everything before the first request: the ready line, the handshake if there is to be one, the barrier.
    pub async fn begin(&mut self, handshake: bool, witness: &mut dyn Witness) -> Result<Introduction, Fault> {
        self.await_ready_line(witness).await?;
        let patience = self.target.startup_timeout;
        if let Some(http) = self.transport.http() {
            let prepared = http.prepare(patience).await;
            self.note_queued(witness).map_err(Lost::early)?;
            prepared?;
        }
        if !handshake {
            return Ok(Introduction::default());
        }
        self.initialize(witness).await
    }

    /// The handshake of the legacy era.
    pub async fn initialize(&mut self, witness: &mut dyn Witness) -> Result<Introduction, Fault> {
        let patience = self.target.startup_timeout;
        let protocol = self.target.protocol.clone();
        let id = self.fresh_id();
        let request = lifecycle::initialize(&id, protocol.as_deref(), &self.target.capabilities);
        let answer = self.ask(&request, &id, Instant::now() + patience, witness).await.map_err(Lost::early)?;
        let answer = answer.ok_or_else(|| {
            let message = format!("no answer to `initialize` within `startupTimeout` ({})", plain(patience));
            Fault::new(Code::HandshakeFailed, message)
                .hint("a slow server needs a longer `startupTimeout` in its config")
                .hint("a server that prints a line when it is ready can be awaited with `readyPattern`")
        })?;
        let value = answer.value().map_err(|malformed| {
            Fault::new(Code::HandshakeFailed, format!("the answer to `initialize` cannot be read: {malformed}"))
        })?;
        let mut introduction = lifecycle::introduction(&value, protocol.as_deref())
            .map_err(|message| Fault::new(Code::HandshakeFailed, message))?;
        if let (Some(http), Some(revision)) = (self.transport.http(), &introduction.protocol_version) {
            http.negotiated(revision);
        }
        self.send(&lifecycle::initialized(), witness).await;
        if let Some(http) = self.transport.http() {
            http.listen_to_server().await;
        }
        if self.target.barrier {
            let note = self.barrier(witness).await.map_err(Lost::early)?;
            introduction.notes.extend(note);
        }
        Ok(introduction)
    }

    /// Goes on after a pause: what came meanwhile belongs to nothing that is asked from now on. The note says that the
    /// server did not answer.
    pub async fn resume(&mut self, witness: &mut dyn Witness) -> Option<String> {
        if !self.target.barrier || self.exit.is_some() {
            return None;
        }
        // An exit is kept, and met by whoever asks next.
        self.barrier(witness).await.unwrap_or_default()
    }

    /// Asks the server one thing and awaits the answer, a result or an error.
    pub async fn request(
        &mut self,
        method: &str,
        params: Option<Json>,
        timeout: Duration,
        witness: &mut dyn Witness,
    ) -> Result<Message, Fault> {
        let id = self.fresh_id();
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if let Some(params) = params {
            request["params"] = params;
        }
        let lost = |lost: Lost| match lost {
            Lost::Exited(exit) => {
                Fault::new(Code::Crashed, format!("the server ended before it answered `{method}` ({exit})"))
            }
            Lost::Unanswered(ended) => ended.fault(&format!("`{method}`")),
        };
        if let Some(exit) = self.exit {
            return Err(lost(Lost::Exited(exit)));
        }
        let answer = self.ask(&request, &id, Instant::now() + timeout, witness).await.map_err(lost)?;
        match answer {
            Some(Message { kind: Kind::Invalid { why, .. }, .. }) => {
                let message = format!("the answer to `{method}` cannot be read: {why}");
                Err(Fault::new(Code::MalformedResponse, message))
            }
            Some(answer) => Ok(answer),
            None => {
                self.overdue.push(id.clone());
                let patience = Instant::now() + HURRIED;
                let _ = timeout_at(patience, self.send(&lifecycle::cancelled(&id, "timeout"), witness)).await;
                Err(Fault::new(Code::Timeout, format!("no answer to `{method}` within {}", plain(timeout))))
            }
        }
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

    /// An id that no suite uses.
    pub fn fresh_id(&mut self) -> Json {
        self.last_id += 1;
        Json::String(format!("mcptest-{}", self.last_id))
    }

    /// Ends the server: EOF, then SIGTERM, then SIGKILL; `hurried` when somebody is waiting.
    pub async fn close(&mut self, hurried: bool, witness: &mut dyn Witness) -> Closed {
        let grace = self.target.shutdown_timeout;
        let mut closed = self.transport.close(if hurried { grace.min(HURRIED) } else { grace }).await;
        self.exit = self.exit.or(closed.exit);
        for incoming in std::mem::take(&mut closed.rest) {
            self.note(incoming, witness);
        }
        closed
    }

    async fn await_ready_line(&mut self, witness: &mut dyn Witness) -> Result<(), Fault> {
        let Some(pattern) = self.target.ready_pattern.clone() else { return Ok(()) };
        let patience = self.target.startup_timeout;
        let deadline = Instant::now() + patience;
        let mut said = String::new();
        while !pattern.is_match(&said) {
            let Some(incoming) = self.transport.receive_by(deadline).await else {
                let message = format!(
                    "stderr did not match `readyPattern` /{pattern}/ within `startupTimeout` ({})",
                    plain(patience)
                );
                return Err(Fault::new(Code::StartFailed, message));
            };
            if let Incoming::Stderr(text) = &incoming {
                said.push_str(text);
                if said.len() > 2 * MOST_STARTUP {
                    said.drain(..said.ceil_char_boundary(said.len() - MOST_STARTUP));
                }
            }
            if let Some(exit) = self.note(incoming, witness) {
                return Err(Lost::Exited(exit).early());
            }
        }
        Ok(())
    }

    fn note_queued(&mut self, witness: &mut dyn Witness) -> Result<(), Lost> {
        while let Some(incoming) = self.transport.next_queued() {
            if let Some(exit) = self.note(incoming, witness) {
                return Err(Lost::Exited(exit));
            }
        }
        Ok(())
    }

    /// An awaited `ping`: what a server does on start-up comes before its answer, and so belongs to nothing that is asked
    /// later. The note says that no answer came.
    async fn barrier(&mut self, witness: &mut dyn Witness) -> Result<Option<String>, Lost> {
        let id = self.fresh_id();
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let answered = self.ask(&ping, &id, Instant::now() + BARRIER, witness).await?.is_some();
        self.transport.drain().await;
        self.note_queued(witness)?;
        if answered {
            return Ok(None);
        }
        self.overdue.push(id);
        Ok(Some(format!(
            "the server did not answer `ping` within {}; `barrier: false` in its config leaves the ping out",
            plain(BARRIER)
        )))
    }

    /// Sends a request and awaits its answer; `None` when the time is over, an error when none can come any more.
    async fn ask(
        &mut self,
        request: &Json,
        id: &Json,
        deadline: Instant,
        witness: &mut dyn Witness,
    ) -> Result<Option<Message>, Lost> {
        let Ok(ours) = timeout_at(deadline, self.send(request, witness)).await else { return Ok(None) };
        let mut refused = false;
        loop {
            let Some(incoming) = self.transport.receive_by(deadline).await else { return Ok(None) };
            match incoming {
                Incoming::Message(message)
                    if !matches!(message.kind, Kind::Request { .. })
                        && message.id().is_some_and(|its| its == id || (refused && its.is_null())) =>
                {
                    return Ok(Some(message));
                }
                Incoming::Head { ticket, head } if Some(ticket) == ours => {
                    refused = head.status.is_client_error() || head.status.is_server_error();
                }
                Incoming::Ended(ended) if Some(ended.ticket) == ours && !ended.answers_elsewhere => {
                    return Err(Lost::Unanswered(ended));
                }
                Incoming::Message(message) => {
                    if !self.take_in(message, deadline, witness).await {
                        return Ok(None);
                    }
                }
                other => {
                    if let Some(exit) = self.note(other, witness) {
                        return Err(Lost::Exited(exit));
                    }
                }
            }
        }
    }

    /// Takes in a message that nobody awaits, and answers it if it is a request; whether that was done in time.
    async fn take_in(&mut self, message: Message, deadline: Instant, witness: &mut dyn Witness) -> bool {
        let reply = match &message.kind {
            Kind::Request { id, method } => witness.answer(id, method, &message),
            _ => None,
        };
        witness.received(message);
        match reply {
            Some(reply) => timeout_at(deadline, self.send(&reply, witness)).await.is_ok(),
            None => true,
        }
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
                if let Some(refusal) = ended.refusal() {
                    witness.note(refusal);
                }
            }
            Incoming::StderrClosed | Incoming::StdoutClosed | Incoming::Head { .. } => {}
            Incoming::Exited(exit) => {
                self.exit = Some(exit);
                return Some(exit);
            }
        }
        None
    }
}

/// Why no answer can come any more.
#[derive(Debug)]
enum Lost {
    /// The process ended.
    Exited(Exit),
    /// The request over HTTP is over.
    Unanswered(Box<Ended>),
}

impl Lost {
    /// As the fault of a start.
    fn early(self) -> Fault {
        match self {
            Lost::Exited(exit) => {
                Fault::new(Code::StartFailed, format!("the server ended before it was ready ({exit})"))
            }
            Lost::Unanswered(ended) => {
                let fault = ended.fault("`initialize`");
                let code = if ended.head.is_some() { Code::HandshakeFailed } else { Code::StartFailed };
                Fault { code, ..fault }
            }
        }
    }
}

/// A duration in a message: `500ms`, `30s`.
pub fn plain(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis >= 1000 && millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

#[cfg(test)]
mod tests;
