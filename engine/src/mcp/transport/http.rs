//! A server behind a URL: Streamable HTTP, and the HTTP+SSE transport of 2024-11-05.
//!
//! A message is a POST; what comes back, in a JSON body or a stream of events, goes into one queue in the order it was
//! read, and so does what comes on the standalone stream. Whoever awaits [`Http::receive`] drives every request that is
//! under way. Nothing is connected, sent, resumed or given up without a line in the transcript, redirects are not
//! followed, and an answer that is no message is handed on as what it is.

pub mod auth;
pub mod endpoint;
mod flight;
mod opening;
pub mod outcome;
pub mod sse;
mod standard;
pub mod tls;
mod wire;

use super::stdio::Stdio;
use super::{Closed, Incoming};
use crate::child::Grace;
use crate::mcp::era::MODERN;
use crate::mcp::message::{Kind, Line, Message, parse_line};
use crate::source::Json;
use bytes::Bytes;
use endpoint::{Endpoint, Flavour, resolve};
use flight::{Flight, Progress, Purpose, Stage};
use http_body_util::Full;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Uri};
use outcome::{Ended, Head, Trouble, status_text};
use standard::Standard;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use wire::Wire;

/// How often the runtime gets a turn before what has come is looked at without waiting.
const TURNS: usize = 2;

/// A way to a server behind a URL.
#[derive(Debug)]
pub struct Http {
    endpoint: Endpoint,
    wire: Wire,
    max: usize,
    process: Option<Box<Stdio>>,
    session: Option<HeaderValue>,
    protocol: Option<HeaderValue>,
    authorization: Option<HeaderValue>,
    standard: Standard,
    /// Where messages are sent, where a stream says it.
    post_url: Option<Uri>,
    flights: Vec<Flight>,
    queue: VecDeque<Incoming>,
    last_ticket: u64,
}

