//! Ways to reach a server: each sends bytes, receives whatever comes, and closes.

pub mod http;
pub mod stdio;

use crate::child::{Exit, Grace};
use crate::mcp::cassette::{Player, Recorder};
use crate::mcp::fault::Fault;
use crate::mcp::message::{Message, unfinished};
use http::Http;
use http::outcome::{Ended, Head};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use stdio::Stdio;
use tokio::time::{Instant, timeout_at};

/// How long past a deadline is still read without a pause: what came in time may be waiting to be read, and a server
/// that never pauses must not put the deadline off for ever.
pub const OVERTIME: Duration = Duration::from_millis(100);
/// How much of what comes during the shutdown is kept.
const MAX_REST: usize = 1024 * 1024;

/// Something that came from the server.
#[derive(Debug)]
pub enum Incoming {
    /// A message; a batch comes as several.
    Message(Message),
    /// A line on stdout that is no JSON object or array.
    Noise(String),
    /// A line on stdout past the limit.
    Oversize {
        /// Its beginning.
        head: String,
        /// Its length in bytes.
        bytes: usize,
    },
    /// Text on stderr, as it came: not necessarily whole lines.
    Stderr(String),
    /// The server closed its stdout, or everyone who held it is gone. Comes once.
    StdoutClosed,
    /// The same of stderr.
    StderrClosed,
    /// The process itself has ended, and what it left in the pipes came before this. Comes once. What it started may
    /// still hold the pipes open.
    Exited(Exit),
    /// Nothing can come, for a reason that is no server's: a cassette lacks what was asked.
    Failed(Box<Fault>),
    /// Over HTTP: the head of an answer, before what its body holds.
    Head {
        /// What [`Transport::send`] returned for the request.
        ticket: u64,
        /// The head.
        head: Arc<Head>,
    },
    /// Over HTTP: a request is over, after what its answer held.
    Ended(Box<Ended>),
    /// A line of the transcript: a request and its status, an attempt, a stream that is resumed.
    Traffic(String),
    /// Something worth knowing that is no failure.
    Note(String),
    /// A value that was fetched and must not reach a report.
    Secret(String),
}

/// A way to a server that is open.
#[derive(Debug)]
pub enum Transport {
    /// A process and its standard streams.
    Stdio(Box<Stdio>),
    /// A cassette in the place of a server.
    Replay(Box<Player>),
    /// Another transport, and a record of what crosses it.
    Recorded(Box<Transport>, Box<Recorder>),
    /// A URL, and perhaps a process behind it.
    Http(Box<Http>),
}

/// How a transport was closed, and what still came.
#[derive(Debug, Default)]
pub struct Closed {
    /// How the process ended, where there was one.
    pub exit: Option<Exit>,
    /// What it took: `eof`, `term` or `kill`; `itself` when nobody had asked it to. Without a process `delete` when the
    /// session was ended, or `closed`.
    pub by: &'static str,
    /// From the first word of the shutdown to the end.
    pub took: Duration,
    /// What came that nobody had [received](Transport::receive).
    pub rest: Vec<Incoming>,
    /// How many bytes came beyond what `rest` may hold.
    pub dropped: usize,
}

impl Transport {
    /// What is asked from here on, a test asks: cassettes keep that.
    pub fn concerns(&mut self, file: &str, test: &str) {
        match self {
            Transport::Recorded(_, recorder) => recorder.concerns(file, test),
            Transport::Replay(player) => player.concerns(file, test),
            Transport::Stdio(_) | Transport::Http(_) => {}
        }
    }

