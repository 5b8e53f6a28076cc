//! Makes connections: every address of a host is tried, and what each said is told.

use super::outcome::Trouble;
use hyper::Uri;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// How long an address is waited for before the next one is tried beside it (RFC 8305, section 5).
const HEAD_START: Duration = Duration::from_millis(250);

type Attempt = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// The host of a URL, an IPv6 address without its brackets.
pub(super) fn host(url: &Uri) -> &str {
    url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// Connects to the host and port of a URL.
pub(super) async fn tcp(url: &Uri) -> Result<TcpStream, Trouble> {
    let host = host(url);
    let port = url.port_u16().unwrap_or(if url.scheme_str() == Some("https") { 443 } else { 80 });
    let known = lookup_host((host, port)).await.map_err(|error| {
        Trouble::new("unreachable", format!("the host `{host}` has no address: {error}"))
            .hint("is the host of `url` right?")
    })?;
    let stream = first(known.collect()).await.map_err(|tried| unreached(url.host().unwrap_or(host), port, &tried))?;
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// The first of several addresses that somebody listens at; they are tried in their order, each a head start apart.
async fn first(addresses: Vec<SocketAddr>) -> Result<TcpStream, Vec<(SocketAddr, io::Error)>> {
    let mut left = addresses.into_iter();
    let mut attempts: Vec<(SocketAddr, Attempt)> = Vec::new();
    let mut failed = Vec::new();
    loop {
        match left.next() {
            Some(address) => attempts.push((address, Box::pin(TcpStream::connect(address)))),
            None if attempts.is_empty() => return Err(failed),
            None => {}
        }
        let any = poll_fn(|cx| {
            for at in 0..attempts.len() {
                if let Poll::Ready(ended) = attempts[at].1.as_mut().poll(cx) {
                    return Poll::Ready((attempts.remove(at).0, ended));
                }
            }
            Poll::Pending
        });
        let ended = match left.len() {
            0 => Ok(any.await),
            _ => timeout(HEAD_START, any).await,
        };
        match ended {
            Ok((_, Ok(stream))) => return Ok(stream),
            Ok((address, Err(error))) => failed.push((address, error)),
            Err(_) => {}
        }
    }
}

fn unreached(host: &str, port: u16, tried: &[(SocketAddr, io::Error)]) -> Trouble {
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    let by_name = !matches!(tried, [(address, _)] if address.to_string() == format!("{host}:{port}"));
    let said = |(address, error): &(SocketAddr, io::Error)| match by_name {
        true => format!("`{address}`: {}", reason(error)),
        false => reason(error),
    };
    let all: Vec<String> = tried.iter().map(said).collect();
    let all = if all.is_empty() { "it has no address".to_owned() } else { all.join("; ") };
    let message = format!("cannot connect to `{host}:{port}` ({all})");
    match !tried.is_empty() && tried.iter().all(|(_, error)| refused(error)) {
        true => Trouble::new("refused", message).hint("is the server running, and is the port of `url` right?"),
        false => Trouble::new("unreachable", message)
            .hint("is the host of `url` right? mcptest connects directly: it uses no proxy"),
    }
}

/// Why, without the number that the system gives it.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port that nobody listens at.
    fn nobody() -> u16 {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        listener.local_addr().expect("an address").port()
    }

    #[tokio::test]
    async fn an_address_that_refuses_is_followed_by_the_next() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let listening = listener.local_addr().expect("an address");
        let refusing = SocketAddr::from(([127, 0, 0, 1], nobody()));
        let stream = first(vec![refusing, listening]).await.expect("a connection");
        assert_eq!(stream.peer_addr().expect("a peer"), listening);
    }

    #[tokio::test]
    async fn an_address_that_says_nothing_is_not_waited_for() {
        // The queue of a listener that accepts nobody is full after a few: further ones get no answer at all.
        let full = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let silent = full.local_addr().expect("an address");
        let mut waiting = Vec::new();
        for _ in 0..5000 {
            match timeout(Duration::from_millis(300), TcpStream::connect(silent)).await {
                Ok(Ok(stream)) => waiting.push(stream),
                _ => break,
            }
        }
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let listening = listener.local_addr().expect("an address");
        let stream = first(vec![silent, listening]).await.expect("a connection");
        assert_eq!(stream.peer_addr().expect("a peer"), listening);
    }

    #[tokio::test]
    async fn what_every_address_said_is_told() {
        let port = nobody();
        let trouble = tcp(&format!("http://127.0.0.1:{port}/").parse().expect("a URL")).await.expect_err("nobody");
        assert_eq!(trouble.kind, "refused");
        assert_eq!(trouble.message, format!("cannot connect to `127.0.0.1:{port}` (connection refused)"));
        let trouble = tcp(&format!("http://localhost:{port}/").parse().expect("a URL")).await.expect_err("nobody");
        assert!(trouble.message.contains(&format!("`127.0.0.1:{port}`: connection refused")), "{}", trouble.message);
    }
}
