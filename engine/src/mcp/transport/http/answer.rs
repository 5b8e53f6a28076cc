//! What comes of a request under way: its head, its events or its body, and its end, put into the queue.

use super::endpoint::{Flavour, resolve};
use super::flight::{Flight, Progress, Purpose, Stage};
use super::outcome::{Ended, Head, Trouble, status_text};
use super::{Http, outcome, sse, wire};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::message::{Kind, Line, Message, parse_line};
use crate::mcp::transport::Incoming;
use hyper::StatusCode;
use std::sync::Arc;
use std::task::Context;

impl Http {
    /// Looks at every request once; whether any of them moved on.
    pub(super) fn poll_flights(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        let mut at = 0;
        // One answer is waited for briefly where it is; while one of several is, the others would wait too.
        let alone = self.flights.iter().filter(|flight| flight.is_awaited()).count() == 1;
        while at < self.flights.len() {
            self.wire.patience.set(alone && self.flights[at].is_awaited());
            let progress = self.flights[at].poll(self.max, cx);
            self.wire.patience.set(false);
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
                self.took_head(&mut flight, *answer);
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
                flight.label = format!("GET {}", self.endpoint.url.path());
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
        self.queue.extend(answer.notes.into_iter().map(Incoming::Note));
        if let Some(to) = answer.connected {
            self.traffic(format!("connected to `{to}`"));
        }
        let head = Arc::new(Head::of(&answer.response));
        let media = head.media_type();
        self.traffic(format!("{} → {} {media}", flight.label, status_text(head.status)).trim_end().to_owned());
        let first = flight.head.is_none();
        if flight.purpose == Purpose::Post && first {
            self.took_session(flight, &head);
            self.queue.push_back(Incoming::Head { ticket: flight.ticket, head: head.clone() });
            flight.head = Some(head.clone());
        }
        let refused = flight.purpose == Purpose::Listen && !head.status.is_success();
        if refused && self.endpoint.flavour == Flavour::Sse {
            // It is told of in full: without this stream there is no conversation.
            flight.head = Some(head.clone());
        }
        let events = head.status.is_success() && media == "text/event-stream" && !says_nothing_comes(flight, &head);
        flight.resumed_by =
            (!first && !events).then(|| format!("{} {media}", status_text(head.status)).trim().to_owned());
        flight.resumable &= events || first;
        let (body, connection) = (answer.response.into_body(), Some(answer.connection));
        flight.stage = match events {
            true => Stage::Events { body, connection, parser: sse::Parser::new(self.max) },
            false => Stage::Whole { body, connection, bytes: Vec::new() },
        };
    }

    /// The answer to `initialize` names the session, and no other one does.
    fn took_session(&mut self, flight: &Flight, head: &Head) {
        let Some(session) = head.headers.get("mcp-session-id").filter(|_| head.status.is_success()) else { return };
        if self.is_modern() {
            return;
        }
        if flight.begins_session {
            self.session = Some(session.clone());
        } else if self.session.as_ref().is_some_and(|ours| ours != session) && !self.renamed {
            self.renamed = true;
            let note = "an answer names another `Mcp-Session-Id` than the one to `initialize`, which is kept: \
                        there are clients that change to it";
            self.queue.push_back(Incoming::Note(note.to_owned()));
        }
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
                let url = resolve(&self.endpoint.url, &data).map_err(|why| format!("`{data}`: {why}"));
                match &self.post_url {
                    None => self.post_url = Some(url),
                    Some(_) => {
                        self.queue.push_back(Incoming::Note(format!("a second `endpoint` event came: `{data}`")))
                    }
                }
                return;
            }
            // A name that is empty is none, says the standard.
            None | Some("" | "message") => {}
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
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.refused = Some(Box::new(flight.ended(Some(text), None)));
            return;
        }
        if let Some(status) = flight.resumed_by.take() {
            let mut ended = flight.ended(None, None);
            ended.odd = Some(format!("the stream ended before the answer, and resuming it was answered with {status}"));
            return self.push_ended(ended);
        }
        let media = head.media_type();
        let json = media == "application/json";
        let mut odd = None;
        if !bytes.trim_ascii().is_empty() {
            let line = parse_line(&bytes);
            let is_message = matches!(line, Line::Message(_) | Line::Batch(_));
            let success = head.status.is_success();
            let is_read = match success {
                true => json && !says_nothing_comes(&flight, &head) && self.endpoint.flavour == Flavour::Streamable,
                false => !holds_result(&line) && outcome::is_rpc(&bytes),
            };
            if is_message && is_read {
                let note = (!json).then(|| format!("its content type is `{media}`"));
                self.took_line(&mut flight, line, note);
            } else if success && self.endpoint.flavour == Flavour::Sse {
                if is_message {
                    let note = "a message came as the answer to a POST, where clients of HTTP+SSE read none: it is \
                                sent on the stream";
                    self.queue.push_back(Incoming::Note(note.to_owned()));
                }
            } else if success {
                odd = Some(oddity(&flight, &head, &media, &bytes, is_message));
            } else if holds_result(&line) {
                odd = Some("clients take no result that comes with such a status".to_owned());
            }
        }
        let text = String::from_utf8(bytes);
        let text = text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let mut ended = flight.ended(Some(text), None);
        ended.odd = odd;
        self.push_ended(ended);
    }

    fn took_line(&mut self, flight: &mut Flight, line: Line, note: Option<String>) {
        let astray = flight.purpose == Purpose::Listen && self.endpoint.flavour == Flavour::Streamable;
        let mut took = |mut message: Message| {
            if let (true, Kind::Response { id, .. }) = (astray, &message.kind) {
                let note =
                    format!("the answer to id {id} came on the stream of the GET, where servers must not send any");
                self.queue.push_back(Incoming::Note(note));
            }
            flight.answered |= matches!(message.kind, Kind::Response { .. });
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
        if flight.purpose == Purpose::Listen && self.endpoint.flavour == Flavour::Sse {
            self.lose_stream();
            return None;
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

    /// The one stream on which answers come is over, and the conversation with it.
    fn lose_stream(&mut self) {
        if let Some(Ok(_)) = self.post_url.take() {
            let message = "the stream on which the server answers has ended";
            let mut fault = Fault::new(Code::ConnectionLost, message);
            fault.transient = true;
            self.queue.push_back(Incoming::Failed(Box::new(fault)));
        }
    }

    fn ended(&mut self, mut flight: Flight, body: Option<String>, trouble: Option<Trouble>) {
        if flight.purpose == Purpose::Post {
            let unanswered = flight.awaits.is_some();
            let cut_short = trouble.is_none() && unanswered && flight.was_cut_short();
            let packed = flight.head.as_deref().filter(|_| unanswered).and_then(packed);
            let mut ended = flight.ended(body, trouble);
            ended.odd = packed.or(cut_short.then(|| "the stream ended in the middle of an event".to_owned()));
            self.push_ended(ended);
        }
    }

    fn push_ended(&mut self, mut ended: Ended) {
        let unanswered = ended.awaits.is_some();
        let accepted = ended.head.as_ref().is_some_and(|head| head.status.is_success());
        ended.in_session = self.session.is_some();
        ended.answers_elsewhere = self.endpoint.flavour == Flavour::Sse && accepted;
        if unanswered && ended.odd.is_none() && accepted && ended.trouble.is_none() {
            ended.odd = Some("without an answer".to_owned());
        }
        self.queue.push_back(Incoming::Ended(Box::new(ended)));
    }

    pub(super) fn traffic(&mut self, text: String) {
        self.queue.push_back(Incoming::Traffic(text));
    }
}

/// Whether the answer to a request has the status that says there is none: clients do not read on.
fn says_nothing_comes(flight: &Flight, head: &Head) -> bool {
    flight.is_request && head.status == StatusCode::ACCEPTED
}

fn holds_result(line: &Line) -> bool {
    let is_result = |message: &Message| matches!(message.kind, Kind::Response { is_error: false, .. });
    match line {
        Line::Message(message) => is_result(message),
        Line::Batch(messages) => messages.iter().any(is_result),
        Line::Noise(_) => false,
    }
}

/// How a body is packed that should not be, in words.
fn packed(head: &Head) -> Option<String> {
    let coding = head.header("content-encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity"))?;
    Some(format!("it is packed with `{coding}`, though only plain bodies are accepted"))
}

/// Why the body of an answer that looks well is none.
fn oddity(flight: &Flight, head: &Head, media: &str, bytes: &[u8], is_message: bool) -> String {
    if let Some(packed) = packed(head) {
        return packed;
    }
    match is_message {
        _ if says_nothing_comes(flight, head) => {
            "clients read no body of a 202: it says that no answer comes".to_owned()
        }
        true if media.is_empty() => "it has no content type".to_owned(),
        true => format!("its content type is `{media}`, neither `application/json` nor `text/event-stream`"),
        false if bytes.starts_with(b"\xef\xbb\xbf") => "it begins with a byte order mark".to_owned(),
        false => "the body is no message".to_owned(),
    }
}
