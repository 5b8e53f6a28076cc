//! A server behind a URL: Streamable HTTP, and the HTTP+SSE transport of 2024-11-05.
//!
//! A message is a POST; what comes back, in a JSON body or a stream of events, goes into one queue in the order it was
//! read, and so does what comes on the standalone stream. Whoever awaits [`Http::receive`] drives every request that is
//! under way. Nothing is connected, sent, resumed or given up without a line in the transcript, redirects are not
//! followed, and an answer that is no message is handed on as what it is.

mod answer;
pub mod auth;
mod dial;
pub mod endpoint;
mod flight;
mod line;
mod opening;
pub mod outcome;
mod patient;
pub mod single;
pub mod sse;
mod standard;
pub mod tls;
mod wire;

use super::stdio::Stdio;
use super::{Closed, Incoming, OVERTIME};
use crate::child::Grace;
use crate::mcp::era::MODERN;
use crate::mcp::message::{Kind, Line, Message, parse_line};
use crate::source::Json;
use bytes::Bytes;
use endpoint::{Endpoint, Flavour};
use flight::{Flight, Purpose, Stage};
use http_body_util::Full;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Uri};
use outcome::Ended;
use standard::Standard;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Instant;
use wire::Wire;

/// How much is read at once of what a server that floods has sent.
const MOST_DRAINED: usize = 1000;
/// How often is looked at every request before others have a turn: what comes may hold nothing to tell of, without end.
const MOST_LOOKS: usize = 16;

/// A way to a server behind a URL.
#[derive(Debug)]
pub struct Http {
    endpoint: Endpoint,
    wire: Wire,
    max: usize,
    process: Option<Box<Stdio>>,
    /// Somebody listened at the URL before the process was started.
    pub taken: bool,
    session: Option<HeaderValue>,
    /// It was told that an answer names another session.
    renamed: bool,
    protocol: Option<HeaderValue>,
    authorization: Option<HeaderValue>,
    standard: Standard,
    /// Where messages are sent, where a stream says it; or why what it says is no use.
    post_url: Option<Result<Uri, String>>,
    /// What came instead of that stream.
    refused: Option<Box<Ended>>,
    flights: Vec<Flight>,
    queue: VecDeque<Incoming>,
    last_ticket: u64,
}

impl Http {
    /// A way to a server that is running, or that runs in `process`; nothing is sent yet.
    pub fn new(endpoint: Endpoint, process: Option<Box<Stdio>>, max: usize) -> Result<Http, String> {
        let wire = Wire::new(endpoint.tls.clone());
        if endpoint.needs_tls() {
            wire.tls_config()?;
        }
        Ok(Http {
            wire,
            endpoint,
            max,
            process,
            taken: false,
            session: None,
            renamed: false,
            protocol: None,
            authorization: None,
            standard: Standard::default(),
            post_url: None,
            refused: None,
            flights: Vec::new(),
            queue: VecDeque::new(),
            last_ticket: 0,
        })
    }

