//! The server under test, for direct calls: started when the first of them needs it.
//!
//! A server that is gone is not started again behind the caller's back, for what it knew is gone too: every further call
//! says so, until `mcp.initialize` asks for a fresh one.

use super::frame::{Refusal, UPSTREAM_ERROR, UPSTREAM_GONE};
use crate::child::{Exit, Spawn};
use crate::mcp::era::Protocol;
use crate::mcp::lifecycle;
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::Incoming;
use crate::mcp::transport::stdio::Stdio;
use crate::source::Json;
use crate::suite::server::Server;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How much of the server's stderr an error carries.
const STDERR: usize = 4096;
/// How many pages a listing may have: more is a loop.
const MOST_PAGES: usize = 10_000;

/// Where the server comes from: known at once, or looked up when it is needed.
pub(super) type Source = Box<dyn FnMut() -> Result<Arc<Server>, String>>;

/// The server under test.
pub(super) struct Upstream {
    source: Source,
    environment: Vec<(String, String)>,
    timeout: Option<Duration>,
    state: State,
}

enum State {
    Idle,
    Live(Box<Link>),
    Gone(String),
}

struct Link {
    server: Arc<Server>,
    stdio: Stdio,
    introduced: Json,
    stderr: String,
    last_id: u64,
    timeout: Duration,
}

impl Upstream {
    pub(super) fn new(source: Source, environment: Vec<(String, String)>, timeout: Option<Duration>) -> Upstream {
        Upstream { source, environment, timeout, state: State::Idle }
    }

    /// What the server said to `initialize`; a server that is gone is started anew.
    pub(super) async fn initialize(&mut self) -> Result<Json, Refusal> {
        if matches!(self.state, State::Gone(_)) {
            self.state = State::Idle;
        }
        self.link().await.map(|link| link.introduced.clone())
    }

    /// Sends a request; its answer is a result, for an error of the server is a refusal.
    pub(super) async fn request(&mut self, method: &str, params: Option<&str>) -> Result<Message, Refusal> {
        let answer = self.link().await?.request(method, params).await;
        let answer = self.keep(answer).await?;
        if let Kind::Response { is_error: true, .. } = answer.kind {
            return Err(refused(&answer));
        }
        Ok(answer)
    }

    /// Every page of a listing, joined.
    pub(super) async fn list(&mut self, method: &str, key: &str) -> Result<Vec<Value>, Refusal> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let params = cursor.take().map(|cursor| json!({ "cursor": cursor }).to_string());
            let mut page = self.request(method, params.as_deref()).await?.body().map_err(|error| odd(error.why))?;
            match page.get_mut(key).map(Value::take) {
                Some(Value::Array(found)) => items.extend(found),
                _ => return Err(odd(format!("the answer to `{method}` has no list `{key}`"))),
            }
            match page.get("nextCursor") {
                Some(Value::String(next)) => cursor = Some(next.clone()),
                _ => return Ok(items),
            }
        }
        Err(odd(format!("the pages of `{method}` never end: {MOST_PAGES} came")))
    }

    /// Hears what the server says while nobody asks anything; returns never.
    pub(super) async fn listen(&mut self) {
        while let State::Live(link) = &mut self.state {
            let incoming = link.stdio.listen().await;
            if let Err(why) = link.hear(incoming).await {
                self.lose(why).await;
            }
        }
        std::future::pending().await
    }

    /// Ends the server, if there is one.
    pub(super) async fn close(&mut self) {
        if let State::Live(mut link) = std::mem::replace(&mut self.state, State::Idle) {
            link.stdio.close(link.server.shutdown_timeout).await;
        }
    }

    async fn link(&mut self) -> Result<&mut Link, Refusal> {
        if matches!(self.state, State::Idle) {
            let server = (self.source)().map_err(|why| gone("start_failed", why, ""))?;
            let timeout = self.timeout.unwrap_or(server.timeout);
            self.state = State::Live(Box::new(Link::open(server, &self.environment, timeout).await?));
        }
        match &mut self.state {
            State::Live(link) => Ok(link),
            State::Gone(why) => Err(gone("connection_lost", why.clone(), "")),
            State::Idle => Err(gone("connection_lost", "the server is closed".into(), "")),
        }
    }

    async fn keep(&mut self, answer: Result<Message, Trouble>) -> Result<Message, Refusal> {
        match answer {
            Ok(message) => Ok(message),
            Err(Trouble::Odd(refusal)) => Err(refusal),
            Err(Trouble::Gone(why)) => Err(self.lose(why).await),
        }
    }

    async fn lose(&mut self, why: String) -> Refusal {
        let stderr = match std::mem::replace(&mut self.state, State::Gone(why.clone())) {
            State::Live(mut link) => {
                let closed = link.stdio.close(link.server.shutdown_timeout).await;
                closed.rest.into_iter().for_each(|incoming| link.note(incoming));
                std::mem::take(&mut link.stderr)
            }
            _ => String::new(),
        };
        gone("connection_lost", why, &stderr)
    }
}

