//! The server under test, for direct calls: started when the first of them needs it.
//!
//! A server that is gone is not started again behind the caller's back, for what it knew is gone too: every further call
//! says so, until `mcp.initialize` asks for a fresh one.

use super::Direct;
use super::frame::{Refusal, UPSTREAM_ERROR, UPSTREAM_GONE};
use crate::mcp::connection::{Connection, Witness};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::message::{Kind, Message};
use crate::source::Json;
use crate::suite::server::Tmp;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How much of the server's stderr an error carries.
const STDERR: usize = 4096;
/// How many pages a listing may have: more is a loop.
const MOST_PAGES: usize = 10_000;

/// Where the server comes from: known at once, or looked up when it is needed.
pub(super) type Source = Box<dyn FnMut() -> Result<Direct, String>>;

/// The server under test.
pub(super) struct Upstream {
    source: Source,
    timeout: Option<Duration>,
    state: State,
}

enum State {
    Idle,
    Live(Box<Link>),
    Gone(String),
}

struct Link {
    connection: Connection,
    heard: Heard,
    introduced: Json,
    timeout: Duration,
    /// Removed when the server is gone.
    _tmp: Tmp,
}

/// The end of the server's stderr.
#[derive(Default)]
struct Heard {
    stderr: String,
}

impl Witness for Heard {
    fn stderr(&mut self, text: &str) {
        self.stderr.push_str(text);
        if self.stderr.len() > 2 * STDERR {
            let cut = self.stderr.ceil_char_boundary(self.stderr.len() - STDERR);
            self.stderr.replace_range(..cut, "");
        }
    }
}

impl Upstream {
    pub(super) fn new(source: Source, timeout: Option<Duration>) -> Upstream {
        Upstream { source, timeout, state: State::Idle }
    }

    /// What the server said to `initialize`; a server that is gone is started anew.
    pub(super) async fn initialize(&mut self) -> Result<Json, Refusal> {
        if matches!(self.state, State::Gone(_)) {
            self.state = State::Idle;
        }
        self.link().await.map(|link| link.introduced.clone())
    }

    /// Sends a request; its answer is a result, for an error of the server is a refusal.
    pub(super) async fn request(&mut self, method: &str, params: Option<Json>) -> Result<Message, Refusal> {
        let Link { connection, heard, timeout, .. } = self.link().await?;
        match connection.request(method, params, *timeout, heard).await {
            Ok(answer) => match answer.kind {
                Kind::Response { is_error: true, .. } => Err(refused(&answer)),
                _ => Ok(answer),
            },
            Err(fault) if matches!(fault.code, Code::Timeout | Code::MalformedResponse) => {
                Err(upstream(fault.code.name(), fault.message))
            }
            Err(fault) => Err(self.lose(fault).await),
        }
    }

    /// Every page of a listing, joined.
    pub(super) async fn list(&mut self, method: &str, key: &str) -> Result<Vec<Value>, Refusal> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let params = cursor.take().map(|cursor| json!({ "cursor": cursor }));
            let mut page = self.request(method, params).await?.body().map_err(|error| odd(error.why))?;
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
            let Link { connection, heard, .. } = &mut **link;
            let fault = connection.listen(heard).await;
            self.lose(fault).await;
        }
        std::future::pending().await
    }

    /// Ends the server, if there is one.
    pub(super) async fn close(&mut self) {
        if let State::Live(mut link) = std::mem::replace(&mut self.state, State::Idle) {
            link.connection.close(false, &mut ()).await;
        }
    }

    async fn link(&mut self) -> Result<&mut Link, Refusal> {
        if matches!(self.state, State::Idle) {
            let direct = (self.source)().map_err(|why| gone(Code::StartFailed, why, ""))?;
            let timeout = self.timeout.unwrap_or(direct.server.timeout);
            self.state = State::Live(Box::new(Link::open(direct, timeout).await?));
        }
        match &mut self.state {
            State::Live(link) => Ok(link),
            State::Gone(why) => Err(gone(Code::ConnectionLost, why.clone(), "")),
            State::Idle => Err(gone(Code::ConnectionLost, "the server is closed".into(), "")),
        }
    }

    async fn lose(&mut self, fault: Fault) -> Refusal {
        let why = told(&fault);
        let stderr = match std::mem::replace(&mut self.state, State::Gone(why.clone())) {
            State::Live(mut link) => {
                link.connection.close(true, &mut link.heard).await;
                link.heard.stderr
            }
            _ => String::new(),
        };
        gone(Code::ConnectionLost, why, &stderr)
    }
}

impl Link {
    async fn open(direct: Direct, timeout: Duration) -> Result<Link, Refusal> {
        let Direct { server, environment } = direct;
        let failed = |fault: Fault, stderr: &str| gone(fault.code, told(&fault), stderr);
        let tmp = Tmp::new(&server).map_err(|fault| failed(fault, ""))?;
        let target = server.target(&tmp, &Arc::new(server.client.clone()), &environment);
        let mut target = target.map_err(|fault| failed(fault, ""))?;
        // The awaited `ping` keeps the noise of a start out of the first step's window; there are no windows here.
        target.barrier = false;
        let mut heard = Heard::default();
        match Connection::open(target, &mut heard).await {
            Ok((connection, introduction)) => {
                Ok(Link { connection, heard, introduced: introduction.result, timeout, _tmp: tmp })
            }
            Err(fault) => Err(failed(fault, &heard.stderr)),
        }
    }
}

/// A fault in one text, what to do about it included.
fn told(fault: &Fault) -> String {
    std::iter::once(&fault.message).chain(&fault.hints).map(String::as_str).collect::<Vec<_>>().join("; ")
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
    upstream(Code::MalformedResponse.name(), why)
}

fn gone(code: Code, message: String, stderr: &str) -> Refusal {
    let stderr = stderr.trim_end();
    let tail = &stderr[stderr.ceil_char_boundary(stderr.len().saturating_sub(STDERR))..];
    let data = if tail.is_empty() { Json::Null } else { json!({ "stderr": tail }) };
    let data = json!({"code": code.name(), "message": message, "data": data});
    Refusal::new(UPSTREAM_GONE, message).with(data)
}
