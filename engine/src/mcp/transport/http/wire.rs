//! Connections: made when a request needs one, kept while the server keeps them, and never made twice in silence.

use super::outcome::Trouble;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming as Body;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{HOST, HeaderValue};
use hyper::http::uri::{Authority, Scheme};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long a connection may have been idle for its end to be looked for before it is used again.
const RESTED: Duration = Duration::from_millis(50);
/// How many idle connections are kept.
const MOST_IDLE: usize = 8;

type Sender = SendRequest<Full<Bytes>>;

/// Where requests to one server go out.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    tls: Option<Arc<ClientConfig>>,
    idle: Arc<Mutex<Vec<Idle>>>,
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
    sender: Sender,
    since: Instant,
}

/// An answer whose body is still to come, and the connection that it comes on.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: Response<Body>,
    pub(super) connection: Kept,
    /// What was done to get it, for the transcript.
    pub(super) notes: Vec<String>,
}

/// A connection that goes back to the idle ones when its answer was read whole.
#[derive(Debug)]
pub(super) struct Kept {
    origin: Origin,
    sender: Sender,
    wire: Wire,
}

impl Kept {
    /// The answer was read to its end.
    pub(super) fn give_back(self) {
        let Ok(mut idle) = self.wire.idle.lock() else { return };
        if idle.len() < MOST_IDLE && !self.sender.is_closed() {
            idle.push(Idle { origin: self.origin, sender: self.sender, since: Instant::now() });
        }
    }
}

impl Wire {
    pub(super) fn new(tls: Option<Arc<ClientConfig>>) -> Wire {
        Wire { tls, idle: Arc::default() }
    }

    /// Sends a request to `url` and awaits the head of the answer.
    pub(super) async fn send(self, mut request: Request<Full<Bytes>>, url: Uri) -> Result<Answer, Trouble> {
        let origin = Origin { scheme: url.scheme().cloned(), authority: url.authority().cloned() };
        let authority = origin.authority.as_ref().map_or("", Authority::as_str);
        if let (false, Ok(host)) = (request.headers().contains_key(HOST), HeaderValue::from_str(authority)) {
            request.headers_mut().insert(HOST, host);
        }
        let mut notes = Vec::new();
        while let Some((mut sender, rested)) = self.take_idle(&origin) {
            if rested {
                // The end of an idle connection is seen when its task runs.
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            }
            if sender.is_closed() || sender.ready().await.is_err() {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => {
                    return Ok(Answer { response, connection: Kept { origin, sender, wire: self }, notes });
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
        let mut sender = Box::pin(self.connect(&url)).await?;
        let response = sender.send_request(request).await.map_err(|error| Trouble::of_exchange(&error))?;
        Ok(Answer { response, connection: Kept { origin, sender, wire: self }, notes })
    }

    fn take_idle(&self, origin: &Origin) -> Option<(Sender, bool)> {
        let mut idle = self.idle.lock().ok()?;
        let at = idle.iter().rposition(|idle| idle.origin == *origin)?;
        let idle = idle.remove(at);
        Some((idle.sender, idle.since.elapsed() > RESTED))
    }

    async fn connect(&self, url: &Uri) -> Result<Sender, Trouble> {
        let stream = tcp(url).await?;
        if url.scheme_str() != Some("https") {
            return handshake(stream).await;
        }
        let Some(tls) = &self.tls else { return Err(Trouble::new("tls", "no TLS settings for an `https` URL")) };
        let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host.clone())
            .map_err(|_| Trouble::new("tls", format!("`{host}` cannot stand in a certificate")))?;
        let stream = TlsConnector::from(tls.clone())
            .connect(name, stream)
            .await
            .map_err(|error| Trouble::new("tls", format!("no TLS connection to `{host}`: {error}")))?;
        handshake(stream).await
    }
}

/// Connects to the host and port of a URL.
pub(super) async fn tcp(url: &Uri) -> Result<TcpStream, Trouble> {
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_u16().unwrap_or(if url.scheme_str() == Some("https") { 443 } else { 80 });
    let stream = TcpStream::connect((host, port)).await.map_err(|error| {
        let kind = match error.kind() {
            io::ErrorKind::ConnectionRefused => "refused",
            _ => "unreachable",
        };
        Trouble::new(kind, format!("cannot connect to `{host}:{port}`: {error}"))
    })?;
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

async fn handshake(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Result<Sender, Trouble> {
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| Trouble::of_exchange(&error))?;
    // What goes wrong on it is told to whoever waits for an answer.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}