/// Why a request has no answer.
enum Trouble {
    /// The server lives, and did not answer as it should.
    Odd(Refusal),
    /// There is no server any more.
    Gone(String),
}

impl Link {
    async fn open(server: Arc<Server>, environment: &[(String, String)], timeout: Duration) -> Result<Link, Refusal> {
        let program = match server.command.as_str() {
            "mcptest" => std::env::current_exe().map_or("mcptest".into(), |path| path.to_string_lossy().into_owned()),
            command => command.to_owned(),
        };
        let spawn = Spawn {
            program,
            args: server.args.clone(),
            cwd: server.cwd.clone(),
            env: environment.iter().chain(&server.env).cloned().collect(),
            inherit_env: true,
        };
        let stdio = Stdio::start(&spawn, server.max_line).map_err(|error| {
            let why = std::iter::once(error.to_string()).chain(error.hints()).collect::<Vec<_>>().join("; ");
            gone("start_failed", why, "")
        })?;
        let startup = server.startup_timeout;
        let introduced = Json::Null;
        let mut link = Link { server, stdio, introduced, stderr: String::new(), last_id: 0, timeout: startup };
        match link.shake_hands().await {
            Ok(introduced) => Ok(Link { introduced, timeout, ..link }),
            Err((code, why)) => {
                let closed = link.stdio.close(Duration::from_millis(400).min(link.server.shutdown_timeout)).await;
                closed.rest.into_iter().for_each(|incoming| link.note(incoming));
                Err(gone(code, why, &link.stderr))
            }
        }
    }

    async fn shake_hands(&mut self) -> Result<Json, (&'static str, String)> {
        if matches!(self.server.protocol, Protocol::Modern(_)) {
            let why = "direct calls speak the legacy era only; let its config say `protocol: legacy` or `auto`";
            return Err(("handshake_failed", why.to_owned()));
        }
        let request = lifecycle::initialize(&Json::Null, self.server.protocol.revision(), &self.server.client);
        let params = request["params"].to_string();
        let answer = match self.request("initialize", Some(&params)).await {
            Ok(answer) => answer,
            Err(Trouble::Odd(refusal)) => return Err(("handshake_failed", refusal.message)),
            Err(Trouble::Gone(why)) => return Err(("start_failed", why)),
        };
        let value = answer.value().map_err(|malformed| ("handshake_failed", malformed.why))?;
        lifecycle::introduction(&value, self.server.protocol.revision()).map_err(|why| ("handshake_failed", why))?;
        let line = format!("{}\n", lifecycle::initialized());
        let _ = self.stdio.send(line.as_bytes()).await;
        Ok(value["result"].clone())
    }

