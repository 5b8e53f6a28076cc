//! An extension as the user names it, before it is loaded.

use super::Limits;
use super::capability::Grant;
use crate::source::{Source, Span};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a WASM call may take: a matcher works in microseconds, so a second is a guest that has gone astray.
pub const TIMEOUT: Duration = Duration::from_secs(1);

/// An extension that a config, a command line or a suite names.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its key in the config.
    pub id: Option<String>,
    /// The file.
    pub path: PathBuf,
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
            path,
            shown: shown.into(),
            sha256: None,
            allow: Vec::new(),
            timeout: TIMEOUT,
            isolation: Isolation::Run,
            limits: Limits::default(),
            place: None,
        }
    }
}
