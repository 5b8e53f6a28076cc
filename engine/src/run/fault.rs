//! A server's fault as reports show it.

pub(super) use crate::mcp::fault::{Code, Fault};

use crate::event::{At, Failure, FailureKind};

/// The fault as a failure of what stands at `at`.
pub(super) fn failure(fault: Fault, server: &str, at: At) -> Failure {
    Failure {
        code: Some(fault.code.name()),
        source: Some(server.to_owned()),
        hints: fault.hints,
        ..Failure::new(FailureKind::Fault, fault.message, at)
    }
}
