//! What a server writes: read from both pipes into one queue.

use crate::mcp::message::{Line, parse_line};
use crate::mcp::transport::Incoming;
use crate::ndjson::{Decoder, Framer, Item};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe::Receiver;

/// What a pipe holds by default.
const CHUNK: usize = 64 * 1024;
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// How long a thread waits for an answer before it goes back to its runtime: long for a fast server, short for a signal.
const BRIEFLY: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// How many reads one [drain](Inbox::drain) makes at most: a few times what both pipes hold.
const MAX_READS: usize = 16;

/// Both output streams of a server, and what came of them.
#[derive(Debug)]
pub(super) struct Inbox {
    stdout: Option<Receiver>,
    stderr: Option<Receiver>,
    framer: Framer,
    decoder: Decoder,
    chunk: Box<[u8]>,
    queue: VecDeque<Incoming>,
    queued_bytes: usize,
}

impl Inbox {
    pub(super) fn new(stdout: Receiver, stderr: Receiver, max_line: usize) -> Inbox {
        Inbox {
            stdout: Some(stdout),
            stderr: Some(stderr),
            framer: Framer::new(max_line),
            decoder: Decoder::default(),
            chunk: vec![0; CHUNK].into(),
            queue: VecDeque::new(),
            queued_bytes: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn pop(&mut self) -> Option<Incoming> {
        let incoming = self.queue.pop_front()?;
        self.queued_bytes -= cost(&incoming);
        Some(incoming)
    }

    pub(super) fn push(&mut self, incoming: Incoming) {
        self.queued_bytes += cost(&incoming);
        self.queue.push_back(incoming);
    }

    pub(super) fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// The beginning of a line on stdout whose end has not come.
    pub(super) fn unfinished(&self) -> &[u8] {
        self.framer.head()
    }

    pub(super) fn stdout_open(&self) -> bool {
        self.stdout.is_some()
    }

    /// Reads once from each pipe that has something; ready when either had.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let stdout = self.poll_stdout(cx);
        let stderr = self.poll_stderr(cx);
        if stdout.is_ready() || stderr.is_ready() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Reads what is there now, asking the system rather than what the runtime remembers.
    pub(super) fn drain(&mut self) {
        for _ in 0..MAX_READS {
            if !self.read_within(NOW) {
                return;
            }
        }
    }

    /// Waits briefly for a server that answers at once: a trip through the reactor would cost more than the wait.
    pub(super) fn linger(&mut self) {
        if self.stdout.is_some() {
            self.read_within(BRIEFLY);
        }
    }

    /// Reads each pipe that has something once, waiting so long at most for one that has; whether there was one.
    fn read_within(&mut self, patience: Timespec) -> bool {
        let (stdout, stderr) = self.waiting(patience);
        if let Some(pipe) = self.stdout.as_ref().filter(|_| stdout) {
            match rustix::io::read(pipe, self.framer.space()) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                read => self.took_stdout(read.ok()),
            }
        }
        if let Some(pipe) = self.stderr.as_ref().filter(|_| stderr) {
            match rustix::io::read(pipe, &mut self.chunk[..]) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                read => self.took_stderr(read.ok()),
            }
        }
        stdout || stderr
    }

    /// Which pipes a read would not wait for, as soon as there is one.
    fn waiting(&self, patience: Timespec) -> (bool, bool) {
        match (&self.stdout, &self.stderr) {
            (Some(stdout), Some(stderr)) => {
                let [stdout, stderr] = readable([stdout, stderr], patience);
                (stdout, stderr)
            }
            (Some(stdout), None) => (readable([stdout], patience)[0], false),
            (None, Some(stderr)) => (false, readable([stderr], patience)[0]),
            (None, None) => (false, false),
        }
    }

    fn poll_stdout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(pipe) = &mut self.stdout else { return Poll::Pending };
        let mut space = ReadBuf::new(self.framer.space());
        let read = std::task::ready!(Pin::new(pipe).poll_read(cx, &mut space));
        let count = space.filled().len();
        self.took_stdout(read.ok().map(|()| count));
        Poll::Ready(())
    }

    fn poll_stderr(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(pipe) = &mut self.stderr else { return Poll::Pending };
        let mut space = ReadBuf::new(&mut self.chunk);
        let read = std::task::ready!(Pin::new(pipe).poll_read(cx, &mut space));
        let count = space.filled().len();
        self.took_stderr(read.ok().map(|()| count));
        Poll::Ready(())
    }

    fn took_stdout(&mut self, read: Option<usize>) {
        if let Some(count @ 1..) = read {
            self.framer.filled(count);
            while let Some(item) = self.framer.next_line() {
                enqueue(item, &mut self.queue, &mut self.queued_bytes);
            }
            return;
        }
        if let Some(item) = self.framer.finish() {
            enqueue(item, &mut self.queue, &mut self.queued_bytes);
        }
        self.stdout = None;
        self.push(Incoming::StdoutClosed);
    }

    fn took_stderr(&mut self, read: Option<usize>) {
        let text = match read {
            Some(count @ 1..) => self.decoder.decode(&self.chunk[..count]),
            _ => {
                self.stderr = None;
                self.decoder.finish()
            }
        };
        if !text.is_empty() {
            self.push(Incoming::Stderr(text));
        }
        if self.stderr.is_none() {
            self.push(Incoming::StderrClosed);
        }
    }
}

fn readable<const N: usize>(pipes: [&Receiver; N], patience: Timespec) -> [bool; N] {
    let mut fds = pipes.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
    match rustix::event::poll(&mut fds, Some(&patience)) {
        Ok(_) => fds.map(|fd| !fd.revents().is_empty()),
        Err(_) => [false; N],
    }
}

fn enqueue(item: Item<'_>, queue: &mut VecDeque<Incoming>, queued_bytes: &mut usize) {
    let mut add = |incoming: Incoming| {
        *queued_bytes += cost(&incoming);
        queue.push_back(incoming);
    };
    match item {
        Item::Oversize { head, bytes } => {
            add(Incoming::Oversize { head: String::from_utf8_lossy(head).into_owned(), bytes });
        }
        Item::Line { bytes, bom, terminated } => {
            let odd = [
                bom.then_some("a byte order mark stands before it"),
                (!terminated).then_some("the last line, without a newline"),
            ];
            match parse_line(bytes) {
                Line::Noise(text) => add(Incoming::Noise(text)),
                Line::Message(mut message) => {
                    message.notes.extend(odd.into_iter().flatten().map(str::to_owned));
                    add(Incoming::Message(message));
                }
                Line::Batch(messages) => messages.into_iter().map(Incoming::Message).for_each(add),
            }
        }
    }
}

fn cost(incoming: &Incoming) -> usize {
    incoming.size() + size_of::<Incoming>()
}
