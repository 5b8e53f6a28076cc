//! A server that misbehaved, so that nothing could be judged.

use std::fmt;

/// One fault of a server.
#[derive(Debug, Clone)]
pub struct Fault {
    /// One of the server's failure codes.
    pub code: Code,
    /// What happened, in one sentence.
    pub message: String,
    /// The next actions.
    pub hints: Vec<String>,
}

/// The failure codes of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
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
    /// The answer over HTTP is no message: a status that says so, or a body that is none.
    HttpError,
}

impl Code {
    /// As reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Code::StartFailed => "start_failed",
            Code::HandshakeFailed => "handshake_failed",
            Code::Timeout => "timeout",
            Code::Crashed => "crashed",
            Code::MalformedResponse => "malformed_response",
            Code::ConnectionLost => "connection_lost",
            Code::HttpError => "http_error",
        }
    }
}

impl Fault {
    /// A fault without hints.
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), hints: Vec::new() }
    }

    /// The same fault with one more thing to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
