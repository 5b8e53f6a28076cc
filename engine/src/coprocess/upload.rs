//! Where a session's events go: into a file, or to a URL.
//!
//! An upload is one POST of `application/x-ndjson`, the lines of the `ndjson` report, with the token of an environment
//! variable as its bearer. What may pass (no connection, 408, 429, 5xx) is tried again, each time after a longer pause.

use super::frame::Refusal;
use crate::event::redact::Redactor;
use crate::mcp::transport::http::endpoint::parse_url;
use crate::mcp::transport::http::outcome::status_text;
use crate::mcp::transport::http::single;
use crate::mcp::transport::http::tls::Tls;
use bytes::Bytes;
use hyper::Uri;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use serde::Deserialize;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Where events are written when no upload is set.
const FILE: &str = ".mcptest/events.ndjson";
/// How long to wait before each further attempt.
const PAUSES: [Duration; 3] = [Duration::from_millis(200), Duration::from_millis(800), Duration::from_millis(3200)];
/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long all of them may take: SDKs wait a minute for an answer.
const BUDGET: Duration = Duration::from_secs(45);
const CERTIFICATES: &str = "`SSL_CERT_FILE` names the certificates to trust in place of the system's";
const AGENT: HeaderValue = HeaderValue::from_static(concat!("mcptest/", env!("CARGO_PKG_VERSION")));

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
    /// Whether it can be used at all; the token, which nothing may show.
    pub(super) fn check(&self) -> Result<Option<String>, Refusal> {
        self.place()?;
        self.token()
    }

    /// Posts the lines, if there are any; where they are now.
    pub(super) async fn post(&self, lines: &[String]) -> Result<String, Refusal> {
        if lines.is_empty() {
            return Ok(self.url.clone());
        }
        let (place, token) = (self.place()?, self.token()?);
        let secret = Redactor::new(&token);
        let body: String = lines.iter().map(|line| format!("{}\n", secret.text(line))).collect();
        let (headers, body) = (headers(token.as_deref())?, Bytes::from(body));
        let begun = Instant::now();
        let mut pauses = PAUSES.iter();
        let (mut patience, mut attempts) = (PATIENCE, 0);
        loop {
            attempts += 1;
            let attempt = tokio::time::timeout(patience, once(&place, headers.clone(), body.clone())).await;
            let late = || Attempt::Passing(format!("no answer within {}s", patience.as_secs()));
            let why = match attempt.unwrap_or_else(|_| late()) {
                Attempt::Done => return Ok(self.url.clone()),
                Attempt::Final(why) => return Err(self.failed(&why, 1)),
                Attempt::Passing(why) => why,
            };
            let next = pauses.next().and_then(|pause| Some((pause, patience_after(begun.elapsed() + *pause)?)));
            let Some((pause, left)) = next else { return Err(self.failed(&why, attempts)) };
            tokio::time::sleep(*pause).await;
            patience = left;
        }
    }

    fn failed(&self, why: &str, attempts: usize) -> Refusal {
        let tries = if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() };
        let kept = "the events are kept for the next `mcp.reporter.flush`";
        Refusal::internal(format!("the events could not be posted to `{}`: {why}{tries}; {kept}", self.url))
    }

    fn place(&self) -> Result<Uri, Refusal> {
        // A URL with a password is not repeated in a message.
        let authority = self.url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
        if authority.is_some_and(|authority| authority.contains('@')) {
            return Err(Refusal::params(
                "`url` holds a user name: name the variable of a token with `token_env` instead",
            ));
        }
        parse_url(&self.url).map_err(|why| Refusal::params(format!("`url`: `{}` cannot be posted to: {why}", self.url)))
    }

    fn token(&self) -> Result<Option<String>, Refusal> {
        let Some(name) = &self.token_env else { return Ok(None) };
        let wrong = |why: &str| Refusal::params(format!("`token_env`: the environment variable `{name}` {why}"));
        match std::env::var(name) {
            Ok(token) if token.is_empty() => Err(wrong("is empty")),
            Ok(token) if bearer(&token).is_err() => Err(wrong("holds what cannot stand in a header")),
            Ok(token) => Ok(Some(token)),
            Err(_) => Err(wrong("is not set")),
        }
    }
}

/// How long an attempt may take that begins so long after the first; none when there is no time for one.
fn patience_after(spent: Duration) -> Option<Duration> {
    let left = BUDGET.checked_sub(spent)?.min(PATIENCE);
    (left >= Duration::from_secs(1)).then_some(left)
}

fn headers(token: Option<&str>) -> Result<HeaderMap, Refusal> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, AGENT);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    if let Some(token) = token {
        headers.insert(AUTHORIZATION, bearer(token)?);
    }
    Ok(headers)
}

fn bearer(token: &str) -> Result<HeaderValue, Refusal> {
    let value = HeaderValue::from_str(&format!("Bearer {token}"));
    let mut value = value.map_err(|_| Refusal::params("the token cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

async fn once(place: &Uri, headers: HeaderMap, body: Bytes) -> Attempt {
    let head = match single::post(place, &Tls::default(), headers, body).await {
        Ok(head) => head,
        // Who cannot be trusted now will not be in a second.
        Err(trouble) if trouble.kind == "tls" => return Attempt::Final(format!("{}; {CERTIFICATES}", trouble.message)),
        Err(trouble) => return Attempt::Passing(trouble.message),
    };
    let to = head.header("location").filter(|_| head.status.is_redirection());
    let to = to.map(|to| format!(", which leads to `{to}`")).unwrap_or_default();
    let said = format!("the answer was `{}`{to}", status_text(head.status));
    match head.status.as_u16() {
        200..=299 => Attempt::Done,
        408 | 429 | 500..=599 => Attempt::Passing(said),
        _ => Attempt::Final(said),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_attempts_together_end_before_an_sdk_gives_up() {
        let mut spent = PATIENCE;
        let mut attempts = 1;
        for pause in PAUSES {
            let Some(patience) = patience_after(spent + pause) else { break };
            spent += pause + patience;
            attempts += 1;
        }
        assert!(attempts >= 2 && spent <= Duration::from_secs(50), "{attempts} attempts in {spent:?}");
        assert_eq!(patience_after(Duration::ZERO), Some(PATIENCE));
    }
}
