//! Before the first message: the server is awaited, a token fetched, a stream opened.

use super::flight::{Flight, Purpose, Sending};
use super::{Http, auth, dial, endpoint, request};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::transport::Incoming;
use bytes::Bytes;
use endpoint::{Auth, Flavour};
use hyper::Method;
use hyper::header::{ACCEPT, HeaderValue};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// How long the head of the standalone stream is awaited: some servers send it with the first event only.
const STREAM: Duration = Duration::from_millis(500);
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
                let fetched = timeout(patience, auth::fetch(&self.wire, credentials)).await;
                let token = fetched.map_err(|_| Fault::new(Code::StartFailed, "no token came in time"))??;
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
        let deadline = Instant::now() + STREAM;
        let ticket = self.last_ticket;
        let opened = poll_fn(|cx| {
            while self.poll_flights(cx) {}
            let waiting = |flight: &Flight| flight.ticket == ticket && matches!(flight.stage, super::Stage::Head(_));
            if self.flights.iter().any(waiting) { Poll::Pending } else { Poll::Ready(()) }
        });
        let _ = timeout_at(deadline, opened).await;
    }

    /// A GET that opens or resumes a stream.
    pub(super) fn listening(&self, last_event_id: Option<&str>) -> Sending {
        let mut headers = self.headers();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
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
            // What the process says meanwhile is read, so that it cannot get stuck on a full pipe.
            let reading = poll_fn(|cx| {
                while self.poll_process(cx) {}
                Poll::<()>::Pending
            });
            tokio::select! {
                () = reading => {}
                () = sleep(PAUSE) => {}
            }
        }
    }

    /// The HTTP+SSE transport begins with a stream whose first event says where to send messages.
    async fn await_endpoint(&mut self, deadline: Instant) -> Result<(), Fault> {
        self.open_stream();
        let opened = poll_fn(|cx| {
            loop {
                if self.post_url.is_some() || self.flights.is_empty() {
                    return Poll::Ready(());
                }
                if !self.poll_flights(cx) && !self.poll_process(cx) {
                    return Poll::Pending;
                }
            }
        });
        let opened = timeout_at(deadline, opened).await;
        if self.post_url.is_some() {
            return Ok(());
        }
        let why = match opened {
            Err(_) => "no `endpoint` event came in time".to_owned(),
            Ok(()) => {
                let said = self.queue.iter().rev().find_map(|incoming| match incoming {
                    Incoming::Traffic(text) => Some(text.clone()),
                    _ => None,
                });
                said.unwrap_or_else(|| "the stream ended".to_owned())
            }
        };
        let message = format!("the server did not say where to send messages: {why}");
        Err(Fault::new(Code::StartFailed, message)
            .hint("`transport: sse` is the transport of 2024-11-05; newer servers need `transport: http`"))
    }
}
