//! Connections: made when a request needs one, kept while the server keeps them, and never made twice in silence.

use super::dial;
use super::line::{Line, Outgoing};
use super::outcome::Trouble;
use super::patient::{Patience, Patient};
use super::tls::{self, Tls};
use bytes::{Bytes, BytesMut};
use hyper::body::Incoming as Body;
use hyper::header::{HOST, HeaderValue};
use hyper::http::uri::{Authority, Scheme};
use hyper::{Response, Uri};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// How many idle connections are kept.
const MOST_IDLE: usize = 8;
/// How long a server has for closing a connection after its first answer.
const HESITATION: Duration = Duration::from_millis(5);

/// Where requests to one server go out.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    shared: Arc<Shared>,
    /// Whether an answer is waited for without the reactor.
    pub(super) patience: Patience,
}

#[derive(Debug)]
struct Shared {
    tls: Tls,
    /// Read when it is needed: the certificates of a system take longer than a whole conversation without them.
    tls_config: OnceLock<Result<Arc<ClientConfig>, String>>,
    idle: Mutex<Vec<Idle>>,
    /// Whether the server was seen to answer twice on one connection.
    keeps: AtomicBool,
}

/// What a connection leads to.
#[derive(Debug, Clone, PartialEq)]
struct Origin {
    scheme: Option<Scheme>,
    authority: Option<Authority>,
}

#[derive(Debug)]
struct Idle {
    origin: Origin,
    line: Line,
    since: Instant,
}

/// An answer whose body is still to come, and the connection that it comes on.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: Response<Body>,
    pub(super) connection: Kept,
    /// What became of connections that were kept for it.
    pub(super) notes: Vec<String>,
    /// What was connected to for it.
    pub(super) connected: Option<Authority>,
}

/// A connection that goes back to the idle ones when its answer was read whole.
#[derive(Debug)]
pub(super) struct Kept {
    origin: Origin,
    pub(super) line: Line,
    wire: Wire,
}

impl Kept {
    /// The answer was read to its end.
    pub(super) fn give_back(mut self) {
        if !self.line.stays_open() {
            return;
        }
        let Ok(mut idle) = self.wire.shared.idle.lock() else { return };
        if idle.len() < MOST_IDLE {
            idle.push(Idle { origin: self.origin, line: self.line, since: Instant::now() });
        }
    }
}

impl Answer {
    /// The body, whole, if it is no longer than `most`; an error says why not.
    pub(super) async fn whole(self, most: usize) -> Result<Bytes, String> {
        let (mut body, mut connection) = (self.response.into_body(), self.connection);
        let mut whole = BytesMut::new();
        while let Some(data) = poll_fn(|cx| connection.line.poll_data(&mut body, cx)).await {
            whole.extend_from_slice(&data.map_err(|error| Trouble::of_body(&error, whole.len()).message)?);
            if whole.len() > most {
                return Err(format!("the body is longer than {most} bytes"));
            }
        }
        connection.give_back();
        Ok(whole.freeze())
    }
}

impl Wire {
    pub(super) fn new(tls: Tls) -> Wire {
        let shared = Shared { tls, tls_config: OnceLock::new(), idle: Mutex::default(), keeps: AtomicBool::new(false) };
        Wire { shared: Arc::new(shared), patience: Patience::default() }
    }

    /// What a TLS connection is made with.
    pub(super) fn tls_config(&self) -> Result<&Arc<ClientConfig>, String> {
        self.shared.tls_config.get_or_init(|| self.shared.tls.config()).as_ref().map_err(String::clone)
    }

    /// Sends a request to `url` and awaits the head of the answer.
    pub(super) async fn send(self, mut request: Outgoing, url: Uri) -> Result<Answer, Trouble> {
        let origin = Origin { scheme: url.scheme().cloned(), authority: url.authority().cloned() };
        let authority = origin.authority.as_ref().map_or("", Authority::as_str);
        if let (false, Ok(host)) = (request.headers().contains_key(HOST), HeaderValue::from_str(authority)) {
            request.headers_mut().insert(HOST, host);
        }
        let mut notes = Vec::new();
        while let Some(Idle { mut line, since, .. }) = self.take_idle(&origin) {
            self.hesitate(&mut line, since).await;
            if let Some(why) = line.spent() {
                notes.push(format!("{why}: a new one is made"));
                continue;
            }
            match line.send(request).await {
                Ok(response) => {
                    self.shared.keeps.store(true, Ordering::Relaxed);
                    let connection = Kept { origin, line, wire: self };
                    return Ok(Answer { response, connection, notes, connected: None });
                }
                Err(mut failed) => match failed.take_message() {
                    // Nothing of it was sent, so that sending it on another connection is no second attempt.
                    Some(unsent) => {
                        notes.push("the server had closed the kept connection: a new one is made".to_owned());
                        request = unsent;
                    }
                    None => return Err(Trouble::of_exchange(failed.error())),
                },
            }
        }
        // Boxed, because the state of a TLS handshake would be moved about with every request that needs none.
        let connected = Box::pin(self.connect(&url)).await;
        let mut line = connected.map_err(|trouble| trouble.after(&notes))?;
        let sent = line.send(request).await.map_err(|failed| Trouble::of_exchange(failed.error()));
        let response = sent.map_err(|trouble| trouble.after(&notes))?;
        let connected = origin.authority.clone();
        Ok(Answer { response, connection: Kept { origin, line, wire: self }, notes, connected })
    }

    /// Leaves a server the time to close a connection on which it answered, unless it is known to keep them: some close
    /// it after every answer without having said so, and what is sent meanwhile is lost.
    async fn hesitate(&self, line: &mut Line, since: Instant) {
        while !self.shared.keeps.load(Ordering::Relaxed) && since.elapsed() < HESITATION && line.is_quiet() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn take_idle(&self, origin: &Origin) -> Option<Idle> {
        let mut idle = self.shared.idle.lock().ok()?;
        let at = idle.iter().rposition(|idle| idle.origin == *origin)?;
        Some(idle.remove(at))
    }

    async fn connect(&self, url: &Uri) -> Result<Line, Trouble> {
        let stream = dial::tcp(url).await?;
        let broken = |error: std::io::Error| Trouble::new("closed", format!("the connection broke: {error}"));
        let stream = Patient::new(stream, self.patience.clone()).map_err(broken)?;
        if url.scheme_str() != Some("https") {
            return Line::plain(stream).await;
        }
        let config = self.tls_config().map_err(|why| Trouble::new("tls", why))?.clone();
        let host = dial::host(url).to_owned();
        let name = ServerName::try_from(host.clone())
            .map_err(|_| Trouble::new("tls", format!("`{host}` cannot stand in a certificate")))?;
        let peephole = stream.peephole();
        let stream =
            TlsConnector::from(config).connect(name, stream).await.map_err(|error| tls::trouble(&host, &error))?;
        Line::encrypted(stream, peephole).await
    }
}
