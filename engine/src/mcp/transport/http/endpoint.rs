//! Where a server listens, and what every request to it carries.

use super::tls::Tls;
use hyper::Uri;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

/// A server behind a URL.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Where messages are sent.
    pub url: Uri,
    /// Added to every request; they replace what the client would send by itself.
    pub headers: HeaderMap,
    /// How the client shows who it is.
    pub auth: Auth,
    /// Whom the client trusts.
    pub tls: Tls,
    /// Which of the two transports it speaks.
    pub flavour: Flavour,
    /// How long it is tried again to connect before the handshake; `None`: once.
    pub wait_for_ready: Option<Duration>,
}

/// The two transports over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Streamable HTTP: answers come with the request they answer.
    Streamable,
    /// HTTP+SSE of 2024-11-05: every answer comes on one stream, and the stream says where to send.
    Sse,
}

/// How the client shows who it is.
#[derive(Debug, Clone, Default)]
pub enum Auth {
    /// Not at all, unless with a header.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer(String),
    /// A bearer token that is fetched before the handshake.
    ClientCredentials(ClientCredentials),
}

/// OAuth 2 client credentials.
#[derive(Debug, Clone)]
pub struct ClientCredentials {
    /// Where the token is fetched.
    pub token_url: Uri,
    /// Who asks.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// What is asked for.
    pub scope: Option<String>,
    /// For which resource (RFC 8707).
    pub resource: Option<String>,
}

impl Endpoint {
    /// A server behind a URL, with every setting at its default.
    pub fn new(url: Uri) -> Endpoint {
        Endpoint {
            url,
            headers: HeaderMap::new(),
            auth: Auth::None,
            tls: Tls::default(),
            flavour: Flavour::Streamable,
            wait_for_ready: None,
        }
    }

    /// Whether a certificate has to be judged.
    pub(super) fn needs_tls(&self) -> bool {
        let encrypted = |url: &Uri| url.scheme_str() == Some("https");
        let token_url = match &self.auth {
            Auth::ClientCredentials(credentials) => encrypted(&credentials.token_url),
            Auth::None | Auth::Bearer(_) => false,
        };
        encrypted(&self.url) || token_url
    }
}

/// Reads a URL that a client can connect to; the error says what is wrong with it.
pub fn parse_url(text: &str) -> Result<Uri, String> {
    let url: Uri = text.parse().map_err(|error| format!("it is no URL: {error}"))?;
    match url.scheme_str() {
        Some("http" | "https") => {}
        Some(other) => return Err(format!("its scheme is `{other}`, neither `http` nor `https`")),
        None => return Err("it does not begin with `http://` or `https://`".into()),
    }
    if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("it holds a user name: use `auth` or `headers`".into());
    }
    if url.host().is_none_or(str::is_empty) {
        return Err("it has no host".into());
    }
    Ok(url)
}

/// A header as it is sent; the error says what is wrong with it.
pub fn parse_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let name: HeaderName = name.parse().map_err(|_| format!("`{name}` cannot name a header"))?;
    let mut value =
        HeaderValue::from_str(value).map_err(|_| format!("the value of `{name}` cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The URL that `reference`, an absolute one or a path, means on the server of `base`.
pub(super) fn resolve(base: &Uri, reference: &str) -> Result<Uri, String> {
    if reference.contains("://") {
        return parse_url(reference);
    }
    let authority = base.authority().map(ToString::to_string).unwrap_or_default();
    let path = if reference.starts_with('/') {
        reference.to_owned()
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/{reference}")
    };
    parse_url(&format!("{}://{authority}{path}", base.scheme_str().unwrap_or("http")))
}
