//! A server under test, as a config or a suite defines it.

mod identity;
pub(crate) mod parse;
mod remote;
mod target;
mod tmp;
pub mod variables;

pub use tmp::Tmp;

use super::Respond;
use crate::child::Grace;
use crate::mcp::cassette::Deck;
use crate::mcp::era::Protocol;
use crate::mcp::target::{MAX_LINE, STARTUP_TIMEOUT};
use crate::mcp::transport::http::endpoint::{Auth, Flavour};
use crate::mcp::transport::http::tls::Tls;
use crate::source::{Json, Source, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a step may take.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// How a server is started and spoken to.
///
/// Environment variables are already filled in; `${tmp}` stays, and `$${` stays for `${`, until the process is started:
/// see [`variables::fill_tmp`].
#[derive(Debug, Clone)]
pub struct Server {
    /// Stands in report headers.
    pub name: Arc<str>,
    /// What suites call it, when that is another name: its key in `servers`.
    pub key: Option<Arc<str>>,
    /// Where it is written, for diagnostics; `None` for a command line.
    pub origin: Option<(Arc<Source>, Span)>,
    /// The program; empty for a server that is running already.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it is reached, when that is not its standard streams.
    pub remote: Option<Remote>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Added to the inherited environment.
    pub env: Vec<(String, String)>,
    /// For the `readyPattern` wait, and again for `initialize`.
    pub startup_timeout: Duration,
    /// Awaited on stderr before `initialize`.
    pub ready_pattern: Option<regex::Regex>,
    /// Per step.
    pub timeout: Duration,
    /// How long it may take to end.
    pub shutdown: Grace,
    /// How long a process is kept.
    pub restart: Restart,
    /// The era and the revision asked for.
    pub protocol: Protocol,
    /// Capabilities the client declares.
    pub client: Json,
    /// Scripted answers to the server's requests.
    pub respond: Respond,
    /// Copied into `${tmp}` before the server starts.
    pub fixture: Option<PathBuf>,
    /// Whether start-up ends with an awaited `ping`.
    pub barrier: bool,
    /// The longest line it may send, in bytes.
    pub max_line: usize,
    /// Plays a recorded conversation instead of starting anything.
    pub cassette: Option<Deck>,
    /// Whether a session that the server has lost is opened anew.
    pub reinitialize: bool,
    /// Values that came from the environment and are redacted in reports.
    pub secrets: Vec<String>,
}

/// A server behind a URL; `${tmp}` and `${port}` stay in its texts until it is reached.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Where it listens.
    pub url: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// How the client shows who it is.
    pub auth: Auth,
    /// Whom the client trusts.
    pub tls: Tls,
    /// Which of the two transports over HTTP it speaks.
    pub flavour: Flavour,
    /// How long it is tried again to connect before the handshake.
    pub wait_for_ready: Option<Duration>,
}

/// How long a server's process is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// One process for the run, per worker.
    Run,
    /// One per suite file.
    File,
    /// One per test.
    Test,
}

impl Server {
    /// Whether each of its processes listens on the same port, so that there can be only one at a time.
    pub fn has_fixed_port(&self) -> bool {
        let fixed = |remote: &Remote| !remote.url.contains("${port}");
        !self.command.is_empty() && self.remote.as_ref().is_some_and(fixed)
    }

    /// A server from a command line, with every setting at its default; `${tmp}` may stand in it.
    pub fn from_command(argv: &[String], cwd: PathBuf) -> Server {
        let command = argv.first().cloned().unwrap_or_default();
        let name: Arc<str> = name_of(&command).into();
        Server::new(name, command, argv.iter().skip(1).cloned().collect(), cwd)
    }

    /// A server behind a URL, with every setting at its default.
    pub fn from_url(url: &str, cwd: PathBuf) -> Server {
        let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or(url);
        let mut server = Server::new(host, String::new(), Vec::new(), cwd);
        server.remote = Some(Remote::new(url.to_owned()));
        server
    }

    /// What suites and cassettes call it.
    pub fn key(&self) -> &Arc<str> {
        self.key.as_ref().unwrap_or(&self.name)
    }

    /// The same server with another default for `startupTimeout`.
    #[must_use]
    pub fn started_within(mut self, startup: Option<Duration>) -> Server {
        self.startup_timeout = startup.unwrap_or(self.startup_timeout);
        self
    }

    /// A server with every setting at its default.
    pub fn new(name: impl Into<Arc<str>>, command: String, args: Vec<String>, cwd: PathBuf) -> Server {
        Server {
            name: name.into(),
            key: None,
            origin: None,
            command,
            args,
            remote: None,
            cwd,
            env: Vec::new(),
            startup_timeout: STARTUP_TIMEOUT,
            ready_pattern: None,
            timeout: STEP_TIMEOUT,
            shutdown: Grace::default(),
            restart: Restart::Run,
            protocol: Protocol::default(),
            client: Json::Object(serde_json::Map::new()),
            respond: Respond::default(),
            fixture: None,
            barrier: true,
            max_line: MAX_LINE,
            cassette: None,
            reinitialize: false,
            secrets: Vec::new(),
        }
    }
}

impl Remote {
    /// A URL, with every setting at its default.
    pub fn new(url: String) -> Remote {
        Remote {
            url,
            headers: Vec::new(),
            auth: Auth::None,
            tls: Tls::default(),
            flavour: Flavour::Streamable,
            wait_for_ready: None,
        }
    }
}

/// What a server without a name is called: its program, without the folder.
fn name_of(command: &str) -> &str {
    Path::new(command).file_name().and_then(|name| name.to_str()).unwrap_or(command)
}
