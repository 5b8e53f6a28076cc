//! One request under way: its head is awaited, its body read, its stream resumed.

use super::outcome::{Ended, Head, Trouble};
use super::sse;
use super::wire::{Answer, Kept};
use crate::source::Json;
use bytes::Bytes;
use hyper::body::Incoming as Body;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// How often a stream is resumed without anything coming of it.
const MOST_ATTEMPTS: usize = 3;
/// How long is waited before a stream is resumed, unless the server says otherwise with `retry:`.
const RETRY: Duration = Duration::from_millis(1000);
/// How many events of a stream are kept for expectations.
const MOST_EVENTS: usize = 1000;

pub(super) type Sending = Pin<Box<dyn Future<Output = Result<Answer, Trouble>> + Send>>;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A message is sent.
    Post,
    /// The server's own messages are listened for.
    Listen,
}

/// One request under way.
pub(super) struct Flight {
    pub(super) ticket: u64,
    pub(super) purpose: Purpose,
    /// What it says, for the transcript: `POST /mcp`.
    pub(super) label: String,
    /// The id of the request that it carries, until its answer came.
    pub(super) awaits: Option<Json>,
    /// Whether it carries a request.
    pub(super) is_request: bool,
    /// What it carries, where that is no request.
    pub(super) about: Option<String>,
    /// Whether that is `initialize`, whose answer may give the conversation an id.
    pub(super) begins_session: bool,
    /// Whether an answer came with it, to whatever.
    pub(super) answered: bool,
    pub(super) stage: Stage,
    pub(super) head: Option<Arc<Head>>,
    pub(super) last_event_id: Option<String>,
    pub(super) retry: Option<u64>,
    /// The status of what came instead of the rest of its stream.
    pub(super) resumed_by: Option<String>,
    /// Whether an end before the answer may be mended with a GET.
    pub(super) resumable: bool,
    attempts: usize,
    read: usize,
    events: Vec<sse::Item>,
}

pub(super) enum Stage {
    /// The head is awaited.
    Head(Sending),
    /// A body is read whole.
    Whole { body: Body, connection: Option<Kept>, bytes: Vec<u8> },
    /// A stream of events is read.
    Events { body: Body, connection: Option<Kept>, parser: sse::Parser },
    /// A pause before the stream is resumed.
    Resting(Pin<Box<Sleep>>),
}

/// What a look at a flight brought.
pub(super) enum Progress {
    /// Nothing yet.
    Pending,
    /// The head of an answer.
    Head(Box<Answer>),
    /// Things of a stream.
    Items(Vec<sse::Item>),
    /// The body, whole.
    Whole(Vec<u8>),
    /// The stream ended, cleanly or not, and what it still held.
    StreamEnded(Vec<sse::Item>, Option<Trouble>),
    /// The request failed.
    Failed(Trouble),
    /// The pause is over: the stream is to be resumed.
    Rested,
    /// Something came, and nothing to tell of yet.
    Moved,
}

impl Flight {
    pub(super) fn new(ticket: u64, purpose: Purpose, label: String, awaits: Option<Json>, sending: Sending) -> Flight {
        Flight {
            ticket,
            purpose,
            label,
            is_request: awaits.is_some(),
            about: None,
            begins_session: false,
            answered: false,
            awaits,
            stage: Stage::Head(sending),
            head: None,
            last_event_id: None,
            retry: None,
            resumed_by: None,
            resumable: true,
            attempts: 0,
            read: 0,
            events: Vec::new(),
        }
    }

    /// Whether somebody waits for what comes next.
    pub(super) fn is_awaited(&self) -> bool {
        self.purpose == Purpose::Post && (self.awaits.is_some() || matches!(self.stage, Stage::Head(_)))
    }

