//! Where a server listens, and what every request to it carries.

use super::tls::Tls;
use hyper::Uri;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::time::Duration;

/// More than a connection inside of one machine takes.
const LOOK: Duration = Duration::from_millis(100);

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

    /// Whether somebody listens already at a port of this machine that a server is about to be started on.
    pub fn is_taken(&self) -> bool {
        let host = self.url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let address = match host {
            "localhost" => Some(IpAddr::from(Ipv4Addr::LOCALHOST)),
            other => other.parse::<IpAddr>().ok().filter(IpAddr::is_loopback),
        };
        let port = self.url.port_u16().unwrap_or(if self.url.scheme_str() == Some("https") { 443 } else { 80 });
        address.is_some_and(|address| TcpStream::connect_timeout(&(address, port).into(), LOOK).is_ok())
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
    // A port that is none would be taken for the scheme's own, and whoever listens there be told every header.
    let port = url.authority().and_then(|authority| authority.as_str().strip_prefix(url.host().unwrap_or_default()));
    match port.and_then(|port| port.strip_prefix(':')) {
        Some(port) if !port.is_empty() && port.parse::<u16>().is_err() => Err(format!("`{port}` is no port")),
        _ => Ok(url),
    }
}

/// A URL that may be wrong, without what may be secret in it: the user's name and password, and the query.
pub fn shown_url(text: &str) -> String {
    let (address, query) = text.split_once('?').map_or((text, ""), |(address, _)| (address, "?…"));
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let (user, rest) = rest.rsplit_once('@').map_or(("", rest), |(_, rest)| ("…@", rest));
    let separator = if address.contains("://") { "://" } else { "" };
    format!("{scheme}{separator}{user}{rest}{query}")
}

/// A header as it is sent; the error says what is wrong with it.
pub fn parse_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let name: HeaderName = name.parse().map_err(|_| format!("`{name}` cannot name a header"))?;
    let mut value =
        HeaderValue::from_str(value).map_err(|_| format!("the value of `{name}` cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The URL that `reference` means on the server of `base`. One of another server is refused: it would be told every header.
pub(super) fn resolve(base: &Uri, reference: &str) -> Result<Uri, String> {
    let scheme = base.scheme_str().unwrap_or("http");
    let authority = base.authority().map(ToString::to_string).unwrap_or_default();
    let path = &reference[..reference.find('?').unwrap_or(reference.len())];
    let url = if path.contains("://") {
        parse_url(reference)?
    } else if reference.starts_with("//") {
        parse_url(&format!("{scheme}:{reference}"))?
    } else if path.starts_with('/') {
        parse_url(&format!("{scheme}://{authority}{reference}"))?
    } else if path.is_empty() {
        parse_url(&format!("{scheme}://{authority}{}{reference}", base.path()))?
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        parse_url(&format!("{scheme}://{authority}{}{}", joined(folder, path), &reference[path.len()..]))?
    };
    let origin = |url: &Uri| {
        let default = if url.scheme_str() == Some("https") { 443 } else { 80 };
        let host = url.host().unwrap_or_default().to_ascii_lowercase();
        (url.scheme_str().map(str::to_owned), host, url.port_u16().unwrap_or(default))
    };
    match origin(&url) == origin(base) {
        true => Ok(url),
        false => Err(format!("it is at another server than `{scheme}://{authority}`")),
    }
}

/// A relative path in a folder, `.` and `..` taken out.
fn joined(folder: &str, path: &str) -> String {
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut rest = path.split('/').peekable();
    while let Some(segment) = rest.next() {
        match segment {
            "." | ".." => {
                if segment == ".." {
                    segments.pop();
                }
                if rest.peek().is_none() {
                    segments.push("");
                }
            }
            other => segments.push(other),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_none_is_not_taken_for_another_one() {
        for wrong in ["http://h:99999/", "http://[::1]:65536/mcp"] {
            assert!(parse_url(wrong).is_err(), "{wrong}");
        }
        for right in ["http://h:65535/", "http://h/", "http://[::1]/", "http://[::1]:8080/mcp"] {
            assert!(parse_url(right).is_ok(), "{right}");
        }
    }

    #[test]
    fn a_stream_says_where_to_send_in_many_ways_and_on_its_own_server_only() {
        let base: Uri = "http://h:1/a/sse".parse().expect("a URL");
        for (reference, expected) in [
            ("/m?s=1", "http://h:1/m?s=1"),
            ("/m?u=http://x/y", "http://h:1/m?u=http://x/y"),
            ("?s=1", "http://h:1/a/sse?s=1"),
            ("m?s=../1", "http://h:1/a/m?s=../1"),
            ("../m", "http://h:1/m"),
            ("./b/../m", "http://h:1/a/m"),
            ("..", "http://h:1/"),
            ("//H:1/m", "http://H:1/m"),
            ("http://h:1/m", "http://h:1/m"),
        ] {
            assert_eq!(resolve(&base, reference).map(|url| url.to_string()), Ok(expected.to_owned()), "{reference}");
        }
        for reference in
            ["http://h:2/m", "https://h:1/m", "http://other:1/m", "//other/m", "http://[", "file:///m", "//h:65537/m"]
        {
            assert!(resolve(&base, reference).is_err(), "{reference}");
        }
        let secure: Uri = "https://h/sse".parse().expect("a URL");
        assert!(resolve(&secure, "https://h:443/m").is_ok());
    }
}