    /// Sends a message; its ticket stands in what is told of the request that carries it.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let text = bytes.trim_ascii_end();
        let url = match self.endpoint.flavour {
            Flavour::Streamable => self.endpoint.url.clone(),
            Flavour::Sse => match &self.post_url {
                Some(Ok(url)) => url.clone(),
                _ => return Err(io::Error::other("the stream on which answers come is not open")),
            },
        };
        let (awaits, begins_session, about) = match parse_line(text) {
            Line::Message(Message { kind: Kind::Request { id, method }, .. }) => {
                (Some(id), method == "initialize", None)
            }
            Line::Message(Message { kind: Kind::Notification { method }, .. }) => {
                (None, false, Some(format!("`{method}`")))
            }
            Line::Message(Message { kind: Kind::Response { id, .. }, .. }) => {
                (None, false, Some(format!("what it was told on its request {id}")))
            }
            _ => (None, false, None),
        };
        let mut headers = self.headers();
        let modern = self.standard.repeat(text);
        let resumable = modern.headers.is_empty();
        headers.extend(modern.headers);
        self.queue.extend(modern.note.map(Incoming::Note));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // Without a word about it a server may pack what it sends.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.extend(self.endpoint.headers.clone());
        let request = request(Method::POST, &url, headers, Bytes::copy_from_slice(text));
        self.last_ticket += 1;
        let label = format!("POST {}", url.path());
        let sending = Box::pin(self.wire.clone().send(request, url));
        let mut flight = Flight::new(self.last_ticket, Purpose::Post, label, awaits, sending);
        flight.resumable = resumable;
        flight.begins_session = begins_session;
        flight.about = about;
        self.flights.push(flight);
        Ok(self.last_ticket)
    }

    fn is_modern(&self) -> bool {
        let revision = self.protocol.as_ref().and_then(|revision| revision.to_str().ok());
        revision.is_some_and(|revision| MODERN.contains(&revision))
    }

    /// Takes a request back as the modern era does it: nobody listens to its answer any more. Whether this is that era.
    pub fn abandon(&mut self, id: &Json) -> bool {
        if !self.is_modern() {
            return false;
        }
        let under_way = self.flights.len();
        self.flights.retain(|flight| flight.awaits.as_ref() != Some(id));
        if self.flights.len() < under_way {
            self.traffic(format!("the request {id} is taken back: its connection is closed"));
        }
        true
    }

    /// The next thing that came: from the queue, or else as soon as something comes. Can be dropped and called again.
    pub async fn receive(&mut self) -> Incoming {
        poll_fn(|cx| {
            for _ in 0..MOST_LOOKS {
                if let Some(incoming) = self.queue.pop_front() {
                    return Poll::Ready(incoming);
                }
                if !self.poll_flights(cx) && !self.poll_process(cx) {
                    return Poll::Pending;
                }
            }
            if let Some(incoming) = self.queue.pop_front() {
                return Poll::Ready(incoming);
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }

    /// Reads what has come by now into the queue.
    pub async fn drain(&mut self) {
        // Without a request under way and without a process there is nothing that anything could come from.
        if self.flights.is_empty() && self.process.is_none() {
            return;
        }
        // The runtime hears of what came when it has a turn.
        tokio::task::yield_now().await;
        poll_fn(|cx| {
            self.catch_up(cx);
            Poll::Ready(())
        })
        .await;
    }

    /// Takes in what is there already, for a short while at most: what comes may hold nothing to tell of, without end.
    /// Whether there may be more.
    fn catch_up(&mut self, cx: &mut Context<'_>) -> bool {
        let enough = Instant::now() + OVERTIME;
        while self.queue.len() <= MOST_DRAINED {
            if !self.poll_flights(cx) && !self.poll_process(cx) {
                return false;
            }
            if Instant::now() >= enough {
                return true;
            }
        }
        false
    }

    /// The next thing in the queue.
    pub fn next_queued(&mut self) -> Option<Incoming> {
        self.queue.pop_front()
    }

    /// The process, where one was started.
    pub fn process(&mut self) -> Option<&mut Stdio> {
        self.process.as_deref_mut()
    }

    /// The revision that every further request names in its header.
    pub fn negotiated(&mut self, revision: &str) {
        self.protocol = HeaderValue::from_str(revision).ok();
    }

    /// Whether the server was asked for its tools, and with them for the arguments that stand in headers.
    pub fn has_listed_tools(&self) -> bool {
        self.standard.has_listed()
    }

    /// Whether the server gave the session an id.
    pub fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Forgets the session, because the server has.
    pub fn forget_session(&mut self) {
        self.session = None;
        self.protocol = None;
        self.flights.retain(|flight| flight.purpose != Purpose::Listen);
    }

    /// What a request carries before the endpoint's own headers.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let known = [("mcp-session-id", &self.session), ("mcp-protocol-version", &self.protocol)];
        for (name, value) in known {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        headers
    }

    fn poll_process(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(process) = &mut self.process else { return false };
        let Poll::Ready(incoming) = pin!(process.listen()).poll(cx) else { return false };
        // The standard streams of a server behind a URL are both its log.
        match incoming {
            Incoming::Noise(line) => self.queue.push_back(Incoming::Stderr(format!("{line}\n"))),
            Incoming::Message(message) => self.queue.push_back(Incoming::Stderr(format!("{}\n", message.raw))),
            Incoming::StdoutClosed | Incoming::StderrClosed => {}
            other => self.queue.push_back(other),
        }
        true
    }

    /// Ends the session, and the process where one was started.
    pub async fn close(&mut self, grace: Grace) -> Closed {
        let begun = Instant::now();
        self.flights.clear();
        let mut by = "closed";
        if self.session.is_some() && self.endpoint.flavour == Flavour::Streamable {
            let mut headers = self.headers();
            headers.extend(self.endpoint.headers.clone());
            let url = self.endpoint.url.clone();
            let label = format!("DELETE {}", url.path());
            let request = request(Method::DELETE, &url, headers, Bytes::new());
            let told = match tokio::time::timeout(grace.longest(), self.wire.clone().send(request, url)).await {
                Ok(Ok(answer)) => {
                    let status = answer.response.status();
                    by = if status.is_success() { "delete" } else { by };
                    outcome::status_text(status)
                }
                Ok(Err(trouble)) => trouble.message,
                Err(_) => "no answer in time".to_owned(),
            };
            self.traffic(format!("{label} → {told}"));
            self.session = None;
        }
        let mut closed = match &mut self.process {
            Some(process) => process.close(grace).await,
            None => Closed { exit: None, by, took: begun.elapsed(), rest: Vec::new(), dropped: 0 },
        };
        closed.rest.splice(..0, self.queue.drain(..));
        closed
    }
}

fn request(method: Method, url: &Uri, headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = url.path_and_query().cloned().map(Uri::from).unwrap_or_default();
    *request.headers_mut() = headers;
    request
}