    pub(super) fn poll(&mut self, max: usize, cx: &mut Context<'_>) -> Progress {
        match &mut self.stage {
            Stage::Head(sending) => match sending.as_mut().poll(cx) {
                Poll::Pending => Progress::Pending,
                Poll::Ready(Ok(answer)) => Progress::Head(Box::new(answer)),
                Poll::Ready(Err(trouble)) => Progress::Failed(trouble),
            },
            Stage::Resting(sleep) => match sleep.as_mut().poll(cx) {
                Poll::Pending => Progress::Pending,
                Poll::Ready(()) => Progress::Rested,
            },
            Stage::Whole { body, connection, bytes } => match next_data(body, connection, cx) {
                Poll::Pending => Progress::Pending,
                Poll::Ready(Some(Ok(data))) => {
                    self.read += data.len();
                    if bytes.len() + data.len() > max {
                        let message = format!("the body is longer than the limit of {max} bytes (`maxLine`)");
                        return Progress::Failed(Trouble::new("oversize", message));
                    }
                    bytes.extend_from_slice(&data);
                    Progress::Moved
                }
                Poll::Ready(Some(Err(error))) => Progress::Failed(Trouble::of_body(&error, self.read)),
                Poll::Ready(None) => {
                    connection.take().into_iter().for_each(Kept::give_back);
                    Progress::Whole(std::mem::take(bytes))
                }
            },
            Stage::Events { body, connection, parser } => {
                let mut items = Vec::new();
                match next_data(body, connection, cx) {
                    Poll::Pending => Progress::Pending,
                    Poll::Ready(Some(Ok(data))) => {
                        self.read += data.len();
                        parser.push(&data, &mut |item| items.push(item));
                        self.keep(&items);
                        Progress::Items(items)
                    }
                    Poll::Ready(Some(Err(error))) => {
                        parser.finish(&mut |item| items.push(item));
                        self.keep(&items);
                        Progress::StreamEnded(items, Some(Trouble::of_body(&error, self.read)))
                    }
                    Poll::Ready(None) => {
                        connection.take().into_iter().for_each(Kept::give_back);
                        parser.finish(&mut |item| items.push(item));
                        self.keep(&items);
                        Progress::StreamEnded(items, None)
                    }
                }
            }
        }
    }

    fn keep(&mut self, items: &[sse::Item]) {
        for item in items {
            if let sse::Item::Event(event) = item {
                self.attempts = 0;
                if !event.truncated {
                    // An id that is empty takes back the one before it, says the standard.
                    let known = event.id.clone().or(self.last_event_id.take());
                    self.last_event_id = known.filter(|id| !id.is_empty());
                }
                self.retry = event.retry.or(self.retry);
            }
        }
        if self.purpose == Purpose::Post {
            let room = MOST_EVENTS.saturating_sub(self.events.len());
            self.events.extend(items.iter().take(room).cloned());
        }
    }

    /// Whether the stream is to be resumed after its end; if so it rests first.
    pub(super) fn rest(&mut self) -> Option<Duration> {
        let unfinished = match self.purpose {
            Purpose::Post => self.awaits.is_some() && self.last_event_id.is_some(),
            Purpose::Listen => true,
        };
        if !self.resumable || !unfinished || self.attempts >= MOST_ATTEMPTS {
            return None;
        }
        self.attempts += 1;
        let pause = self.retry.map_or(RETRY, Duration::from_millis);
        self.stage = Stage::Resting(Box::pin(tokio::time::sleep(pause)));
        Some(pause)
    }

    /// Whether its stream ended in the middle of an event.
    pub(super) fn was_cut_short(&self) -> bool {
        matches!(self.events.last(), Some(sse::Item::Event(event)) if event.truncated)
    }

    /// What became of it.
    pub(super) fn ended(&mut self, body: Option<String>, trouble: Option<Trouble>) -> Ended {
        Ended {
            ticket: self.ticket,
            head: self.head.clone(),
            body,
            events: std::mem::take(&mut self.events),
            trouble,
            odd: None,
            answers_elsewhere: false,
            in_session: false,
            answered: self.is_request && self.answered,
            awaits: self.awaits.take(),
            about: self.about.take(),
        }
    }
}

impl std::fmt::Debug for Flight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flight").field("ticket", &self.ticket).field("label", &self.label).finish_non_exhaustive()
    }
}

/// The next piece of a body.
fn next_data(
    body: &mut Body,
    connection: &mut Option<Kept>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Bytes, hyper::Error>>> {
    match connection {
        Some(kept) => kept.line.poll_data(body, cx),
        None => Poll::Ready(None),
    }
}
