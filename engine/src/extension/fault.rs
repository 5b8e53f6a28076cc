//! How an extension can misbehave: one taxonomy for every backend.

use crate::matcher::Broken;
use crate::source::visible::is_harmless;
use std::sync::Arc;
use std::time::Duration;

/// The failure codes of extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// It could not be loaded or started.
    LaunchFailed,
    /// What it says about itself makes no sense.
    HandshakeFailed,
    /// No answer in time.
    Timeout,
    /// It ended in the middle of a call: a trap, an exit, a limit.
    Crashed,
    /// An answer that cannot be read, or is too long.
    MalformedResponse,
    /// It doesn't offer what was asked of it.
    ToolNotExposed,
    /// It speaks another version of the contract.
    ProtocolVersionMismatch,
    /// It was granted something, and declares that it needs nothing.
    CapabilityNotDeclared,
    /// It needs what the user did not grant.
    CapabilityNotAllowed,
    /// It runs on something that this host does not have.
    RuntimeNotSupported,
    /// It says that it could not answer.
    ExtensionError,
}

impl Code {
    /// Every code.
    pub const ALL: [Code; 11] = [
        Code::LaunchFailed,
        Code::HandshakeFailed,
        Code::Timeout,
        Code::Crashed,
        Code::MalformedResponse,
        Code::ToolNotExposed,
        Code::ProtocolVersionMismatch,
        Code::CapabilityNotDeclared,
        Code::CapabilityNotAllowed,
        Code::RuntimeNotSupported,
        Code::ExtensionError,
    ];

    /// Its name in events and reports.
    pub fn name(self) -> &'static str {
        match self {
            Code::LaunchFailed => "launch_failed",
            Code::HandshakeFailed => "handshake_failed",
            Code::Timeout => "timeout",
            Code::Crashed => "crashed",
            Code::MalformedResponse => "malformed_response",
            Code::ToolNotExposed => "tool_not_exposed",
            Code::ProtocolVersionMismatch => "protocol_version_mismatch",
            Code::CapabilityNotDeclared => "capability_not_declared",
            Code::CapabilityNotAllowed => "capability_not_allowed",
            Code::RuntimeNotSupported => "runtime_not_supported",
            Code::ExtensionError => "extension_error",
        }
    }
}

/// How many of the last lines of stderr are shown.
const MOST_LINES: usize = 10;

/// Text of an extension on one line, cut to what fits a message, with nothing in it that moves a cursor or reorders
/// a line.
pub(crate) fn plain(text: &str) -> String {
    const MOST: usize = 1000;
    let mut plain = String::new();
    for character in text.chars() {
        match character {
            character if !is_harmless(character) => plain.extend(character.escape_default()),
            character => plain.push(character),
        }
        if plain.len() > MOST {
            plain.push('…');
            break;
        }
    }
    plain
}

/// One fault of an extension.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Which kind.
    pub code: Code,
    /// The extension's name.
    pub source: Arc<str>,
    /// What happened, in one sentence that names the extension.
    pub message: String,
    /// How long the call took.
    pub took: Duration,
    /// The end of what it wrote to stderr during the call.
    pub stderr: String,
    /// The next actions.
    pub hints: Vec<String>,
}

impl Fault {
    /// A fault with nothing but its sentence.
    pub fn new(code: Code, source: &Arc<str>, message: impl Into<String>) -> Fault {
        Fault {
            code,
            source: source.clone(),
            message: message.into(),
            took: Duration::ZERO,
            stderr: String::new(),
            hints: Vec::new(),
        }
    }

    /// Adds a next action.
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hints.push(hint.into());
        self
    }

    /// Everything that a reader should see after the message: what it wrote to stderr, then the next actions.
    pub fn all_hints(&self) -> Vec<String> {
        let said = self.stderr.lines().filter(|line| !line.trim().is_empty() && !line.contains("RUST_BACKTRACE"));
        let said: Vec<&str> = said.collect();
        let last = said.len().saturating_sub(MOST_LINES);
        let mut hints: Vec<String> = said[last..]
            .iter()
            .map(|line| format!("`{}` wrote to stderr: {}", self.source, plain(line.trim_end())))
            .collect();
        hints.extend(self.hints.iter().cloned());
        hints
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Broken {
        Broken {
            code: fault.code.name(),
            source: fault.source.to_string(),
            hints: fault.all_hints(),
            message: fault.message,
        }
    }
}
