//! One connection. No task drives it: whoever waits for something on it moves it on, so that a call costs no wake-up.

use super::outcome::Trouble;
use super::patient::{Patient, Peephole, Sight};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as _, Incoming as Body};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite};

/// What a request is.
pub(super) type Outgoing = Request<Full<Bytes>>;

/// One connection.
pub(super) struct Line {
    sender: SendRequest<Full<Bytes>>,
    /// What reads and writes; `None` once it is over.
    driver: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    peephole: Peephole,
    encrypted: bool,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("open", &self.driver.is_some()).finish_non_exhaustive()
    }
}

impl Line {
    /// A connection without encryption.
    pub(super) async fn plain(stream: Patient) -> Result<Line, Trouble> {
        let peephole = stream.peephole();
        Line::open(stream, peephole, false).await
    }

    /// A connection inside of another one.
    pub(super) async fn encrypted(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        peephole: Peephole,
    ) -> Result<Line, Trouble> {
        Line::open(stream, peephole, true).await
    }

    async fn open(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        peephole: Peephole,
        encrypted: bool,
    ) -> Result<Line, Trouble> {
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| Trouble::of_exchange(&error))?;
        // What goes wrong on it is told to whoever waits for an answer.
        let driver = Box::pin(async move {
            let _ = connection.await;
        });
        Ok(Line { sender, driver: Some(driver), peephole, encrypted })
    }

    /// Sends a request and awaits the head of its answer.
    pub(super) async fn send(&mut self, request: Outgoing) -> Result<Response<Body>, Box<TrySendError<Outgoing>>> {
        // Whether it takes one more request is asked first; that it takes none shows in the attempt.
        poll_fn(|cx| self.poll_ready(cx)).await;
        let mut sending = pin!(self.sender.try_send_request(request));
        poll_fn(|cx| self.poll_with(cx, |cx| sending.as_mut().poll(cx))).await.map_err(Box::new)
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..2 {
            if self.sender.poll_ready(cx).is_ready() {
                return Poll::Ready(());
            }
            self.drive(cx);
        }
        self.sender.poll_ready(cx).map(|_| ())
    }

    /// The next piece of a body that comes on it; trailers are passed over.
    pub(super) fn poll_data(
        &mut self,
        body: &mut Body,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, hyper::Error>>> {
        loop {
            let frame = std::task::ready!(self.poll_with(cx, |cx| Pin::new(&mut *body).poll_frame(cx)));
            match frame.map(|frame| frame.map(|frame| frame.into_data())) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(Ok(data))) => return Poll::Ready(Some(Ok(data))),
                Some(Ok(Err(_))) => {}
            }
        }
    }

    /// Looks at something that comes of the connection, moving it on as far as it goes: once to write what was asked, and
    /// once to read what came.
    fn poll_with<T>(&mut self, cx: &mut Context<'_>, mut look: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        for _ in 0..2 {
            if let Poll::Ready(seen) = look(cx) {
                return Poll::Ready(seen);
            }
            self.drive(cx);
        }
        look(cx)
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        if self.driver.as_mut().is_some_and(|driver| driver.as_mut().poll(cx).is_ready()) {
            self.driver = None;
        }
    }

    /// Whether it is open after an answer was read from it whole: a server may have said that it closes it.
    pub(super) fn stays_open(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        self.driver.is_some() && !self.sender.is_closed()
    }

    /// Whether nothing came on it since, not even its end.
    pub(super) fn is_quiet(&mut self) -> bool {
        self.peephole.look() == Sight::Quiet
    }

    /// Why it cannot be used again, though it stayed open.
    pub(super) fn spent(&mut self) -> Option<&'static str> {
        match self.peephole.look() {
            // What came is of the encryption's own, or else its end follows.
            Sight::Bytes if self.encrypted && self.stays_open() => None,
            Sight::Bytes => Some("the server had sent something on the kept connection that nothing asked for"),
            Sight::Closed => Some("the server had closed the kept connection"),
            Sight::Quiet => None,
        }
    }
}
