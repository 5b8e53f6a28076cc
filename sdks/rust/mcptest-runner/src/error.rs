//! What can go wrong between a test and the `mcptest` binary. A failed check is none of these: it is a verdict.

use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// Why a call has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no binary to start.
    BinaryNotFound(String),
    /// The binary speaks another version of the coprocess protocol.
    ProtocolMismatch(String),
    /// The binary's answer is not what the protocol says.
    ContractDrift {
        /// The method that was called.
        method: String,
        /// What is wrong with the answer.
        problem: String,
        /// The end of the binary's stderr.
        stderr: String,
    },
    /// The binary is gone.
    Ended {
        /// The method that was called.
        method: String,
        /// How it ended: `exit code 1`, `signal 9`.
        how: String,
        /// The end of its stderr.
        stderr: String,
    },
    /// The binary did not answer in time, and was stopped.
    Deadline {
        /// The method that was called.
        method: String,
        /// How long it had.
        limit: Duration,
        /// The end of its stderr.
        stderr: String,
    },
    /// The binary did not end in time when the session was closed, and was stopped: `after` may lack a step.
    Unended {
        /// How long it had.
        limit: Duration,
        /// The end of its stderr.
        stderr: String,
    },
    /// The session was closed, or broke in an earlier call.
    Closed {
        /// The method that was called.
        method: String,
        /// Why it is closed.
        why: String,
    },
    /// The binary answered with an error, for example -32000 for an error of the server under test.
    Rpc {
        /// The method that was called.
        method: String,
        /// The JSON-RPC code.
        code: i64,
        /// The binary's message.
        message: String,
        /// What came with it, or null.
        data: Box<Value>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::BinaryNotFound(message) | Error::ProtocolMismatch(message) => f.write_str(message),
            Error::ContractDrift { method, problem, stderr } => {
                write!(f, "the answer to `{method}` breaks the coprocess contract: {problem}")?;
                f.write_str("\nhint: install releases of the mcptest binary and of this SDK that belong together")?;
                tail(f, stderr)
            }
            Error::Ended { method, how, stderr } => {
                write!(f, "the mcptest binary ended with {how} before it answered `{method}`")?;
                tail(f, stderr)
            }
            Error::Deadline { method, limit, stderr } => {
                let seconds = limit.as_secs_f64();
                write!(f, "the mcptest binary did not answer `{method}` within {seconds} s, and was stopped")?;
                tail(f, stderr)
            }
            Error::Unended { limit, stderr } => {
                let seconds = limit.as_secs_f64();
                write!(
                    f,
                    "the mcptest binary did not end within {seconds} s of the end of its session, and was stopped"
                )?;
                tail(f, stderr)
            }
            Error::Closed { method, why } => write!(f, "cannot call `{method}`: {why}"),
            Error::Rpc { method, code, message, .. } => write!(f, "`{method}` failed with {code}: {message}"),
        }
    }
}

/// The end of the binary's stderr, if it wrote any.
fn tail(f: &mut fmt::Formatter<'_>, stderr: &str) -> fmt::Result {
    if stderr.trim().is_empty() {
        return Ok(());
    }
    f.write_str("\nstderr of mcptest:")?;
    stderr.trim_end().lines().try_for_each(|line| write!(f, "\n  {line}"))
}

impl std::error::Error for Error {}
