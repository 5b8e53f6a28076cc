//! What comes of a request under way: its head, its events or its body, and its end, put into the queue.

use super::endpoint::{Flavour, resolve};
use super::flight::{Flight, Progress, Purpose, Stage};
use super::outcome::{Ended, Head, Trouble, status_text};
use super::{Http, sse, wire};
use crate::mcp::message::{Kind, Line, Message, parse_line};
use crate::mcp::transport::Incoming;
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

    pub(super) fn traffic(&mut self, text: String) {
        self.queue.push_back(Incoming::Traffic(text));
    }
}
