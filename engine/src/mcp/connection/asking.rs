//! One question at a time: a request, everything that comes before its answer, and why none can come any more.

use super::{Connection, HURRIED, Witness, plain};
use crate::child::Exit;
use crate::mcp::fault::{Code, Fault};
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::Incoming;
use crate::mcp::transport::http::outcome::Ended;
use crate::mcp::{era, input, lifecycle};
use crate::source::Json;
use serde_json::{Map, json};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a server that closed its stdout may take to end by itself, so that the exit can be told.
const ENDING: Duration = Duration::from_millis(200);

/// Why a server may end at its start that nothing is wrong with.
const IN_PEACE: &str =
    "it ended by itself and without an error: a server answers until its input ends, and in the foreground";

impl Connection {
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

    pub(super) async fn request_once(
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
                let unfinished = self.transport.unfinished();
                self.overdue.push(id.clone());
                if !self.abandon(&id) {
                    let patience = Instant::now() + HURRIED;
                    let _ = timeout_at(patience, self.send(&lifecycle::cancelled(&id, "timeout"), witness)).await;
                }
                let fault = Fault::new(Code::Timeout, format!("no answer to `{method}` within {}", plain(timeout)));
                Err(unfinished.into_iter().fold(fault, Fault::hint))
            }
        }
    }

    /// Sends a request and awaits its answer; `None` when the time is over, an error when none can come any more.
    pub(super) async fn ask(
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
    pub(super) async fn await_answer(
        &mut self,
        ids: &[&Json],
        ours: Option<u64>,
        deadline: Instant,
        witness: &mut dyn Witness,
    ) -> Result<Option<Message>, Lost> {
        self.status = None;
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
                    witness.answered(&message);
                    return Ok(Some(message));
                }
                Incoming::Head { ticket, head } if Some(ticket) == ours => {
                    self.status = Some(head.status);
                    refused = head.status.is_client_error() || head.status.is_server_error();
                }
                Incoming::Ended(ended) if Some(ended.ticket) == ours && !ended.answers_elsewhere => {
                    return Err(match ended.body {
                        None => match self.exit_soon().await {
                            Some(exit) => Lost::Exited(exit),
                            None => Lost::Unanswered(ended),
                        },
                        Some(_) => Lost::Unanswered(ended),
                    });
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

    /// How the process ended behind a URL, if it does so in a moment: that a connection broke is told first.
    pub async fn exit_soon(&mut self) -> Option<Exit> {
        self.transport.http()?;
        let process = self.transport.process()?;
        timeout_at(Instant::now() + ENDING, process.child().wait()).await.ok()
    }

    /// Whether answers can still come.
    fn can_hear(&mut self) -> bool {
        self.transport.http().is_some() || self.transport.process().is_none_or(|process| process.is_open())
    }

    /// Takes in a message that nobody awaits, and answers it if it is a request; whether that was done in time.
    pub(super) async fn take_in(&mut self, message: Message, deadline: Instant, witness: &mut dyn Witness) -> bool {
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
}

/// Why no answer can come any more.
#[derive(Debug)]
pub(super) enum Lost {
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
    pub(super) fn early(self) -> Fault {
        self.early_at("initialize")
    }

    /// The same, of the request with this method.
    pub(super) fn early_at(self, method: &str) -> Fault {
        match self {
            Lost::Exited(exit) => {
                let fault = Fault::new(Code::StartFailed, format!("the server ended before it was ready ({exit})"));
                if exit.code == Some(0) { fault.hint(IN_PEACE) } else { fault }
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
