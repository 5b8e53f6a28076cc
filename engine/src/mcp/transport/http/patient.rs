//! A TCP connection on which a server that answers at once is waited for without a trip through the reactor.
//!
//! The trip (park, epoll, wake, poll again) costs more than most local servers need to answer. So whoever waits for one
//! answer and nothing else asks the system for it directly, briefly and once, and goes back to the reactor after that.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IoSlice, Read};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Longer than a local server needs that has nothing to do, and too short to be missed by anything else on the thread.
const BRIEFLY: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Whether the answer that is looked for now may be waited for; it is, once.
#[derive(Debug, Clone, Default)]
pub(super) struct Patience(Arc<AtomicBool>);

impl Patience {
    pub(super) fn set(&self, may_wait: bool) {
        self.0.store(may_wait, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// A connection, and the same one once more for looking at it without the runtime.
#[derive(Debug)]
pub(super) struct Patient {
    stream: TcpStream,
    twin: Arc<std::net::TcpStream>,
    patience: Patience,
    /// Something was written since something was last read.
    asked: bool,
}

/// Looks at a connection that nobody reads.
#[derive(Debug)]
pub(super) struct Peephole(Arc<std::net::TcpStream>);

/// What there is to read on a connection that nobody reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// Nothing: it rests.
    Quiet,
    /// Its end.
    Closed,
    /// Bytes.
    Bytes,
}

impl Patient {
    pub(super) fn new(stream: TcpStream, patience: Patience) -> io::Result<Patient> {
        let twin = Arc::new(std::net::TcpStream::from(stream.as_fd().try_clone_to_owned()?));
        Ok(Patient { stream, twin, patience, asked: false })
    }

    pub(super) fn peephole(&self) -> Peephole {
        Peephole(self.twin.clone())
    }

    /// Waits briefly and reads.
    fn linger(&mut self, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let readable = poll(&mut [PollFd::new(&*self.twin, PollFlags::IN)], Some(&BRIEFLY));
        if !readable.is_ok_and(|ready| ready > 0) {
            return Poll::Pending;
        }
        match (&*self.twin).read(buf.initialize_unfilled()) {
            Ok(count) => {
                buf.advance(count);
                Poll::Ready(Ok(()))
            }
            // The runtime was told to wake the task when there is something.
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Peephole {
    pub(super) fn look(&self) -> Sight {
        match self.0.peek(&mut [0]) {
            Ok(0) => Sight::Closed,
            Ok(_) => Sight::Bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Sight::Quiet,
            Err(_) => Sight::Closed,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut read = Pin::new(&mut this.stream).poll_read(cx, buf);
        if this.asked && read.is_pending() && this.patience.take() {
            this.asked = false;
            read = this.linger(buf);
        }
        this.asked &= read.is_pending();
        read
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.asked = true;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.asked = true;
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
