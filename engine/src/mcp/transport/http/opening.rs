//! Before the first message: the server is awaited, a token fetched, a stream opened.

use super::flight::{Flight, Purpose, Sending};
use super::{Http, auth, dial, endpoint, request};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::transport::Incoming;
use bytes::Bytes;
use endpoint::{Auth, Flavour};
use hyper::Method;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// How long a head is awaited without which the conversation goes on: some servers send that of the standalone stream
/// with its first event only.
const HEAD: Duration = Duration::from_millis(500);
/// How long a server that was started on a port that is taken may take to notice it.
const TAKEN: Duration = Duration::from_secs(3);
/// The pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(50);

impl Http {
    /// Everything that comes before the first message, until `deadline`.
    pub async fn prepare(&mut self, patience: Duration) -> Result<(), Fault> {
        if !self.endpoint.tls.verify {
            let warning = "`tls.verify` is off: whoever answers is trusted, and gets every header";
            self.queue.push_back(Incoming::Note(warning.to_owned()));
        }
        let wait = self.endpoint.wait_for_ready.or(self.process.is_some().then_some(patience));
        if let Some(wait) = wait {
            self.await_ready(wait).await?;
        }
        self.authorization = match &self.endpoint.auth {
            Auth::None => None,
            Auth::Bearer(token) => Some(auth::bearer(token)?),
            Auth::ClientCredentials(credentials) => {
                // Its issuer may tell it in an error.
                self.queue.push_back(Incoming::Secret(auth::basic(credentials)));
                let fetched = timeout(patience, auth::fetch(&self.wire, credentials)).await;
                let token = fetched.map_err(|_| {
                    let (url, patience) = (&credentials.token_url, crate::mcp::connection::plain(patience));
                    let message = format!("no token from `{url}` within `startupTimeout` ({patience})");
                    Fault::new(Code::StartFailed, message)
                })??;
                self.traffic(format!("POST {} → a token", credentials.token_url));
                self.queue.push_back(Incoming::Secret(token.clone()));
                Some(auth::bearer(&token)?)
            }
        };
        if self.endpoint.flavour == Flavour::Sse {
            self.await_endpoint(Instant::now() + patience).await?;
        }
        Ok(())
    }

    /// Opens the stream on which the server sends what no request of ours asked for.
    pub async fn listen_to_server(&mut self) {
        if self.endpoint.flavour == Flavour::Sse {
            return;
        }
        self.open_stream();
        self.await_head(self.last_ticket).await;
    }

    /// Waits until a request has the head of its answer, or for a while.
    pub async fn await_head(&mut self, ticket: u64) {
        let answered = poll_fn(|cx| {
            let more = self.catch_up(cx);
            let waiting = |flight: &Flight| flight.ticket == ticket && matches!(flight.stage, super::Stage::Head(_));
            if !self.flights.iter().any(waiting) {
                return Poll::Ready(());
            }
            if more {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        });
        let _ = timeout(HEAD, answered).await;
    }

    /// A GET that opens or resumes a stream.
    pub(super) fn listening(&self, last_event_id: Option<&str>) -> Sending {
        let mut headers = self.headers();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert("last-event-id", id);
        }
        headers.extend(self.endpoint.headers.clone());
        let url = self.endpoint.url.clone();
        Box::pin(self.wire.clone().send(request(Method::GET, &url, headers, Bytes::new()), url))
    }

    fn open_stream(&mut self) {
        self.last_ticket += 1;
        let label = format!("GET {}", self.endpoint.url.path());
        let flight = Flight::new(self.last_ticket, Purpose::Listen, label, None, self.listening(None));
        self.flights.push(flight);
    }

    /// Tries to connect until somebody listens.
    async fn await_ready(&mut self, wait: Duration) -> Result<(), Fault> {
        let deadline = Instant::now() + wait;
        let url = self.endpoint.url.clone();
        if self.taken {
            self.outlast(deadline.min(Instant::now() + TAKEN)).await?;
        }
        let mut attempts = 0;
        loop {
            attempts += 1;
            let trouble = match timeout_at(deadline, dial::tcp(&url)).await {
                Ok(Ok(_)) => {
                    self.traffic(format!("the server listens (attempt {attempts})"));
                    return Ok(());
                }
                Ok(Err(trouble)) => trouble.message,
                Err(_) => "no connection in time".to_owned(),
            };
            if let Some(exit) = self.process.as_mut().and_then(|process| process.child().try_exit()) {
                let message = format!("the server ended before it was ready ({exit})");
                return Err(Fault::new(Code::StartFailed, message));
            }
            if Instant::now() + PAUSE >= deadline {
                let message = format!(
                    "nobody listens at `{url}` after {} and {attempts} attempts: {trouble}",
                    crate::mcp::connection::plain(wait)
                );
                let fault = Fault::new(Code::StartFailed, message);
                return Err(fault.hint("a server that needs longer has `waitForReady: 30s` in its config"));
            }
            self.pause().await;
        }
    }

    /// A short time in which what the process says is read, so that it cannot get stuck on a full pipe.
    async fn pause(&mut self) {
        let reading = poll_fn(|cx| {
            while self.poll_process(cx) {}
            Poll::<()>::Pending
        });
        tokio::select! {
            () = reading => {}
            () = sleep(PAUSE) => {}
        }
    }

    /// Somebody else has the port: a server that needs it ends soon, and whoever answers is not the one that was started.
    async fn outlast(&mut self, deadline: Instant) -> Result<(), Fault> {
        let authority = self.endpoint.url.authority().map(ToString::to_string).unwrap_or_default();
        let somebody = format!("somebody listened at `{authority}` before the server was started");
        while Instant::now() < deadline {
            if let Some(exit) = self.process.as_mut().and_then(|process| process.child().try_exit()) {
                let message = format!("the server ended before it was ready ({exit}): {somebody}");
                return Err(Fault::new(Code::StartFailed, message)
                    .hint("`${port}` in `args` and `url` is a port that nobody listens on, one for each process")
                    .hint("a server that runs already is tested with a `url` and without a `command`"));
            }
            self.pause().await;
        }
        self.queue.push_back(Incoming::Note(format!("{somebody}: what answers may be something else")));
        Ok(())
    }

    /// The HTTP+SSE transport begins with a stream whose first event says where to send messages.
    async fn await_endpoint(&mut self, deadline: Instant) -> Result<(), Fault> {
        self.open_stream();
        let opened = poll_fn(|cx| {
            let more = self.catch_up(cx);
            if self.post_url.is_some() || self.flights.is_empty() {
                return Poll::Ready(());
            }
            if more {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        });
        let opened = timeout_at(deadline, opened).await;
        let newer = "`transport: sse` is the transport of 2024-11-05; newer servers need `transport: http`";
        if let Some(refused) = self.refused.take() {
            let fault = refused.fault(&format!("`GET {}`", self.endpoint.url.path()));
            return Err(Fault { code: Code::StartFailed, ..fault }.hint(newer));
        }
        let why = match (&self.post_url, opened) {
            (Some(Ok(_)), _) => return Ok(()),
            (Some(Err(why)), _) => why.clone(),
            (None, Err(_)) => "no `endpoint` event came in time".to_owned(),
            (None, Ok(())) => {
                let said = self.queue.iter().rev().find_map(|incoming| match incoming {
                    Incoming::Traffic(text) => Some(text.clone()),
                    _ => None,
                });
                said.unwrap_or_else(|| "the stream ended".to_owned())
            }
        };
        let message = format!("the server did not say where to send messages: {why}");
        Err(Fault::new(Code::StartFailed, message).hint(newer))
    }
}
