//! A server that misbehaved, so that nothing could be judged.

use crate::event::{At, Failure, FailureKind};

/// One fault of a server.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// One of the server's failure codes.
    pub(super) code: Code,
    /// What happened, in one sentence.
    pub(super) message: String,
    /// The next actions.
    pub(super) hints: Vec<String>,
}

/// The failure codes of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// The process could not be started, or ended before it was ready.
    StartFailed,
    /// It started, and `initialize` did not end well.
    HandshakeFailed,
    /// No answer in time.
    Timeout,
    /// The process ended in the middle of a step.
    Crashed,
    /// An answer that cannot be read.
    MalformedResponse,
    /// There is no server to talk to any more.
    ConnectionLost,
}

impl Code {
    pub(super) fn name(self) -> &'static str {
        match self {
            Code::StartFailed => "start_failed",
            Code::HandshakeFailed => "handshake_failed",
            Code::Timeout => "timeout",
            Code::Crashed => "crashed",
            Code::MalformedResponse => "malformed_response",
            Code::ConnectionLost => "connection_lost",
        }
    }
}

impl Fault {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), hints: Vec::new() }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hints.push(hint.into());
        self
    }

    /// The fault as reports show it.
    pub(super) fn failure(self, server: &str, at: At) -> Failure {
        Failure {
            code: Some(self.code.name()),
            source: Some(server.to_owned()),
            hints: self.hints,
            ..Failure::new(FailureKind::Fault, self.message, at)
        }
    }
}
