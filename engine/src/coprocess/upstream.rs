//! The server under test, for direct calls: started when the first of them needs it.
//!
//! A server that is gone is not started again behind the caller's back, for what it knew is gone too: every further call
//! says so, until `mcp.initialize` asks for a fresh one.

use super::Direct;
use super::frame::{INTERNAL_ERROR, Refusal, UPSTREAM_ERROR, UPSTREAM_GONE};
use super::hidden::Hidden;
use crate::event::{Body, Direction, Frame, Posted, SessionClosed, SessionOpened, What};
use crate::mcp::cassette::Reel;
use crate::mcp::connection::{Connection, Witness};
use crate::mcp::era::Era;
use crate::mcp::fault::{Code, Fault};
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::Closed;
use crate::reporter::text::cut_middle;
use crate::source::Json;
use crate::suite::server::Tmp;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How much of the server's stderr an error carries.
const STDERR: usize = 4096;
/// How much of a frame an event shows: the beginning and the end.
const FRAME: usize = 2000;
/// How many pages a listing may have: more is a loop.
const MOST_PAGES: usize = 10_000;

/// Where the server comes from: known at once, or looked up when it is needed.
pub(super) type Source = Box<dyn FnMut() -> Result<Direct, String>>;

/// The server under test.
pub(super) struct Upstream {
    source: Source,
    timeout: Option<Duration>,
    state: State,
    reel: Option<Reel>,
    hidden: Hidden,
    sessions: usize,
    happened: Vec<Posted>,
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
    server: Arc<str>,
    command: String,
    /// Removed when the server is gone.
    _tmp: Tmp,
}

/// The end of the server's stderr, and the frames since the last look.
struct Heard {
    session: Arc<str>,
    stderr: String,
    frames: Vec<Posted>,
}

impl Heard {
    fn frame(&mut self, direction: Direction, text: &str) {
        let shown = cut_middle(text.trim_end(), FRAME);
        let cut = text.trim_end().len().saturating_sub(shown.len());
        let frame = Frame { session: self.session.clone(), step: None, direction, text: shown, cut };
        self.frames.push(posted(Body::Frame(frame)));
    }
}

fn posted(body: Body) -> Posted {
    Posted { at: SystemTime::now(), file: None, what: What::Event(body) }
}

/// No event shows this value from here on.
fn secret(value: String) -> Posted {
    Posted { at: SystemTime::now(), file: None, what: What::Secret(value) }
}

impl Witness for Heard {
    fn secret(&mut self, value: String) {
        self.frames.push(secret(value));
    }

    fn sent(&mut self, line: &str) {
        self.frame(Direction::Sent, line);
    }

    fn received(&mut self, message: Message) {
        self.frame(Direction::Received, &message.raw);
    }

    fn noise(&mut self, line: String) {
        self.frame(Direction::Noise, &line);
    }

    fn stderr(&mut self, text: &str) {
        self.stderr.push_str(text);
        if self.stderr.len() > 2 * STDERR {
            let cut = self.stderr.ceil_char_boundary(self.stderr.len() - STDERR);
            self.stderr.replace_range(..cut, "");
        }
    }
}

impl Upstream {
    pub(super) fn new(source: Source, timeout: Option<Duration>, hidden: Hidden) -> Upstream {
        let happened = Vec::new();
        Upstream { source, timeout, state: State::Idle, reel: None, hidden, sessions: 0, happened }
    }

    /// Records or plays from now on: the server is ended, and started anew when it is needed.
    pub(super) async fn set_reel(&mut self, reel: Option<Reel>) {
        self.close().await;
        self.reel = reel;
    }

    /// What happened since the last look.
    pub(super) fn take_events(&mut self) -> Vec<Posted> {
        if let State::Live(link) = &mut self.state {
            self.happened.append(&mut link.heard.frames);
        }
        std::mem::take(&mut self.happened)
    }