    async fn request(&mut self, method: &str, params: Option<&str>) -> Result<Message, Trouble> {
        self.last_id += 1;
        let id = Json::from(self.last_id);
        let params = params.map(|params| format!(",\"params\":{params}")).unwrap_or_default();
        let method_text = Json::from(method);
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method_text}{params}}}\n");
        let deadline = Instant::now() + self.timeout;
        let late = |timeout: Duration| {
            Trouble::Odd(upstream("timeout", format!("the server did not answer `{method}` within {timeout:?}")))
        };
        if timeout_at(deadline, self.stdio.send(line.as_bytes())).await.is_err() {
            return Err(Trouble::Gone(format!("the server did not read `{method}` within {:?}", self.timeout)));
        }
        loop {
            let Some(incoming) = timeout_at(deadline, self.stdio.receive()).await.ok() else {
                let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "timeout"}});
                let soon = Instant::now() + Duration::from_millis(100);
                let _ = timeout_at(soon, self.stdio.send(format!("{cancelled}\n").as_bytes())).await;
                return Err(late(self.timeout));
            };
            match incoming {
                Incoming::Message(message) if message.id() == Some(&id) => match &message.kind {
                    Kind::Request { .. } => self.hear(Incoming::Message(message)).await.map_err(Trouble::Gone)?,
                    Kind::Invalid { why, .. } => return Err(Trouble::Odd(odd(why.clone()))),
                    _ => return Ok(message),
                },
                incoming => self.hear(incoming).await.map_err(Trouble::Gone)?,
            }
        }
    }

    /// Something that answers nobody: requests of the server are answered, the end of the server is an error.
    async fn hear(&mut self, incoming: Incoming) -> Result<(), String> {
        match incoming {
            Incoming::Message(Message { kind: Kind::Request { id, method }, .. }) => {
                let reply = match method.as_str() {
                    "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
                    _ => {
                        let message = format!("method not found: {method}");
                        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": message}})
                    }
                };
                let soon = Instant::now() + self.timeout;
                let _ = timeout_at(soon, self.stdio.send(format!("{reply}\n").as_bytes())).await;
            }
            Incoming::Exited(exit) => return Err(ended(exit)),
            Incoming::StdoutClosed => {
                let soon = Duration::from_millis(200);
                return Err(match tokio::time::timeout(soon, self.stdio.child().wait()).await {
                    Ok(exit) => ended(exit),
                    Err(_) => "the server closed its stdout".into(),
                });
            }
            other => self.note(other),
        }
        Ok(())
    }

    fn note(&mut self, incoming: Incoming) {
        let Incoming::Stderr(text) = incoming else { return };
        self.stderr.push_str(&text);
        if self.stderr.len() > 2 * STDERR {
            let cut = self.stderr.floor_char_boundary(self.stderr.len() - STDERR);
            self.stderr.replace_range(..cut, "");
        }
    }
}

fn ended(exit: Exit) -> String {
    format!("the server ended ({exit})")
}

/// The server's own error, handed on.
fn refused(answer: &Message) -> Refusal {
    let error = answer.body().unwrap_or_default();
    let message = error.get("message").and_then(Json::as_str).map_or_else(|| error.to_string(), str::to_owned);
    let field = |name: &str| error.get(name).cloned().unwrap_or_default();
    let data = json!({"code": field("code"), "message": field("message"), "data": field("data")});
    Refusal::new(UPSTREAM_ERROR, message).with(data)
}

/// The server lives, and misbehaved.
fn upstream(code: &str, message: String) -> Refusal {
    let data = json!({"code": code, "message": message, "data": null});
    Refusal::new(UPSTREAM_ERROR, message).with(data)
}

/// An answer that cannot be read.
pub(super) fn odd(why: String) -> Refusal {
    upstream("malformed_response", why)
}

fn gone(code: &str, message: String, stderr: &str) -> Refusal {
    let stderr = stderr.trim_end();
    let tail = &stderr[stderr.floor_char_boundary(stderr.len().saturating_sub(STDERR))..];
    let data = if tail.is_empty() { Json::Null } else { json!({ "stderr": tail }) };
    let data = json!({"code": code, "message": message, "data": data});
    Refusal::new(UPSTREAM_GONE, message).with(data)
}