    /// Sends exactly these bytes; the caller ends the line. Over HTTP it returns at once with a ticket that stands in
    /// what is told of the request; 0 is the ticket of what is told nothing of.
    ///
    /// When dropped halfway, part of the bytes may have been sent.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<u64> {
        match self {
            Transport::Stdio(stdio) => stdio.send(bytes).await.map(|()| 0),
            Transport::Http(http) => http.send(bytes),
            Transport::Replay(player) => Ok(player.send(bytes)),
            Transport::Recorded(inner, recorder) => {
                recorder.sent(bytes);
                let ticket = Box::pin(inner.send(bytes)).await?;
                recorder.carried_by(ticket);
                Ok(ticket)
            }
        }
    }

    /// The next thing that came: from the queue, or else as soon as something comes. Can be dropped and called again.
    ///
    /// Once there is nothing more to come, it waits for ever.
    pub async fn receive(&mut self) -> Incoming {
        match self {
            Transport::Stdio(stdio) => stdio.receive().await,
            Transport::Replay(player) => match player.heard() {
                Some(incoming) => incoming,
                None => std::future::pending().await,
            },
            Transport::Recorded(inner, recorder) => {
                let incoming = Box::pin(inner.receive()).await;
                recorder.came(&incoming);
                incoming
            }
            Transport::Http(http) => http.receive().await,
        }
    }

    /// The same without the short wait for a server that answers at once: for when nothing was asked.
    pub async fn listen(&mut self) -> Incoming {
        match self {
            Transport::Stdio(stdio) => stdio.listen().await,
            Transport::Replay(_) => self.receive().await,
            Transport::Recorded(inner, recorder) => {
                let incoming = Box::pin(inner.listen()).await;
                recorder.came(&incoming);
                incoming
            }
            Transport::Http(http) => http.receive().await,
        }
    }

    /// The next thing that came, if it came by `deadline`.
    pub async fn receive_by(&mut self, deadline: Instant) -> Option<Incoming> {
        if Instant::now() >= deadline + OVERTIME {
            return None;
        }
        timeout_at(deadline, self.receive()).await.ok()
    }

    /// Reads what is there right now into the queue, without waiting. A server that floods holds it up for a bounded
    /// amount only.
    pub async fn drain(&mut self) {
        match self {
            Transport::Stdio(stdio) => stdio.drain(),
            Transport::Http(http) => http.drain().await,
            Transport::Replay(_) => {}
            Transport::Recorded(inner, _) => Box::pin(inner.drain()).await,
        }
    }

    /// The next thing in the queue.
    pub fn next_queued(&mut self) -> Option<Incoming> {
        match self {
            Transport::Stdio(stdio) => stdio.next_queued(),
            Transport::Replay(player) => player.heard(),
            Transport::Recorded(inner, recorder) => {
                let incoming = inner.next_queued()?;
                recorder.came(&incoming);
                Some(incoming)
            }
            Transport::Http(http) => http.next_queued(),
        }
    }

    /// The process and its streams, where one was started.
    pub fn process(&mut self) -> Option<&mut Stdio> {
        match self {
            Transport::Stdio(stdio) => Some(stdio),
            Transport::Http(http) => http.process(),
            Transport::Replay(_) => None,
            Transport::Recorded(inner, _) => inner.process(),
        }
    }

    /// What may be wrong with a line that began and whose end has not come, where messages are lines.
    pub fn unfinished(&mut self) -> Option<String> {
        if self.http().is_some() {
            return None;
        }
        unfinished(self.process()?.unfinished())
    }

    /// The URL's side of it, where there is one.
    pub fn http(&mut self) -> Option<&mut Http> {
        match self {
            Transport::Stdio(_) | Transport::Replay(_) => None,
            Transport::Http(http) => Some(http),
            Transport::Recorded(inner, _) => inner.http(),
        }
    }

    /// Whether the server gave the session an id, over HTTP.
    pub fn has_session(&mut self) -> bool {
        match self {
            Transport::Replay(player) => player.in_session,
            _ => self.http().is_some_and(|http| http.has_session()),
        }
    }

    /// Forgets the session, because the server has.
    pub fn forget_session(&mut self) {
        match self {
            Transport::Replay(player) => player.in_session = false,
            _ => self.http().into_iter().for_each(|http| http.forget_session()),
        }
    }

    /// Ends the server, waiting so long at each stage.
    pub async fn close(&mut self, grace: Grace) -> Closed {
        match self {
            Transport::Stdio(stdio) => stdio.close(grace).await,
            Transport::Replay(_) => Closed { by: "closed", ..Closed::default() },
            Transport::Recorded(inner, recorder) => {
                let closed = Box::pin(inner.close(grace)).await;
                closed.rest.iter().for_each(|incoming| recorder.came(incoming));
                closed
            }
            Transport::Http(http) => http.close(grace).await,
        }
    }
}

impl Incoming {
    /// How many bytes it holds, about.
    fn size(&self) -> usize {
        match self {
            Incoming::Message(message) => message.raw.len(),
            Incoming::Noise(text) | Incoming::Stderr(text) | Incoming::Oversize { head: text, .. } => text.len(),
            Incoming::Traffic(text) | Incoming::Note(text) | Incoming::Secret(text) => text.len(),
            Incoming::Ended(ended) => ended.body.as_ref().map_or(0, String::len),
            Incoming::StdoutClosed | Incoming::StderrClosed | Incoming::Exited(_) => 0,
            Incoming::Head { .. } | Incoming::Failed(_) => 0,
        }
    }
}

/// What comes while a transport is closed, kept within bounds.
#[derive(Debug, Default)]
struct Rest {
    kept: Vec<Incoming>,
    bytes: usize,
    dropped: usize,
}

impl Rest {
    fn keep(&mut self, incoming: Incoming) {
        let cost = incoming.size() + size_of::<Incoming>();
        if self.bytes + cost <= MAX_REST {
            self.bytes += cost;
            self.kept.push(incoming);
        } else {
            self.dropped += incoming.size();
        }
    }
}
