//! The modern era (2026-07-28): what a request says of itself, what every result says, questions inside of results, and
//! subscriptions that stay open.
//!
//! The first request of a conversation decides its era: one with the modern `_meta`, or `initialize`.

use super::connection::{Call, Connection};
use super::lifecycle::{Level, Revision, server_info};
use super::reply::{Refusal, Reply};
use crate::mcp::era::{CLIENT_CAPABILITIES, LOG_LEVEL, MODERN, PROTOCOL_VERSION, SERVER_INFO, SUBSCRIPTION_ID};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The client speaks a revision that the server does not.
const UNSUPPORTED_VERSION: i64 = -32022;
/// The client has not declared what the request needs.
const MISSING_CAPABILITY: i64 = -32021;
/// The server's name for its only question.
const QUESTION: &str = "question";

/// What a request of the modern era says of itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Stance {
    /// What the client can do.
    pub(super) capabilities: Value,
    /// The least level of log messages it wants; none when it wants none.
    pub(super) level: Option<Level>,
}

/// What a request says of itself; none in the legacy era.
pub(super) fn stance(connection: &Connection<'_>, method: &str, params: &Value) -> Result<Option<Stance>, Refusal> {
    let meta = params.get("_meta").unwrap_or(&Value::Null);
    let version = meta.get(PROTOCOL_VERSION).and_then(Value::as_str);
    let settled = connection.state().revision;
    match settled {
        Some(Revision::Jul2026) => {}
        None if method == "server/discover" || version.is_some() => {}
        _ => return Ok(None),
    }
    let supported = |requested: &str| {
        let data = json!({ "supported": MODERN, "requested": requested });
        Refusal::error(UNSUPPORTED_VERSION, "unsupported protocol version").with(data)
    };
    if method == "initialize" {
        return Err(supported(params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default()));
    }
    let Some(version) = version else { return Err(Refusal::params(format!("`_meta` must have `{PROTOCOL_VERSION}`"))) };
    if !MODERN.contains(&version) {
        return Err(supported(version));
    }
    let Some(capabilities) = meta.get(CLIENT_CAPABILITIES).filter(|declared| declared.is_object()) else {
        return Err(Refusal::params(format!("`_meta` must have `{CLIENT_CAPABILITIES}`")));
    };
    let level = meta.get(LOG_LEVEL).and_then(Value::as_str).and_then(Level::named);
    connection.state().revision = Some(Revision::Jul2026);
    Ok(Some(Stance { capabilities: capabilities.clone(), level }))
}

/// `server/discover`.
pub(super) fn discover() -> Reply {
    let capabilities =
        json!({ "completions": {}, "logging": {}, "prompts": {}, "resources": { "subscribe": true }, "tools": {} });
    Ok(json!({
        "supportedVersions": MODERN,
        "capabilities": capabilities,
        "instructions": super::lifecycle::INSTRUCTIONS,
    }))
}

/// A result with what the era asks of all of them.
pub(super) fn complete(method: &str, mut result: Value) -> Value {
    if result.get("resultType").is_none() {
        result["resultType"] = json!("complete");
    }
    let cacheable = method == "server/discover" || method.ends_with("/list") || method == "resources/read";
    if cacheable {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    result["_meta"] = json!({ SERVER_INFO: server_info(Revision::Jul2026) });
    result
}

/// Whether the client declared what a tool needs.
pub(super) fn require(stance: &Stance, capability: &str) -> Result<(), Refusal> {
    if stance.capabilities.get(capability).is_some_and(Value::is_object) {
        return Ok(());
    }
    let data = json!({ "requiredCapabilities": { capability: {} } });
    Err(Refusal::error(MISSING_CAPABILITY, format!("the client does not declare `{capability}`")).with(data))
}

/// The client's answer to a question, from the request that brings it; or else the result that asks for it.
pub(super) fn ask(call: &Call, method: &str, params: Value) -> Result<Value, Refusal> {
    let state = request_state(call.params());
    let Some(responses) = call.params().get("inputResponses") else {
        return Err(question(method, params, &state));
    };
    let Some(responses) = responses.as_object() else {
        return Err(Refusal::params("`inputResponses` must be an object"));
    };
    if call.params().get("requestState").and_then(Value::as_str) != Some(&state) {
        return Err(Refusal::params("`requestState` does not belong to this request"));
    }
    match responses.get(QUESTION) {
        Some(answer) if answer.is_object() => Ok(json!({ "result": answer })),
        Some(_) => Err(Refusal::params(format!("`inputResponses.{QUESTION}` must be an object"))),
        None => Err(question(method, params, &state)),
    }
}

fn question(method: &str, params: Value, state: &str) -> Refusal {
    let requests = json!({ QUESTION: { "method": method, "params": params } });
    Refusal::Result(json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state }))
}

/// Ties a question to the request that it came from; any process can check it.
fn request_state(params: &Value) -> String {
    let request = json!([params.get("name"), params.get("arguments")]).to_string();
    let digest = Sha256::digest(request.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// `subscriptions/listen`: acknowledged at once, and open until the client takes it back.
pub(super) fn listen(connection: &Connection<'_>, id: &Value, params: &Value) -> Reply {
    let Some(filter) = params.get("notifications").and_then(Value::as_object) else {
        return Err(Refusal::params("`notifications` must be an object"));
    };
    let mut granted = Map::new();
    let uris: Vec<String> = filter
        .get("resourceSubscriptions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|uri| uri.as_str().map(str::to_owned))
        .filter(|uri| super::resources::read(connection, uri).is_ok())
        .collect();
    if !uris.is_empty() {
        granted.insert("resourceSubscriptions".into(), json!(uris));
    }
    connection.state().listening.insert(id.to_string(), (id.clone(), uris));
    notify(connection, id, "notifications/subscriptions/acknowledged", json!({ "notifications": granted }));
    Err(Refusal::Cancelled)
}

/// Tells whoever listens that a resource has changed.
pub(super) fn updated(connection: &Connection<'_>, uri: &str) {
    let listening: Vec<Value> = {
        let state = connection.state();
        let wanted = state.listening.values().filter(|(_, uris)| uris.iter().any(|wanted| wanted == uri));
        wanted.map(|(id, _)| id.clone()).collect()
    };
    for id in listening {
        notify(connection, &id, "notifications/resources/updated", json!({ "uri": uri }));
    }
}

fn notify(connection: &Connection<'_>, id: &Value, method: &str, mut params: Value) {
    params["_meta"] = json!({ SUBSCRIPTION_ID: id });
    connection.notify(method, params);
}
