//! The coprocess protocol: one request line, one answer line, strictly in turn, after a handshake.
//!
//! ```json
//! {"jsonrpc":"2.0","id":1,"method":"coprocess/handshake","params":{"protocol_version":2,"sdk":"rust","sdk_version":"0.1.0"}}
//! {"jsonrpc":"2.0","id":1,"result":{"protocol_version":2,"binary_version":"0.1.0"}}
//! ```

use crate::Error;
use crate::answer::{self, Answer, RpcError};
use crate::process::{Came, LINE_LIMIT, Line, Process, describe};
use serde::Deserialize;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// The version of the coprocess protocol that this SDK speaks.
pub const COPROCESS_PROTOCOL_VERSION: u64 = 2;

/// JSON-RPC's codes that have a meaning in the handshake.
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const HANDSHAKE: &str = "coprocess/handshake";

/// A binary that serves this process.
pub(crate) struct Coprocess {
    process: Process,
    next: u64,
    over: Option<String>,
    binary_version: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Greeting {
    protocol_version: u64,
    binary_version: String,
}

impl Coprocess {
    /// Starts the binary and shakes hands.
    pub(crate) fn start(command: &mut Command, limit: Duration) -> Result<Coprocess, Error> {
        let process = Process::start(command).map_err(|error| {
            let program = command.get_program().to_string_lossy().into_owned();
            Error::BinaryNotFound(format!("cannot start the mcptest binary `{program}`: {error}"))
        })?;
        let mut coprocess = Coprocess { process, next: 1, over: None, binary_version: String::new() };
        coprocess.handshake(limit)?;
        Ok(coprocess)
    }

    /// The version that the binary told in the handshake.
    pub(crate) fn binary_version(&self) -> &str {
        &self.binary_version
    }

    /// Whether the session has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// The end of the binary's stderr; complete once it has ended.
    pub(crate) fn stderr(&self) -> String {
        self.process.stderr()
    }

    /// The result of one request, within the limit.
    pub(crate) fn request(&mut self, method: &str, params: Option<Value>, limit: Duration) -> Result<Value, Error> {
        match self.exchange(method, params, limit)? {
            Answer::Result(result) => Ok(result),
            Answer::Error(RpcError { code, message, data }) => {
                Err(Error::Rpc { method: method.to_owned(), code, message, data })
            }
        }
    }

    /// Ends the session over an answer that breaks the contract.
    pub(crate) fn drift(&mut self, method: &str, problem: String) -> Error {
        self.end("the answer to an earlier call broke the coprocess contract");
        Error::ContractDrift { method: method.to_owned(), problem, stderr: self.process.stderr() }
    }

    /// Ends the session and the binary.
    pub(crate) fn end(&mut self, why: &str) -> String {
        self.over.get_or_insert_with(|| why.to_owned());
        describe(self.process.stop())
    }

    /// Ends a session that was asked to end; what its suites still have to take down has as long as a call.
    pub(crate) fn end_in_order(&mut self, why: &str, limit: Duration) -> Result<(), Error> {
        if self.over.is_some() {
            self.process.stop();
            return Ok(());
        }
        self.over = Some(why.to_owned());
        match self.process.stop_within(limit) {
            true => Ok(()),
            false => Err(Error::Unended { limit, stderr: self.process.stderr() }),
        }
    }

    fn handshake(&mut self, limit: Duration) -> Result<(), Error> {
        let params = json!({
            "protocol_version": COPROCESS_PROTOCOL_VERSION,
            "sdk": "rust",
            "sdk_version": env!("CARGO_PKG_VERSION"),
        });
        let error = match self.exchange(HANDSHAKE, Some(params), limit)? {
            Answer::Result(result) => {
                let greeting: Greeting = answer::typed(result).map_err(|problem| self.drift(HANDSHAKE, problem))?;
                self.binary_version = greeting.binary_version;
                match greeting.protocol_version {
                    COPROCESS_PROTOCOL_VERSION => return Ok(()),
                    other => Error::ProtocolMismatch(mismatch(other)),
                }
            }
            // The first version had no handshake.
            Answer::Error(error) if error.code == METHOD_NOT_FOUND => Error::ProtocolMismatch(mismatch(1)),
            Answer::Error(error) if error.code == INVALID_PARAMS => Error::ProtocolMismatch(error.message),
            Answer::Error(RpcError { code, message, data }) => {
                Error::Rpc { method: HANDSHAKE.to_owned(), code, message, data }
            }
        };
        self.end("the handshake failed");
        Err(error)
    }

    fn exchange(&mut self, method: &str, params: Option<Value>, limit: Duration) -> Result<Answer, Error> {
        if let Some(why) = &self.over {
            return Err(Error::Closed { method: method.to_owned(), why: why.clone() });
        }
        let id = self.next;
        self.next += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if let Some(params) = params {
            request["params"] = params;
        }
        self.process.send(format!("{request}\n").into_bytes());
        match self.process.receive(limit) {
            Came::Line(Line::Text(line)) => answer::read(&line, id).map_err(|problem| self.drift(method, problem)),
            Came::Line(Line::TooLong) => {
                let problem = format!("a line of more than {} MiB", LINE_LIMIT >> 20);
                Err(self.drift(method, problem))
            }
            Came::End => {
                let how = self.end("the mcptest binary ended in an earlier call");
                Err(Error::Ended { method: method.to_owned(), how, stderr: self.process.stderr() })
            }
            Came::Nothing => {
                self.end("the mcptest binary was stopped: an earlier call took too long");
                Err(Error::Deadline { method: method.to_owned(), limit, stderr: self.process.stderr() })
            }
        }
    }
}

/// Both versions, and which side to upgrade.
fn mismatch(theirs: u64) -> String {
    const OURS: u64 = COPROCESS_PROTOCOL_VERSION;
    let advice = if theirs < OURS {
        "Upgrade the mcptest binary (or pin the SDK to the matching release)."
    } else {
        "Upgrade the SDK (or pin the mcptest binary to the matching release)."
    };
    format!("mcptest binary speaks coprocess v{theirs}; this SDK needs v{OURS}. {advice}")
}
