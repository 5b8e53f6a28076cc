//! What a client needs to know of a server before it can speak to it.

use super::cassette::Spool;
use super::era::Protocol;
use super::transport::http::endpoint::Endpoint;
use crate::child::{Grace, Spawn};
use crate::source::Json;
use std::sync::Arc;
use std::time::Duration;

/// How long `initialize` and `readyPattern` may take.
pub const STARTUP_TIMEOUT: Duration = Duration::from_millis(5000);
/// The longest line a server may send: real tool lists reach 117 kB, images a few megabytes.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

/// A server and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The process to start.
    pub command: Option<Spawn>,
    /// Where it is reached; `None`: on the standard streams of the process.
    pub endpoint: Option<Endpoint>,
    /// For the `readyPattern` wait, and again for `initialize`.
    pub startup_timeout: Duration,
    /// Awaited on stderr before `initialize`.
    pub ready_pattern: Option<regex::Regex>,
    /// How long it may take to end.
    pub shutdown: Grace,
    /// The era and the revision asked for.
    pub protocol: Protocol,
    /// What the client declares.
    pub capabilities: Arc<Json>,
    /// Whether start-up ends with an awaited `ping`.
    pub barrier: bool,
    /// The longest line it may send, in bytes.
    pub max_line: usize,
    /// Records what crosses, or plays it in the place of the server.
    pub spool: Option<Spool>,
}

impl Target {
    /// A server that is started, with every setting at its default.
    pub fn command(command: Spawn) -> Target {
        Target { command: Some(command), ..Target::new() }
    }

    /// A server that is running behind a URL, with every setting at its default.
    pub fn url(endpoint: Endpoint) -> Target {
        Target { endpoint: Some(endpoint), ..Target::new() }
    }

    fn new() -> Target {
        Target {
            command: None,
            endpoint: None,
            startup_timeout: STARTUP_TIMEOUT,
            ready_pattern: None,
            shutdown: Grace::default(),
            protocol: Protocol::default(),
            capabilities: Arc::new(Json::Object(serde_json::Map::new())),
            barrier: true,
            max_line: MAX_LINE,
            spool: None,
        }
    }
}
