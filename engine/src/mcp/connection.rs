//! The client: one open way to a server, from the handshake to the shutdown.
//!
//! `mcptest run` drives the [transport](Connection::transport) itself once the handshake is over, because a step may send
//! anything at all. Everybody else asks one thing after the other with [`Connection::request`].

mod opening;
mod tools;

use super::cassette::{Reel, Spool};
use super::era;
use super::fault::{Code, Fault};
use super::input;
use super::lifecycle::{self, Introduction};
use super::message::{Kind, Message};
use super::target::Target;
use super::transport::http::Http;
use super::transport::http::outcome::Ended;
use super::transport::stdio::Stdio;
use super::transport::{Closed, Incoming, Transport};
use crate::child::Exit;
use crate::source::Json;
use serde_json::{Map, json};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a stage of the shutdown waits when somebody is waiting too.
pub const HURRIED: Duration = Duration::from_millis(400);

/// How long a server that closed its stdout may take to end by itself, so that the exit can be told.
const ENDING: Duration = Duration::from_millis(200);

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
    /// Whether the last request was answered with a 404, as by a server that has lost the session.
    pub not_found: bool,
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
        Ok(Connection {
            transport,
            exit: None,
            overdue: Vec::new(),
            not_found: false,
            target,
            modern: None,
            last_id: 0,
        })
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

    /// Asks the server one thing and awaits the answer, a result or an error.
    ///
    /// In the modern era a result that asks for input is answered by the witness, and the request is sent again with its
    /// answers; one that the witness cannot answer is returned as it is.
    pub async fn request(
        &mut self,
        method: &str,
        params: Option<Json>,
        timeout: Duration,
        witness: &mut dyn Witness,
    ) -> Result<Message, Fault> {
        let deadline = Instant::now() + timeout;
        self.list_tools_before(method, deadline, witness).await;
        let Some(modern) = &self.modern else { return self.request_once(method, params, timeout, witness).await };
        let params = era::add_meta(params, &modern.meta);
        let mut round = params.clone();
        for _ in 0..input::MOST_ROUNDS {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self.request_once(method, Some(round), left, witness).await?;
            let Some(asked) = input::asked(&answer) else { return Ok(answer) };
            let told = asked.requests.iter().map(|request| {
                let message = request.message()?;
                let reply = witness.answer(&Json::from(request.key.as_str()), &request.method, &message);
                let result = reply?.get_mut("result").map(Json::take)?;
                Some((request.key.clone(), result))
            });
            let Some(told) = told.collect::<Option<Map<String, Json>>>().filter(|_| asked.can_go_on()) else {
                return Ok(answer);
            };
            round = asked.retry(&params, told);
        }
        Err(Fault::new(Code::MalformedResponse, input::endless(method)))
    }

    async fn request_once(
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
            Lost::Closed => {
                Fault::new(Code::Crashed, format!("the server closed its stdout before it answered `{method}`"))
            }
            Lost::Unanswered(ended) => ended.fault(&format!("`{method}`")),
            Lost::Failed(fault) => *fault,
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
                if !self.abandon(&id) {
                    let patience = Instant::now() + HURRIED;
                    let _ = timeout_at(patience, self.send(&lifecycle::cancelled(&id, "timeout"), witness)).await;
                }
                Err(Fault::new(Code::Timeout, format!("no answer to `{method}` within {}", plain(timeout))))
            }
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

    /// An id that no suite uses.
    pub fn fresh_id(&mut self) -> Json {
        self.last_id += 1;
        Json::String(format!("mcptest-{}", self.last_id))
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

    /// Sends a request and awaits its answer; `None` when the time is over, an error when none can come any more.
    async fn ask(
        &mut self,
        request: &Json,
        id: &Json,
        deadline: Instant,
        witness: &mut dyn Witness,
    ) -> Result<Option<Message>, Lost> {
        let Ok(ours) = timeout_at(deadline, self.send(request, witness)).await else { return Ok(None) };
        self.await_answer(&[id], ours, deadline, witness).await
    }

    /// Awaits the answer to one of several requests; `ours` is the ticket of the first.
    async fn await_answer(
        &mut self,
        ids: &[&Json],
        ours: Option<u64>,
        deadline: Instant,
        witness: &mut dyn Witness,
    ) -> Result<Option<Message>, Lost> {
        let mut refused = false;
        let mut closing: Option<Instant> = None;
        loop {
            if closing.is_none() && !self.can_hear() {
                // A server that only closed its stdout can answer nothing; the exit of one that ended follows.
                closing = Some(Instant::now() + ENDING);
            }
            let until = closing.map_or(deadline, |closing| closing.min(deadline));
            let Some(incoming) = self.transport.receive_by(until).await else {
                return if closing.is_some() { Err(Lost::Closed) } else { Ok(None) };
            };
            match incoming {
                Incoming::Failed(fault) => return Err(Lost::Failed(fault)),
                Incoming::Message(message)
                    if !matches!(message.kind, Kind::Request { .. })
                        && message.id().is_some_and(|its| ids.contains(&its) || (refused && its.is_null())) =>
                {
                    return Ok(Some(message));
                }
                Incoming::Head { ticket, head } if Some(ticket) == ours => {
                    self.not_found = head.status == 404;
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

    /// Whether answers can still come.
    fn can_hear(&mut self) -> bool {
        self.transport.http().is_some() || self.transport.process().is_none_or(|process| process.is_open())
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
            Incoming::StderrClosed | Incoming::StdoutClosed | Incoming::Head { .. } | Incoming::Failed(_) => {}
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
    /// It closed its stdout, and lives on.
    Closed,
    /// No server is to blame.
    Failed(Box<Fault>),
    /// The request over HTTP is over.
    Unanswered(Box<Ended>),
}

impl Lost {
    /// As the fault of a start.
    fn early(self) -> Fault {
        self.early_at("initialize")
    }

    /// The same, of the request with this method.
    fn early_at(self, method: &str) -> Fault {
        match self {
            Lost::Exited(exit) => {
                Fault::new(Code::StartFailed, format!("the server ended before it was ready ({exit})"))
            }
            Lost::Closed => Fault::new(Code::StartFailed, "the server closed its stdout before it was ready"),
            Lost::Failed(fault) => *fault,
            Lost::Unanswered(ended) => {
                let fault = ended.fault(&format!("`{method}`"));
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
