//! The words of the handshake: what `initialize` says, and what its answer must hold.

use super::era::{Era, MODERN};
use crate::source::Json;
use serde_json::json;

/// What the client calls itself.
pub(super) const CLIENT_NAME: &str = "mcptest";

/// The revisions of the legacy era, oldest first; the last one is asked for unless the config says otherwise.
pub const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What a server said about itself.
#[derive(Debug, Clone, Default)]
pub struct Introduction {
    /// The era of the conversation; none before one was agreed on.
    pub era: Option<Era>,
    /// The revision the session speaks.
    pub protocol_version: Option<String>,
    /// `serverInfo`.
    pub server_info: Option<Json>,
    /// The whole `result` of `initialize`, or of `server/discover`.
    pub result: Json,
    /// Things worth knowing that are no reason to stop.
    pub notes: Vec<String>,
}

/// The `initialize` request.
pub fn initialize(id: &Json, protocol: Option<&str>, capabilities: &Json) -> Json {
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "initialize",
        "params": {
            "protocolVersion": protocol.unwrap_or(REVISIONS[REVISIONS.len() - 1]),
            "capabilities": capabilities,
            "clientInfo": {"name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION")},
        },
    })
}

/// The notification that ends the handshake.
pub fn initialized() -> Json {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// Tells the server that nobody waits for an answer any more.
pub fn cancelled(id: &Json, reason: &str) -> Json {
    let params = json!({"requestId": id, "reason": reason});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// The answer to a request of the server that nobody scripted: `ping` is answered, the rest is refused.
pub fn refusal(id: &Json, method: &str) -> Json {
    match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => {
            let message = format!("method not found: {method}");
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": message}})
        }
    }
}

/// Reads the answer to `initialize`; the error says what is wrong with it.
pub fn introduction(response: &Json, asked: Option<&str>) -> Result<Introduction, String> {
    let absent = |error: &Json| error.is_null() && response.get("result").is_some();
    if let Some(error) = response.get("error").filter(|error| !absent(error)) {
        return Err(format!("the server refused `initialize`: {}", error_text(error)));
    }
    let Some(result) = response.get("result").filter(|result| result.is_object()) else {
        return Err("the answer to `initialize` has no `result`".into());
    };
    let mut notes = Vec::new();
    let version = match result.get("protocolVersion") {
        Some(Json::String(version)) => Some(version.clone()),
        Some(other) => {
            return Err(format!("the answer to `initialize` has a `protocolVersion` that is no text: {other}"));
        }
        None => {
            notes.push("the answer to `initialize` has no `protocolVersion`".to_owned());
            None
        }
    };
    if let Some(version) = version.as_deref().filter(|version| MODERN.contains(version)) {
        return Err(format!(
            "the server answers `initialize` with protocol version `{version}`, which has no `initialize`"
        ));
    }
    if let Some(version) = version.as_deref().filter(|version| !REVISIONS.contains(version)) {
        return Err(format!(
            "the server wants protocol version `{version}`, which mcptest does not speak (it speaks {})",
            REVISIONS.join(", ")
        ));
    }
    if let (Some(asked), Some(version)) = (asked, version.as_deref())
        && asked != version
    {
        notes.push(format!("asked for protocol version {asked}, the server chose {version}"));
    }
    let has = |name: &str, keys: &[&str]| {
        let held = result.get(name).and_then(Json::as_object);
        held.is_some_and(|held| keys.iter().all(|key| held.get(*key).is_some_and(Json::is_string)))
    };
    if !has("capabilities", &[]) {
        notes.push("the answer to `initialize` has no `capabilities`, and many clients refuse it".to_owned());
    }
    if !has("serverInfo", &["name", "version"]) {
        notes.push(
            "the answer to `initialize` has no `serverInfo` with `name` and `version`, and many clients refuse it"
                .to_owned(),
        );
    }
    let server_info = result.get("serverInfo").cloned();
    let era = Some(Era::Legacy);
    Ok(Introduction { era, protocol_version: version, server_info, result: result.clone(), notes })
}

/// An error object in one line: `-32602 unknown tool`.
pub fn error_text(error: &Json) -> String {
    let code = error.get("code").map(|code| format!("{code} ")).unwrap_or_default();
    match error.get("message").and_then(Json::as_str) {
        Some(message) => format!("{code}{message}"),
        None => format!("{code}{error}"),
    }
}
