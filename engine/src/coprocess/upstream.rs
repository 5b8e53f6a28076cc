//! The server under test, for direct calls: started when the first of them needs it.
//!
//! A server that is gone is not started again behind the caller's back, for what it knew is gone too: every further call
//! says so, until `mcp.initialize` asks for a fresh one.

mod refusal;

use super::frame::Refusal;
use super::heard::{Heard, posted, secret};
use super::hidden::Hidden;
use super::{Direct, Played, Source};
use crate::event::{Body, Direction, Posted, SessionClosed, SessionOpened};
use crate::mcp::cassette::Reel;
use crate::mcp::connection::{Connection, Witness};
use crate::mcp::era::Era;
use crate::mcp::fault::{Code, Fault};
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::Closed;
use crate::source::Json;
use crate::suite::server::Tmp;
pub(super) use refusal::odd;
use refusal::{gone, missed, refused, told, unfit, upstream};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many pages a listing may have: more is a loop.
const MOST_PAGES: usize = 10_000;

/// The server under test.
pub(super) struct Upstream {
    source: Source,
    timeout: Option<Duration>,
    state: State,
    reel: Option<Reel>,
    played: Option<Played>,
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
    identity: Option<Json>,
    /// Removed when the server is gone.
    _tmp: Tmp,
}

impl Upstream {
    pub(super) fn new(source: Source, timeout: Option<Duration>, hidden: Hidden) -> Upstream {
        let happened = Vec::new();
        let (reel, played) = (None, None);
        Upstream { source, timeout, state: State::Idle, reel, played, hidden, sessions: 0, happened }
    }

    /// Records or plays from now on: the server is ended, and started anew when it is needed.
    pub(super) async fn set_reel(&mut self, reel: Option<Reel>, played: Option<Played>) {
        self.close().await;
        (self.reel, self.played) = (reel, played);
    }

    /// What happened since the last look.
    pub(super) fn take_events(&mut self) -> Vec<Posted> {
        if let State::Live(link) = &mut self.state {
            self.happened.append(&mut link.heard.events);
        }
        std::mem::take(&mut self.happened)
    }

    /// What results of the server's calls are kept under; nothing while a conversation is recorded or played.
    pub(super) fn identity(&mut self) -> Result<Option<Json>, Refusal> {
        match &self.state {
            _ if self.reel.is_some() => Ok(None),
            State::Live(link) => Ok(link.identity.clone()),
            _ => self.direct().map(|direct| direct.identity()),
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
                    _ => match connection.modern().and_then(|_| unfit(method, &answer)) {
                        Some(refusal) => Err(refusal),
                        None => Ok(answer),
                    },
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
        let mut cursors = HashSet::new();
        let mut params = None;
        for _ in 0..MOST_PAGES {
            let mut page = self.request(method, params.take()).await?.body().map_err(|error| odd(error.why))?;
            match page.get_mut(key).map(Value::take) {
                Some(Value::Array(found)) => items.extend(found),
                _ => return Err(odd(format!("the answer to `{method}` has no list `{key}`"))),
            }
            match page.get("nextCursor") {
                Some(Value::String(next)) if cursors.insert(next.clone()) => params = Some(json!({ "cursor": next })),
                Some(Value::String(next)) => {
                    return Err(odd(format!("the pages of `{method}` never end: the cursor `{next}` came twice")));
                }
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
            let link = self.open().await?;
            self.state = State::Live(Box::new(link));
        }
        match &mut self.state {
            State::Live(link) => Ok(link),
            State::Gone(why) => Err(gone(Code::ConnectionLost, why.clone(), "")),
            State::Idle => Err(gone(Code::ConnectionLost, "the server is closed".into(), "")),
        }
    }

    fn direct(&mut self) -> Result<Direct, Refusal> {
        (self.source)(self.played.as_ref()).map_err(|why| gone(Code::StartFailed, why, ""))
    }

    async fn open(&mut self) -> Result<Link, Refusal> {
        let direct = self.direct()?;
        for values in [&direct.server.secrets, &direct.secrets] {
            self.hidden.add(values);
            self.happened.extend(values.iter().cloned().map(secret));
        }
        self.sessions += 1;
        let session = format!("{}#{}", direct.server.name, self.sessions).into();
        let mut heard = Heard::new(session, self.hidden.clone());
        match begin(&direct, self.reel.as_ref(), &mut heard).await {
            Ok(Begun { connection, opened, introduced, tmp }) => {
                self.happened.push(posted(Body::SessionOpened(opened)));
                let timeout = self.timeout.unwrap_or(direct.server.timeout);
                let (server, identity) = (direct.server.name.clone(), direct.identity());
                Ok(Link { connection, heard, introduced, timeout, server, identity, _tmp: tmp })
            }
            Err(fault) => {
                // What was said until then is told too.
                self.happened.append(&mut heard.events);
                Err(match fault.code {
                    Code::CassetteMiss => missed(&fault),
                    code => gone(code, told(&fault), &heard.stderr_tail()),
                })
            }
        }
    }

    async fn lose(&mut self, fault: Fault) -> Refusal {
        let why = told(&fault);
        let stderr = match std::mem::replace(&mut self.state, State::Gone(why.clone())) {
            State::Live(mut link) => {
                let closed = link.connection.close(true, &mut link.heard).await;
                let stderr = link.heard.stderr_tail();
                self.ended(*link, &closed);
                stderr
            }
            _ => String::new(),
        };
        gone(Code::ConnectionLost, why, &stderr)
    }

    fn ended(&mut self, mut link: Link, closed: &Closed) {
        self.happened.append(&mut link.heard.events);
        self.happened.push(posted(Body::SessionClosed(SessionClosed {
            session: link.heard.session,
            server: link.server,
            exit: closed.exit.map_or_else(|| "the connection was closed".to_owned(), |exit| exit.to_string()),
            by: closed.by,
            duration_ms: closed.took.as_secs_f64() * 1000.0,
        })));
    }
}

/// What the start of a server came to.
struct Begun {
    connection: Connection,
    opened: SessionOpened,
    introduced: Json,
    tmp: Tmp,
}

/// Starts the server and shakes hands.
async fn begin(direct: &Direct, reel: Option<&Reel>, heard: &mut Heard) -> Result<Begun, Fault> {
    let begun = Instant::now();
    let Direct { server, environment, .. } = direct;
    let tmp = Tmp::new(server)?;
    let mut target = server.target(&tmp, &Arc::new(server.client.clone()), environment)?;
    // The awaited `ping` keeps the noise of a start out of the first step's window; there are no windows here.
    target.barrier = false;
    target.spool = server.spool(&tmp, reel);
    let (connection, introduction) = Connection::open(target, heard).await?;
    introduction.notes.into_iter().for_each(|note| heard.note(note));
    let opened = SessionOpened {
        session: heard.session.clone(),
        server: server.name.clone(),
        server_info: introduction.server_info,
        protocol_version: introduction.protocol_version,
        era: introduction.era.map(Era::name),
        duration_ms: begun.elapsed().as_secs_f64() * 1000.0,
    };
    Ok(Begun { connection, opened, introduced: introduction.result, tmp })
}
