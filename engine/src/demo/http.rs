//! The same server over Streamable HTTP, for many clients: POST, GET and DELETE of `/mcp` on this machine only.
//!
//! A thread serves a connection. A session of the legacy era is a conversation of its own; all requests of the modern era
//! share one, because that era has no sessions. A call that says something before its answer is answered with a stream,
//! any other with JSON.

mod exchange;
mod session;

use super::lifecycle::Revision;
use super::reply::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Refusal, envelope};
use crate::mcp::era::{CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION};
use exchange::{Events, Request, is_gone, json, read, status};
use serde_json::Value;
use session::Session;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Where messages go.
const PATH: &str = "/mcp";
/// Sessions that clients left without a word; past this many, the oldest ends.
const MOST_SESSIONS: usize = 100;
/// How often a client that is waited with is looked after.
const LOOK: Duration = Duration::from_millis(200);
/// The modern era: the headers and the body of a request say different things.
const HEADER_MISMATCH: i64 = -32020;
/// The modern era: a capability is missing, or the revision is not spoken.
const REFUSALS: [i64; 3] = [HEADER_MISMATCH, -32021, -32022];

/// Serves `port` of this machine, 0 for any, until the process ends; prints the URL. Where stdin is a pipe, its end is
/// the end.
pub(super) fn main(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let mut stdout = io::stdout();
    writeln!(stdout, "http://{}{PATH}", listener.local_addr()?)?;
    stdout.flush()?;
    if rustix::fs::fstat(io::stdin()).is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_fifo()) {
        std::thread::spawn(|| {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            std::process::exit(0);
        });
    }
    let front = Arc::new(Front::default());
    for client in listener.incoming().flatten() {
        let front = front.clone();
        std::thread::spawn(move || front.serve(client));
    }
    Ok(())
}

/// What all connections share.
#[derive(Default)]
struct Front {
    sessions: Mutex<VecDeque<(String, Arc<Session>)>>,
    /// The conversation of the modern era.
    modern: OnceLock<Arc<Session>>,
}

