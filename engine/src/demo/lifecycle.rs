//! The handshake, and what depends on the revision it settles on.

use super::connection::Connection;
use super::reply::{INVALID_REQUEST, Refusal, Reply, text_of};
use serde_json::{Value, json};

/// A revision of the protocol, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Revision {
    /// 2024-11-05, the first.
    Nov2024,
    /// 2025-03-26: batches, completions as a capability, tool annotations.
    Mar2025,
    /// 2025-06-18: structured content, elicitation, titles; no batches.
    Jun2025,
    /// 2025-11-25: wrong arguments are error results.
    Nov2025,
    /// 2026-07-28, the modern era: no handshake, no session. It is never negotiated.
    Jul2026,
}

/// What a client is told about the server.
pub(super) const INSTRUCTIONS: &str = "A server to try mcptest on. Call `echo` first.";

impl Revision {
    /// What is offered to a client that asks for an unknown one.
    pub(super) const LATEST: Revision = Revision::Nov2025;
    const ALL: [Revision; 4] = [Revision::Nov2024, Revision::Mar2025, Revision::Jun2025, Revision::Nov2025];

    fn as_str(self) -> &'static str {
        match self {
            Revision::Nov2024 => "2024-11-05",
            Revision::Mar2025 => "2025-03-26",
            Revision::Jun2025 => "2025-06-18",
            Revision::Nov2025 => "2025-11-25",
            Revision::Jul2026 => "2026-07-28",
        }
    }

    /// Whether a session can have a revision of that name.
    pub(super) fn is_known(name: &str) -> bool {
        Revision::ALL.into_iter().any(|revision| revision.as_str() == name)
    }

    fn negotiate(asked: &str) -> Revision {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == asked).unwrap_or(Revision::LATEST)
    }
}

/// A log message's severity, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    /// The names, least first, as `logging/setLevel` takes them.
    pub(super) const NAMES: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    const ALL: [Level; 8] = [
        Level::Debug,
        Level::Info,
        Level::Notice,
        Level::Warning,
        Level::Error,
        Level::Critical,
        Level::Alert,
        Level::Emergency,
    ];

    /// The level of that name.
    pub(super) fn named(name: &str) -> Option<Level> {
        Level::NAMES.iter().position(|known| *known == name).map(|index| Level::ALL[index])
    }
}

/// `initialize`: settles on a revision and notes what the client can do.
pub(super) fn initialize(connection: &Connection<'_>, params: &Value) -> Reply {
    let asked = text_of(params, "protocolVersion")?;
    let revision = Revision::negotiate(asked);
    {
        let mut state = connection.state();
        if state.revision.is_some() {
            return Err(Refusal::error(INVALID_REQUEST, "the session is already initialized"));
        }
        state.revision = Some(revision);
        state.client = params.get("capabilities").cloned().unwrap_or(Value::Null);
    }
    let mut capabilities = json!({ "logging": {}, "prompts": {}, "resources": { "subscribe": true }, "tools": {} });
    if revision >= Revision::Mar2025 {
        capabilities["completions"] = json!({});
    }
    Ok(json!({
        "protocolVersion": revision.as_str(),
        "capabilities": capabilities,
        "serverInfo": server_info(revision),
        "instructions": INSTRUCTIONS,
    }))
}

/// What the server calls itself.
pub(super) fn server_info(revision: Revision) -> Value {
    let mut info = json!({ "name": "mcptest-demo", "version": env!("CARGO_PKG_VERSION") });
    if revision >= Revision::Jun2025 {
        info["title"] = json!("mcptest demo server");
    }
    info
}

/// `logging/setLevel`.
pub(super) fn set_level(connection: &Connection<'_>, params: &Value) -> Reply {
    let name = text_of(params, "level")?;
    let level = Level::named(name)
        .ok_or_else(|| Refusal::params(format!("unknown level `{name}`, use one of {}", Level::NAMES.join(", "))))?;
    connection.state().level = level;
    Ok(json!({}))
}
