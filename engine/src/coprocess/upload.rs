//! Where a session's events go: into a file, or to a URL.
//!
//! An upload is one POST of `application/x-ndjson`, the lines of the `ndjson` report, with the token of an environment
//! variable as its bearer. What may pass (no connection, 408, 429, 5xx) is tried again, each time after a longer pause.

use super::frame::Refusal;
use serde::Deserialize;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Where events are written when no upload is set.
const FILE: &str = ".mcptest/events.ndjson";
/// How long to wait before each further attempt.
const PAUSES: [Duration; 3] = [Duration::from_millis(200), Duration::from_millis(800), Duration::from_millis(3200)];
/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of an answer is read: the status stands at its beginning.
const MOST_ANSWER: usize = 64 * 1024;

/// Where events are posted: the params of `mcp.reporter.setUpload`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Upload {
    /// The address.
    url: String,
    /// The environment variable that holds the token.
    token_env: Option<String>,
}

/// What became of one attempt.
enum Attempt {
    Done,
    /// It may go better next time.
    Passing(String),
    /// It never will.
    Final(String),
}

impl Upload {
    /// Whether it can be used at all.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        self.place()?;
        self.token().map(drop)
    }

    /// Posts the lines; where they are now.
    pub(super) async fn post(&self, lines: &[String]) -> Result<String, Refusal> {
        let place = self.place()?;
        let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let request = self.request(&place, body.len())? + &body;
        let mut pauses = PAUSES.iter();
        loop {
            let attempt = tokio::time::timeout(PATIENCE, once(&place, &request)).await;
            let why = match attempt.unwrap_or_else(|_| Attempt::Passing(format!("no answer within {PATIENCE:?}"))) {
                Attempt::Done => return Ok(self.url.clone()),
                Attempt::Final(why) => return Err(self.failed(&why, 1)),
                Attempt::Passing(why) => why,
            };
            match pauses.next() {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return Err(self.failed(&why, PAUSES.len() + 1)),
            }
        }
    }

    fn failed(&self, why: &str, attempts: usize) -> Refusal {
        let tries = if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() };
        let kept = "the events are kept for the next `mcp.reporter.flush`";
        Refusal::internal(format!("the events could not be posted to `{}`: {why}{tries}; {kept}", self.url))
    }

    fn place(&self) -> Result<Place, Refusal> {
        let wrong = |why: &str| Refusal::params(format!("`url`: `{}` {why}", self.url));
        let rest = self.url.strip_prefix("http://").ok_or_else(|| wrong("is no `http://` URL"))?;
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        let odd = |c: char| c.is_whitespace() || c.is_control();
        if authority.is_empty() || authority.contains('@') || self.url.contains(odd) {
            return Err(wrong("names no host"));
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let address = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Place { host: authority.to_owned(), address, path })
    }

    fn token(&self) -> Result<Option<String>, Refusal> {
        let Some(name) = &self.token_env else { return Ok(None) };
        match std::env::var(name) {
            Ok(token) if !token.is_empty() && !token.contains(char::is_control) => Ok(Some(token)),
            _ => Err(Refusal::params(format!("`token_env`: the environment variable `{name}` is not set"))),
        }
    }

    fn request(&self, place: &Place, length: usize) -> Result<String, Refusal> {
        let Place { host, path, .. } = place;
        let token = self.token()?.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION");
        Ok(format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: mcptest/{version}\r\nContent-Type: application/x-ndjson\r\n\
             Content-Length: {length}\r\n{token}Connection: close\r\n\r\n"
        ))
    }
}

/// A URL in its parts.
struct Place {
    host: String,
    address: String,
    path: String,
}

async fn once(place: &Place, request: &str) -> Attempt {
    let passing = |error: std::io::Error| Attempt::Passing(error.to_string());
    let mut stream = match TcpStream::connect(&place.address).await {
        Ok(stream) => stream,
        Err(error) => return passing(error),
    };
    // A server may answer, and hang up, before it has read everything: what it says counts.
    let sent = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    let read = stream.take(MOST_ANSWER as u64).read_to_end(&mut answer).await;
    let text = String::from_utf8_lossy(&answer);
    let line = text.lines().next().unwrap_or_default();
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse::<u16>().ok());
    match status {
        Some(200..=299) => Attempt::Done,
        Some(408 | 429 | 500..=599) => Attempt::Passing(format!("the answer was `{line}`")),
        Some(_) => Attempt::Final(format!("the answer was `{line}`")),
        None => match sent.and(read.map(drop)) {
            Err(error) => passing(error),
            Ok(()) => Attempt::Passing("the answer is no HTTP".into()),
        },
    }
}

/// Adds lines to the file; where they are now.
pub(super) fn write(lines: &[String]) -> Result<String, Refusal> {
    let path = Path::new(FILE);
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes())
    });
    written.map_err(|error| Refusal::internal(format!("`{FILE}` cannot be written: {error}")))?;
    Ok(FILE.to_owned())
}
