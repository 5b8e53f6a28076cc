//! A server on its standard streams.
//!
//! No task and no channel stands between the pipes and the caller: whoever awaits [`Stdio::receive`] polls both pipes
//! itself, so that a call costs one write, one wait and one read. Everything that came is in one queue, in the order it
//! was read; what was read is bounded by what the caller takes out.

mod inbox;

use super::{Closed, Incoming, Rest};
use crate::child::{Child, Grace, Shutdown, Spawn, SpawnError};
use inbox::Inbox;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio::net::unix::pipe::Sender;

/// How much may wait in the queue while the server reads nothing of what it is sent.
const MAX_QUEUED: usize = 16 * 1024 * 1024;

/// A running server and its streams; dropping it kills the whole tree.
#[derive(Debug)]
pub struct Stdio {
    child: Child,
    stdin: Option<Sender>,
    inbox: Inbox,
    exit_told: bool,
}

impl Stdio {
    /// Starts a server whose lines may have `max_line` bytes. Needs a tokio runtime.
    pub fn start(spawn: &Spawn, max_line: usize) -> Result<Stdio, SpawnError> {
        let (child, pipes) = Child::spawn(spawn)?;
        let inbox = Inbox::new(pipes.stdout, pipes.stderr, max_line);
        Ok(Stdio { child, stdin: Some(pipes.stdin), inbox, exit_told: false })
    }

    /// Writes to stdin exactly these bytes; the caller ends the line. While the server does not read, what it writes is
    /// read into the queue, so that neither waits for the other.
    ///
    /// When dropped halfway, part of the bytes may have been written.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut left = bytes;
        poll_fn(|cx| {
            loop {
                let Some(stdin) = self.stdin.as_mut() else {
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::BrokenPipe, "stdin is closed")));
                };
                if left.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                if let Poll::Ready(written) = Pin::new(stdin).poll_write(cx, left) {
                    left = left.get(written?..).unwrap_or_default();
                } else if self.inbox.queued_bytes() > MAX_QUEUED {
                    let why = "the server reads nothing, and writes without end";
                    return Poll::Ready(Err(io::Error::other(why)));
                } else {
                    ready!(self.inbox.poll_fill(cx));
                }
            }
        })
        .await
    }

    /// The next thing that came: from the queue, or else as soon as something comes. Can be dropped and called again.
    ///
    /// Once both streams are closed and the process has ended, there is nothing more to come, and it waits for ever.
    pub async fn receive(&mut self) -> Incoming {
        if self.inbox.is_empty() {
            self.inbox.linger();
        }
        self.listen().await
    }

    /// The same without the short wait for a server that answers at once: for when nothing was asked.
    pub async fn listen(&mut self) -> Incoming {
        poll_fn(|cx| {
            loop {
                if let Some(incoming) = self.inbox.pop() {
                    return Poll::Ready(incoming);
                }
                if self.inbox.poll_fill(cx).is_pending() {
                    ready!(self.poll_exit(cx));
                }
            }
        })
        .await
    }

    /// Reads what is in both pipes right now into the queue, without waiting. A server that floods them holds it up for
    /// a bounded amount only.
    pub fn drain(&mut self) {
        self.inbox.drain();
    }

    /// The next thing in the queue.
    pub fn next_queued(&mut self) -> Option<Incoming> {
        self.inbox.pop()
    }

    /// Whether more may come on stdout.
    pub fn is_open(&self) -> bool {
        self.inbox.stdout_open()
    }

    /// The beginning of a line on stdout whose end has not come.
    pub fn unfinished(&self) -> &[u8] {
        self.inbox.unfinished()
    }

    /// Ends the server's input.
    pub fn close_stdin(&mut self) {
        if self.stdin.is_some() {
            self.child.stdin_closes();
            self.stdin = None;
        }
    }

    /// The process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Ends the server: closes its input, then [step by step](Child::shutdown), reading on meanwhile so that it cannot
    /// get stuck on a full pipe.
    pub async fn close(&mut self, grace: Grace) -> Closed {
        self.close_stdin();
        let mut rest = Rest::default();
        let shutdown = {
            let mut shutdown = pin!(self.child.shutdown(grace));
            poll_fn(|cx| {
                loop {
                    while let Some(incoming) = self.inbox.pop() {
                        rest.keep(incoming);
                    }
                    if let Poll::Ready(shutdown) = shutdown.as_mut().poll(cx) {
                        return Poll::Ready(shutdown);
                    }
                    ready!(self.inbox.poll_fill(cx));
                }
            })
            .await
        };
        self.inbox.drain();
        while let Some(incoming) = self.inbox.pop() {
            rest.keep(incoming);
        }
        let Shutdown { exit, by, took } = shutdown;
        Closed { exit: Some(exit), by, took, rest: rest.kept, dropped: rest.dropped }
    }

    /// Ready once, when the process has ended and its last words are in the queue.
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.exit_told {
            return Poll::Pending;
        }
        let exit = ready!(pin!(self.child.wait()).poll(cx));
        self.exit_told = true;
        self.inbox.drain();
        self.inbox.push(Incoming::Exited(exit));
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests;
