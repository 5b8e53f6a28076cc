//! The SDK's ends of the channel: lines in, lines out, and whether anybody is still there.
//!
//! An SDK may give us pipes (most do), socket pairs (Node), files or a terminal. Pipes and sockets are made non-blocking; what
//! is neither is read by a thread, because a terminal is shared with others.

use crate::ndjson::{Framer, Item};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc;

/// The longest request: larger ones are refused, and never held in memory.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;
/// How long the thread waits for the next request before it goes back to its runtime: an SDK that asks one thing after
/// the other is answered without the detour.
const BRIEFLY: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// How much the thread of a terminal or file reads ahead.
const AHEAD: usize = 4;

/// What the SDK writes.
#[derive(Debug)]
pub(super) struct Input {
    bytes: Bytes,
    framer: Framer,
    ended: bool,
}

#[derive(Debug)]
enum Bytes {
    Pipe(Receiver),
    Thread(mpsc::Receiver<Vec<u8>>),
}

/// What came.
#[derive(Debug)]
pub(super) enum Line {
    /// A line.
    Whole(Vec<u8>),
    /// A line over [`MAX_LINE`], which has this many bytes.
    Oversize(usize),
    /// Nothing more will come.
    End,
}

impl Input {
    /// Stdin. Needs a tokio runtime.
    pub(super) fn new() -> io::Result<Input> {
        let bytes = match unblocked(io::stdin().as_fd())? {
            // A socket is read like a pipe.
            Some((fd, _)) => Bytes::Pipe(Receiver::from_owned_fd_unchecked(fd)?),
            None => Bytes::Thread(read_aside()?),
        };
        Ok(Input { bytes, framer: Framer::new(MAX_LINE), ended: false })
    }

    /// The next line, if it comes within a moment.
    pub(super) fn linger(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.framed() {
                return Some(line);
            }
            let Bytes::Pipe(pipe) = &self.bytes else { return None };
            let mut fds = [PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)];
            if !rustix::event::poll(&mut fds, Some(&BRIEFLY)).is_ok_and(|count| count > 0) {
                return None;
            }
            match rustix::io::read(pipe, self.framer.space()) {
                Err(Errno::INTR | Errno::AGAIN) => return None,
                Ok(0) | Err(_) => self.ended = true,
                Ok(count) => self.framer.filled(count),
            }
        }
    }

    /// The next line. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            if let Some(line) = self.framed() {
                return line;
            }
            match &mut self.bytes {
                Bytes::Thread(chunks) => match chunks.recv().await {
                    Some(chunk) => self.framer.feed(&chunk),
                    None => self.ended = true,
                },
                Bytes::Pipe(pipe) => {
                    self.ended = pipe.readable().await.is_err();
                    match pipe.try_read(self.framer.space()) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Ok(0) | Err(_) => self.ended = true,
                        Ok(count) => self.framer.filled(count),
                    }
                }
            }
        }
    }

    fn framed(&mut self) -> Option<Line> {
        if let Some(item) = self.framer.next_line() {
            return Some(line(item));
        }
        self.ended.then(|| self.framer.finish().map_or(Line::End, line))
    }
}

fn line(item: Item<'_>) -> Line {
    match item {
        Item::Line { bytes, .. } => Line::Whole(bytes.to_vec()),
        Item::Oversize { bytes, .. } => Line::Oversize(bytes),
    }
}

/// A handle of its own on a pipe or a socket, which never blocks; nothing for what is neither.
fn unblocked(fd: std::os::fd::BorrowedFd<'_>) -> io::Result<Option<(OwnedFd, FileType)>> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::Socket) {
        return Ok(None);
    }
    rustix::fs::fcntl_setfl(fd, rustix::fs::fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
    Ok(Some((fd.try_clone_to_owned()?, kind)))
}

/// Reads stdin on a thread, which ends with the process.
fn read_aside() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, chunks) = mpsc::channel(AHEAD);
    std::thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = io::stdin().lock().read(&mut buffer) {
            if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    })?;
    Ok(chunks)
}

/// What the SDK reads.
#[derive(Debug)]
pub(super) enum Output {
    /// A pipe.
    Pipe(Sender),
    /// A socket.
    Socket(UnixStream),
    /// A file or a terminal, which always takes what is written.
    Other,
}

impl Output {
    /// Stdout. Needs a tokio runtime.
    pub(super) fn new() -> io::Result<Output> {
        Ok(match unblocked(io::stdout().as_fd())? {
            None => Output::Other,
            Some((fd, FileType::Socket)) => Output::Socket(UnixStream::from_std(StdUnixStream::from(fd))?),
            Some((fd, _)) => Output::Pipe(Sender::from_owned_fd_unchecked(fd)?),
        })
    }

    /// Writes all of it; an error means that nobody reads any more.
    pub(super) async fn write(&self, text: &str) -> io::Result<()> {
        let mut left = text.as_bytes();
        while !left.is_empty() {
            let written = match self {
                Output::Pipe(pipe) => pipe.try_write(left),
                Output::Socket(socket) => socket.try_write(left),
                Output::Other => {
                    let mut stdout = io::stdout().lock();
                    return stdout.write_all(left).and_then(|()| stdout.flush());
                }
            };
            match written {
                Ok(count) => left = left.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => match self {
                    Output::Pipe(pipe) => pipe.writable().await?,
                    Output::Socket(socket) => socket.writable().await?,
                    Output::Other => {}
                },
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns when nobody can read any more what is written.
    pub(super) async fn closed(&self) {
        let gone = match self {
            Output::Pipe(pipe) => pipe.ready(Interest::ERROR).await.is_ok(),
            Output::Socket(socket) => hung_up(socket).await,
            Output::Other => false,
        };
        if !gone {
            std::future::pending::<()>().await;
        }
    }
}

/// Whether the other end of a socket was closed, once there is something to be told of it. Where it is stdin too, what can be
/// read are requests, and the end of what can be read is the end of stdin: neither is the end of whoever reads answers.
async fn hung_up(socket: &UnixStream) -> bool {
    while let Ok(ready) = socket.ready(Interest::READABLE).await {
        if ready.is_read_closed() {
            let mut fds = [PollFd::new(socket, PollFlags::empty())];
            let looked = rustix::event::poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
            return looked.is_err() || fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR);
        }
        // Left unread, and not to be told again until more comes.
        let _ = socket.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    }
    false
}
