//! An extension as the user names it, before it is loaded.

use super::Limits;
use super::capability::Grant;
use crate::source::{Source, Span};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a WASM call may take: a matcher works in microseconds, so a second is a guest that has gone astray.
pub const TIMEOUT: Duration = Duration::from_secs(1);
/// How long a call of a plugin may take: an interpreter may have to start first.
pub const PLUGIN_TIMEOUT: Duration = Duration::from_secs(5);

/// An extension that a config, a command line or a suite names.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its key in the config.
    pub id: Option<String>,
    /// Whether its id is its own choice, or a suite's: it comes with no grants then.
    pub named_itself: bool,
    /// The version that its manifest gives; a component says its own.
    pub version: String,
    /// The file: a component, a program, or a plugin's manifest.
    pub path: PathBuf,
    /// What it runs on.
    pub backend: Backend,
    /// The file as messages show it.
    pub shown: String,
    /// The digest that the file must have, in lower-case hex.
    pub sha256: Option<String>,
    /// What it is granted.
    pub allow: Vec<Grant>,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long an instance lives.
    pub isolation: Isolation,
    /// What it may use.
    pub limits: Limits,
    /// Where it is named.
    pub place: Option<(Arc<Source>, Span)>,
}

/// What an extension runs on.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Backend {
    /// WebAssembly: a component in the sandbox.
    #[default]
    Component,
    /// A program that answers one method, and is asked nothing before that.
    Bare {
        /// How it is started.
        launch: Launch,
        /// The matcher it is.
        matcher: String,
        /// The method it answers.
        method: String,
    },
    /// A program that is asked first who it is.
    Bound {
        /// How it is started.
        launch: Launch,
        /// What the user wants of it.
        tools: Vec<String>,
    },
    /// A program that is an MCP server, with hooks for tools.
    Server {
        /// How it is started.
        launch: Launch,
        /// How long its handshake may take.
        startup: Duration,
        /// What is wanted of it.
        tools: Vec<String>,
    },
    /// An MCP server behind a URL, with hooks for tools.
    Service(Service),
    /// A `plugin.toml`, which says what it runs on; with the time for a call where the config gives one.
    Spec(Option<Duration>),
}

impl Backend {
    /// The tools that are wanted of a plugin which says itself what it has.
    pub fn tools(&self) -> &[String] {
        match self {
            Backend::Bound { tools, .. } | Backend::Server { tools, .. } => tools,
            Backend::Service(service) => &service.tools,
            Backend::Component | Backend::Bare { .. } | Backend::Spec(_) => &[],
        }
    }

    /// How a program is started.
    pub(super) fn launch(&self) -> Option<&Launch> {
        match self {
            Backend::Bare { launch, .. } | Backend::Bound { launch, .. } | Backend::Server { launch, .. } => {
                Some(launch)
            }
            Backend::Component | Backend::Service(_) | Backend::Spec(_) => None,
        }
    }

    /// What it is called in a `plugin.toml`, and how it is reached.
    pub fn describe(&self) -> (&'static str, String) {
        match self {
            Backend::Component => ("in_process", String::new()),
            Backend::Bare { launch, .. } => ("subprocess without a handshake", launch.argv.join(" ")),
            Backend::Bound { launch, .. } => ("subprocess", launch.argv.join(" ")),
            Backend::Server { launch, .. } => ("mcp_stdio", launch.argv.join(" ")),
            Backend::Service(service) => ("mcp_http", service.url.clone()),
            Backend::Spec(_) => ("plugin.toml", String::new()),
        }
    }
}

/// An MCP server behind a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Where it is.
    pub url: String,
    /// The header that carries a secret, and the variable that holds it.
    pub header: Option<(String, String)>,
    /// How long a request may take.
    pub timeout: Duration,
    /// Certificates to trust.
    pub ca_bundle: Option<PathBuf>,
    /// Whether its certificate is looked at.
    pub verify: bool,
    /// What is wanted of it.
    pub tools: Vec<String>,
}

/// How a program is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// Variables that its definition sets.
    pub env: Vec<(String, String)>,
}

/// How long an instance lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Calls of one worker share an instance, until it traps or runs out of time.
    #[default]
    Run,
    /// Every call gets a fresh one.
    Call,
}

impl Declared {
    /// A file that no config entry names: no grants, the usual limits.
    pub fn bare(path: PathBuf, shown: impl Into<String>) -> Declared {
        Declared {
            id: None,
            named_itself: false,
            version: String::new(),
            path,
            backend: Backend::Component,
            shown: shown.into(),
            sha256: None,
            allow: Vec::new(),
            timeout: TIMEOUT,
            isolation: Isolation::Run,
            limits: Limits::default(),
            place: None,
        }
    }

    /// A program that is one matcher: the file at `path`, called as its stem.
    pub fn program(path: PathBuf, shown: impl Into<String>, folder: PathBuf) -> Declared {
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        // Without what `./` leaves in the middle.
        let path: PathBuf = path.components().collect();
        let launch = Launch { argv: vec![path.to_string_lossy().into_owned()], folder, env: Vec::new() };
        let backend = Backend::Bare { launch, matcher: stem.clone(), method: stem.clone() };
        Declared { id: Some(stem), backend, timeout: PLUGIN_TIMEOUT, ..Declared::bare(path, shown) }
    }

    /// Where the config names extensions of this kind; a component has a version from outside only with a `plugin.toml`.
    pub(super) fn section(&self) -> &'static str {
        match self.backend {
            Backend::Component if self.version.is_empty() => "extensions",
            _ => "plugins",
        }
    }

    /// A plugin that a `plugin.toml` describes.
    pub fn spec(path: PathBuf, shown: impl Into<String>) -> Declared {
        Declared { backend: Backend::Spec(None), ..Declared::bare(path, shown) }
    }
}