    /// The command of the server, as results of its calls are kept under.
    pub(super) fn command(&mut self) -> Result<String, Refusal> {
        match &self.state {
            State::Live(link) => Ok(link.command.clone()),
            _ => Ok((self.source)().map_err(|why| gone(Code::StartFailed, why, ""))?.server.command_line()),
        }
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
            Ok(answer) => {
                heard.frame(Direction::Received, &answer.raw);
                match answer.kind {
                    Kind::Response { is_error: true, .. } => Err(refused(&answer)),
                    _ => Ok(answer),
                }
            }
            Err(fault) if matches!(fault.code, Code::Timeout | Code::MalformedResponse | Code::HttpError) => {
                Err(upstream(fault.code.name(), fault.message))
            }
            Err(fault) if fault.code == Code::CassetteMiss => Err(missed(&fault)),
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
            let closed = link.connection.close(false, &mut link.heard).await;
            self.ended(*link, &closed);
        }
    }

    async fn link(&mut self) -> Result<&mut Link, Refusal> {
        if matches!(self.state, State::Idle) {
            let direct = (self.source)().map_err(|why| gone(Code::StartFailed, why, ""))?;
            self.hidden.add(&direct.server.secrets);
            self.happened.extend(direct.server.secrets.iter().cloned().map(secret));
            self.sessions += 1;
            let timeout = self.timeout.unwrap_or(direct.server.timeout);
            let (link, opened) = Link::open(direct, timeout, self.reel.as_ref(), self.sessions).await?;
            self.happened.push(posted(Body::SessionOpened(opened)));
            self.state = State::Live(Box::new(link));
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
                let closed = link.connection.close(true, &mut link.heard).await;
                let stderr = std::mem::take(&mut link.heard.stderr);
                self.ended(*link, &closed);
                stderr
            }
            _ => String::new(),
        };
        gone(Code::ConnectionLost, why, &stderr)
    }

    fn ended(&mut self, mut link: Link, closed: &Closed) {
        self.happened.append(&mut link.heard.frames);
        self.happened.push(posted(Body::SessionClosed(SessionClosed {
            session: link.heard.session,
            server: link.server,
            exit: closed.exit.map_or_else(|| "the connection was closed".to_owned(), |exit| exit.to_string()),
            by: closed.by,
            duration_ms: closed.took.as_secs_f64() * 1000.0,
        })));
    }
}

impl Link {
    async fn open(
        direct: Direct,
        timeout: Duration,
        reel: Option<&Reel>,
        number: usize,
    ) -> Result<(Link, SessionOpened), Refusal> {
        let begun = Instant::now();
        let Direct { server, environment } = direct;
        let failed = |fault: Fault, stderr: &str| match fault.code {
            Code::CassetteMiss => missed(&fault),
            code => gone(code, told(&fault), stderr),
        };
        let tmp = Tmp::new(&server).map_err(|fault| failed(fault, ""))?;
        let target = server.target(&tmp, &Arc::new(server.client.clone()), &environment);
        let mut target = target.map_err(|fault| failed(fault, ""))?;
        // The awaited `ping` keeps the noise of a start out of the first step's window; there are no windows here.
        target.barrier = false;
        target.spool = server.spool(&tmp, reel);
        let session: Arc<str> = format!("{}#{number}", server.name).into();
        let mut heard = Heard { session: session.clone(), stderr: String::new(), frames: Vec::new() };
        match Connection::open(target, &mut heard).await {
            Ok((connection, introduction)) => {
                let opened = SessionOpened {
                    session,
                    server: server.name.clone(),
                    server_info: introduction.server_info,
                    protocol_version: introduction.protocol_version,
                    era: introduction.era.map(Era::name),
                    duration_ms: begun.elapsed().as_secs_f64() * 1000.0,
                };
                let (server, command) = (server.name.clone(), server.command_line());
                let introduced = introduction.result;
                Ok((Link { connection, heard, introduced, timeout, server, command, _tmp: tmp }, opened))
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

/// The cassette lacks what was asked: neither the server's doing nor a reason to end the session.
fn missed(fault: &Fault) -> Refusal {
    let data = json!({"code": fault.code.name(), "message": fault.message, "hints": fault.hints});
    Refusal::new(INTERNAL_ERROR, told(fault)).with(data)
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
