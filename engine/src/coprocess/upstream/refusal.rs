//! Why a direct call has no answer: the server said so, answered what nobody can use, or is not there.

use super::super::frame::{INTERNAL_ERROR, Refusal, UPSTREAM_ERROR, UPSTREAM_GONE};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::input;
use crate::mcp::message::Message;
use crate::source::Json;
use serde_json::json;

/// A fault in one text, what to do about it included.
pub(super) fn told(fault: &Fault) -> String {
    std::iter::once(&fault.message).chain(&fault.hints).map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// The server's own error, handed on.
pub(super) fn refused(answer: &Message) -> Refusal {
    let error = answer.body().unwrap_or_default();
    let message = error.get("message").and_then(Json::as_str).map_or_else(|| error.to_string(), str::to_owned);
    let field = |name: &str| error.get(name).cloned().unwrap_or_default();
    let data = json!({"code": field("code"), "message": field("message"), "data": field("data")});
    Refusal::new(UPSTREAM_ERROR, message).with(data)
}

/// The cassette lacks what was asked: neither the server's doing nor a reason to end the session.
pub(super) fn missed(fault: &Fault) -> Refusal {
    let data = json!({"code": fault.code.name(), "message": fault.message, "hints": fault.hints});
    Refusal::new(INTERNAL_ERROR, told(fault)).with(data)
}

/// The server lives, and misbehaved.
pub(super) fn upstream(code: &str, message: String) -> Refusal {
    let data = json!({"code": code, "message": message, "data": null});
    Refusal::new(UPSTREAM_ERROR, message).with(data)
}

/// An answer that cannot be read.
pub(in super::super) fn odd(why: String) -> Refusal {
    upstream(Code::MalformedResponse.name(), why)
}

/// A result of the modern era that is none yet, or none that a client may take.
pub(super) fn unfit(method: &str, answer: &Message) -> Option<Refusal> {
    input::unfit(method, answer).map(odd)
}

/// There is no server to talk to; `stderr` is the end of what it wrote.
pub(super) fn gone(code: Code, message: String, stderr: &str) -> Refusal {
    let data = if stderr.is_empty() { Json::Null } else { json!({ "stderr": stderr }) };
    let data = json!({"code": code.name(), "message": message, "data": data});
    Refusal::new(UPSTREAM_GONE, message).with(data)
}