impl Http {
    /// A way to a server that is running, or that runs in `process`; nothing is sent yet.
    pub fn new(endpoint: Endpoint, process: Option<Box<Stdio>>, max: usize) -> Result<Http, String> {
        let tls = match endpoint.url.scheme_str() {
            Some("https") => Some(endpoint.tls.config()?),
            _ => None,
        };
        Ok(Http {
            wire: Wire::new(tls),
            endpoint,
            max,
            process,
            session: None,
            protocol: None,
            authorization: None,
            standard: Standard::default(),
            post_url: None,
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
                Some(url) => url.clone(),
                None => return Err(io::Error::other("the server has not said where to send messages")),
            },
        };
        let awaits = match parse_line(text) {
            Line::Message(Message { kind: Kind::Request { id, .. }, .. }) => Some(id),
            _ => None,
        };
        let mut headers = self.headers();
        let modern = self.standard.repeat(text);
        let resumable = modern.headers.is_empty();
        headers.extend(modern.headers);
        self.queue.extend(modern.note.map(Incoming::Note));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.endpoint.headers.clone());
        let request = request(Method::POST, &url, headers, Bytes::copy_from_slice(text));
        self.last_ticket += 1;
        let label = format!("POST {}", url.path());
        let sending = Box::pin(self.wire.clone().send(request, url));
        let mut flight = Flight::new(self.last_ticket, Purpose::Post, label, awaits, sending);
        flight.resumable = resumable;
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
            loop {
                if let Some(incoming) = self.queue.pop_front() {
                    return Poll::Ready(incoming);
                }
                if !self.poll_flights(cx) && !self.poll_process(cx) {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Reads what has come by now into the queue.
    pub async fn drain(&mut self) {
        // Without a request under way and without a process there is nothing that anything could come from.
        if self.flights.is_empty() && self.process.is_none() {
            return;
        }
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
            poll_fn(|cx| {
                while self.poll_flights(cx) || self.poll_process(cx) {
                    if self.queue.len() > 1000 {
                        break;
                    }
                }
                Poll::Ready(())
            })
            .await;
        }
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

    /// Looks at every request once; whether any of them moved on.
    fn poll_flights(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        let mut at = 0;
        while at < self.flights.len() {
            let progress = self.flights[at].poll(self.max, cx);
            if matches!(progress, Progress::Pending) {
                at += 1;
                continue;
            }
            moved = true;
            let flight = self.flights.swap_remove(at);
            if let Some(flight) = self.advance(flight, progress) {
                self.put_back(at, flight);
                at += 1;
            }
        }
        moved
    }

    /// Undoes a `swap_remove`, so that requests keep their order.
    fn put_back(&mut self, at: usize, flight: Flight) {
        self.flights.push(flight);
        let last = self.flights.len() - 1;
        self.flights.swap(at, last);
    }

    /// What a step of a request means; the request again unless it is over.
    fn advance(&mut self, mut flight: Flight, progress: Progress) -> Option<Flight> {
        match progress {
            Progress::Pending | Progress::Moved => Some(flight),
            Progress::Head(answer) => {
                self.took_head(&mut flight, answer);
                Some(flight)
            }
            Progress::Items(items) => {
                self.took_items(&mut flight, items);
                Some(flight)
            }
            Progress::StreamEnded(items, trouble) => {
                self.took_items(&mut flight, items);
                self.stream_ended(flight, trouble)
            }
            Progress::Whole(bytes) => {
                self.took_whole(flight, bytes);
                None
            }
            Progress::Rested => {
                flight.stage = Stage::Head(self.listening(flight.last_event_id.as_deref()));
                Some(flight)
            }
            Progress::Failed(trouble) => {
                self.traffic(format!("{} → {}", flight.label, trouble.message));
                if flight.head.is_some() && flight.awaits.is_some() && flight.last_event_id.is_some() {
                    return self.stream_ended(flight, Some(trouble));
                }
                self.ended(flight, None, Some(trouble));
                None
            }
        }
    }

    fn took_head(&mut self, flight: &mut Flight, answer: wire::Answer) {
        for note in answer.notes {
            self.queue.push_back(Incoming::Note(note));
        }
        let head = Arc::new(Head::of(&answer.response));
        let media = head.media_type();
        self.traffic(format!("{} → {} {media}", flight.label, status_text(head.status)).trim_end().to_owned());
        let first = flight.head.is_none();
        if flight.purpose == Purpose::Post && first {
            let sessions = !self.is_modern();
            if let Some(session) = answer.response.headers().get("mcp-session-id").filter(|_| sessions) {
                self.session = Some(session.clone());
            }
            self.queue.push_back(Incoming::Head { ticket: flight.ticket, head: head.clone() });
            flight.head = Some(head.clone());
        }
        let events = head.status.is_success() && media == "text/event-stream";
        flight.resumable &= events || first;
        let (body, connection) = (answer.response.into_body(), Some(answer.connection));
        flight.stage = match events {
            true => Stage::Events { body, connection, parser: sse::Parser::new(self.max) },
            false => Stage::Whole { body, connection, bytes: Vec::new() },
        };
    }

    fn took_items(&mut self, flight: &mut Flight, items: Vec<sse::Item>) {
        for item in items {
            match item {
                sse::Item::Comment(_) => {}
                sse::Item::Oversize { head, bytes } => self.queue.push_back(Incoming::Oversize { head, bytes }),
                sse::Item::Event(event) => self.took_event(flight, event),
            }
        }
    }

    fn took_event(&mut self, flight: &mut Flight, event: sse::Event) {
        let Some(data) = event.data.filter(|data| !data.is_empty()) else { return };
        match event.name.as_deref() {
            Some("endpoint") if self.endpoint.flavour == Flavour::Sse => {
                match resolve(&self.endpoint.url, &data) {
                    Ok(url) => self.post_url = Some(url),
                    Err(why) => self.queue.push_back(Incoming::Note(format!("the `endpoint` event `{data}`: {why}"))),
                }
                return;
            }
            None | Some("message") => {}
            Some(name) => return self.queue.push_back(Incoming::Noise(format!("event `{name}`: {data}"))),
        }
        if event.truncated {
            return self.queue.push_back(Incoming::Noise(format!("an event that was cut short: {data}")));
        }
        self.took_line(flight, parse_line(data.as_bytes()), None);
    }

    /// A body that came whole: messages, or something else.
    fn took_whole(&mut self, mut flight: Flight, bytes: Vec<u8>) {
        let Some(head) = flight.head.clone() else { return };
        if flight.purpose == Purpose::Listen {
            return;
        }
        let media = head.media_type();
        let json = media == "application/json";
        let mut odd = None;
        if !bytes.trim_ascii().is_empty() {
            let line = parse_line(&bytes);
            let is_message = matches!(line, Line::Message(_) | Line::Batch(_));
            if is_message && (json || !head.status.is_success()) {
                let note = (!json).then(|| format!("its content type is `{media}`"));
                self.took_line(&mut flight, line, note);
            } else if is_message {
                odd =
                    Some(format!("its content type is `{media}`, neither `application/json` nor `text/event-stream`"));
            } else if head.status.is_success() {
                odd = Some("the body is no message".to_owned());
            }
        }
        let text = String::from_utf8(bytes);
        let text = text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let mut ended = flight.ended(Some(text), None);
        ended.odd = odd;
        self.push_ended(flight.awaits.is_some(), ended);
    }

    fn took_line(&mut self, flight: &mut Flight, line: Line, note: Option<String>) {
        let mut took = |mut message: Message| {
            if let (Kind::Response { id, .. } | Kind::Invalid { id: Some(id), .. }, Some(awaited)) =
                (&message.kind, &flight.awaits)
                && id == awaited
            {
                if self.standard.awaits(id)
                    && let Ok(result) = message.body()
                {
                    self.standard.learn(&result);
                }
                flight.awaits = None;
            }
            message.notes.extend(note.clone());
            self.queue.push_back(Incoming::Message(message));
        };
        match line {
            Line::Message(message) => took(message),
            Line::Batch(messages) => messages.into_iter().for_each(took),
            Line::Noise(text) => self.queue.push_back(Incoming::Noise(text)),
        }
    }

    fn stream_ended(&mut self, mut flight: Flight, trouble: Option<Trouble>) -> Option<Flight> {
        if let Some(trouble) = &trouble {
            self.traffic(format!("{} ended: {}", flight.label, trouble.message));
        }
        if let Some(pause) = flight.rest() {
            let from = flight.last_event_id.as_deref().map(|id| format!(" from event `{id}`")).unwrap_or_default();
            let text = format!("{} ended; resumed{from} in {} ms", flight.label, pause.as_millis());
            match flight.purpose {
                Purpose::Post => self.queue.push_back(Incoming::Note(text.clone())),
                Purpose::Listen => {}
            }
            self.traffic(text);
            return Some(flight);
        }
        self.ended(flight, None, trouble);
        None
    }

    fn ended(&mut self, mut flight: Flight, body: Option<String>, trouble: Option<Trouble>) {
        if flight.purpose == Purpose::Post {
            let ended = flight.ended(body, trouble);
            self.push_ended(flight.awaits.is_some(), ended);
        }
    }

    fn push_ended(&mut self, unanswered: bool, mut ended: Ended) {
        let accepted = ended.head.as_ref().is_some_and(|head| head.status.is_success());
        ended.answers_elsewhere = self.endpoint.flavour == Flavour::Sse && accepted;
        if unanswered && ended.odd.is_none() && accepted && ended.trouble.is_none() {
            ended.odd = Some("without an answer".to_owned());
        }
        self.queue.push_back(Incoming::Ended(Box::new(ended)));
    }

    fn traffic(&mut self, text: String) {
        self.queue.push_back(Incoming::Traffic(text));
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
            let request = request(Method::DELETE, &url, headers, Bytes::new());
            let sent = tokio::time::timeout(grace.longest(), self.wire.clone().send(request, url)).await;
            if sent.is_ok_and(|sent| sent.is_ok()) {
                by = "delete";
            }
            self.session = None;
        }
        match &mut self.process {
            Some(process) => process.close(grace).await,
            None => Closed { exit: None, by, took: begun.elapsed(), rest: self.queue.drain(..).collect(), dropped: 0 },
        }
    }
}

fn request(method: Method, url: &Uri, headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = url.path_and_query().cloned().map(Uri::from).unwrap_or_default();
    *request.headers_mut() = headers;
    request
}
