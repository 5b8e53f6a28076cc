//! What a request is answered with, and the JSON-RPC envelope around it.

use serde_json::{Value, json};

/// JSON-RPC: the line is no JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// JSON-RPC: the JSON is no request.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC: there is no such method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: the method cannot work with these parameters.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// MCP before 2026-07-28: there is no such resource.
pub(super) const RESOURCE_NOT_FOUND: i64 = -32002;

/// A result, or the reason why there is none.
pub(super) type Reply = Result<Value, Refusal>;

/// Why a request gets no result.
#[derive(Debug)]
pub(super) enum Refusal {
    /// An error goes out.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data, if any.
        data: Option<Value>,
    },
    /// A result of another kind goes out: a question to the client.
    Result(Value),
    /// Nothing goes out: the client took the request back, or it stays open.
    Cancelled,
}

impl Refusal {
    /// An error with a code and a message.
    pub(super) fn error(code: i64, message: impl Into<String>) -> Refusal {
        Refusal::Error { code, message: message.into(), data: None }
    }

    /// The parameters are wrong.
    pub(super) fn params(message: impl Into<String>) -> Refusal {
        Refusal::error(INVALID_PARAMS, message)
    }

    /// The same error with data.
    pub(super) fn with(self, data: Value) -> Refusal {
        match self {
            Refusal::Error { code, message, .. } => Refusal::Error { code, message, data: Some(data) },
            other => other,
        }
    }
}

/// The response to the request `id`; none when it was cancelled.
pub(super) fn envelope(id: Value, reply: Reply) -> Option<Value> {
    match reply {
        Ok(result) | Err(Refusal::Result(result)) => Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        Err(Refusal::Error { code, message, data }) => {
            let mut error = json!({ "code": code, "message": message });
            if let Some(data) = data {
                error["data"] = data;
            }
            Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        }
        Err(Refusal::Cancelled) => None,
    }
}

/// A text that a request must have among its parameters.
pub(super) fn text_of<'a>(params: &'a Value, key: &str) -> Result<&'a str, Refusal> {
    params.get(key).and_then(Value::as_str).ok_or_else(|| Refusal::params(format!("`{key}` must be a string")))
}