impl Front {
    /// Serves a connection until the client closes it, or says what is no HTTP.
    fn serve(&self, mut client: TcpStream) {
        let Ok(other) = client.try_clone() else { return };
        let _ = client.set_nodelay(true);
        let mut reader = BufReader::new(other);
        loop {
            match read(&mut reader) {
                Ok(Some(request)) if self.answer(&request, &mut client).is_ok() => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    let _ = status(&mut client, "400 Bad Request", &error.to_string());
                    return;
                }
                _ => return,
            }
        }
    }

    fn answer(&self, request: &Request, client: &mut TcpStream) -> io::Result<()> {
        if !request.is_local() {
            return status(client, "403 Forbidden", "only pages and names of this machine are served");
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", PATH) => self.post(request, client),
            ("GET", PATH) => match self.session(request) {
                Ok(session) => {
                    let messages = session.listen();
                    Events::begin(client, "")?.follow(&messages)
                }
                Err(refused) => status(client, refused, "a stream needs the `Mcp-Session-Id` of a session"),
            },
            ("DELETE", PATH) => match self.session(request) {
                Ok(session) => {
                    self.sessions().retain(|(_, known)| !Arc::ptr_eq(known, &session));
                    session.end();
                    status(client, "200 OK", "")
                }
                Err(refused) => status(client, refused, "there is no such session"),
            },
            (_, PATH) => status(client, "405 Method Not Allowed", "POST, GET and DELETE are served"),
            _ => status(client, "404 Not Found", "the server is at `/mcp`"),
        }
    }

    fn post(&self, request: &Request, client: &mut TcpStream) -> io::Result<()> {
        if !request.accepts("application/json") || !request.accepts("text/event-stream") {
            return status(client, "406 Not Acceptable", "`Accept` must hold application/json and text/event-stream");
        }
        if !request.header("content-type").is_some_and(|media| media.starts_with("application/json")) {
            return status(client, "415 Unsupported Media Type", "`Content-Type` must be application/json");
        }
        let message: Value = match serde_json::from_slice(&request.body) {
            Ok(message) => message,
            Err(error) => return refuse(client, &Value::Null, PARSE_ERROR, &format!("not JSON: {error}")),
        };
        if !message.is_object() {
            return refuse(client, &Value::Null, INVALID_REQUEST, "over HTTP a message is one object");
        }
        let revision = request.header("mcp-protocol-version");
        let meta = message.pointer("/params/_meta").unwrap_or(&Value::Null);
        let modern = meta.get(PROTOCOL_VERSION).is_some()
            || message["method"] == "server/discover"
            || revision.is_some_and(|revision| MODERN.contains(&revision));
        let (session, name) = if modern {
            if let Some(problem) = request.contradicts(&message) {
                return refuse(client, &message["id"], HEADER_MISMATCH, &problem);
            }
            if !meta.get(CLIENT_CAPABILITIES).is_some_and(Value::is_object) {
                let problem = format!("`_meta` must have `{CLIENT_CAPABILITIES}`");
                return refuse(client, &message["id"], INVALID_PARAMS, &problem);
            }
            (self.modern.get_or_init(Session::start).clone(), None)
        } else if revision.is_some_and(|revision| !Revision::is_known(revision)) {
            return status(client, "400 Bad Request", "`MCP-Protocol-Version` names no revision that is served");
        } else if message["method"] == "initialize" {
            let (name, session) = self.open();
            (session, Some(name))
        } else {
            match self.session(request) {
                Ok(session) => (session, None),
                Err(refused) => return status(client, refused, "`Mcp-Session-Id` must name a session"),
            }
        };
        if message.get("method").is_none() || message.get("id").is_none() {
            session.tell(message);
            return status(client, "202 Accepted", "");
        }
        let (ticket, answers) = session.ask(message);
        let header = name.map(|name| format!("mcp-session-id: {name}\r\n")).unwrap_or_default();
        let told = reply(client, &answers, &header, modern);
        // In the modern era a client takes a request back by going away.
        if told.is_err() && modern {
            session.take_back(ticket);
        }
        told
    }

    fn sessions(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Session>)>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> (String, Arc<Session>) {
        let random = || RandomState::new().build_hasher().finish();
        let name = format!("{:016x}{:016x}", random(), random());
        let session = Session::start();
        let mut sessions = self.sessions();
        if sessions.len() >= MOST_SESSIONS
            && let Some((_, oldest)) = sessions.pop_front()
        {
            oldest.end();
        }
        sessions.push_back((name.clone(), session.clone()));
        (name, session)
    }

    /// The session that a request names, or the status that says why not.
    fn session(&self, request: &Request) -> Result<Arc<Session>, &'static str> {
        let name = request.header("mcp-session-id").ok_or("400 Bad Request")?;
        let sessions = self.sessions();
        let found = sessions.iter().find(|(known, _)| known == name);
        found.map(|(_, session)| session.clone()).ok_or("404 Not Found")
    }
}

/// Hands the messages of a call on to whoever waits: its answer as JSON, or, when something else comes first, a stream.
fn reply(client: &mut TcpStream, answers: &Receiver<Value>, header: &str, modern: bool) -> io::Result<()> {
    let first = loop {
        match answers.recv_timeout(LOOK) {
            Ok(first) => break first,
            // The client took the request back: a stream without an answer.
            Err(RecvTimeoutError::Disconnected) => return Events::begin(client, header)?.end(),
            Err(RecvTimeoutError::Timeout) if is_gone(client) => return Err(io::ErrorKind::BrokenPipe.into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    if first.get("method").is_some() {
        let mut events = Events::begin(client, header)?;
        events.send(&first)?;
        return events.follow(answers);
    }
    let status = match first.pointer("/error/code").and_then(Value::as_i64).filter(|_| modern) {
        Some(METHOD_NOT_FOUND) => "404 Not Found",
        Some(code) if REFUSALS.contains(&code) => "400 Bad Request",
        _ => "200 OK",
    };
    json(client, status, header, &first)
}

fn refuse(client: &mut TcpStream, id: &Value, code: i64, why: &str) -> io::Result<()> {
    let body = envelope(id.clone(), Err(Refusal::error(code, why))).unwrap_or_default();
    json(client, "400 Bad Request", "", &body)
}
