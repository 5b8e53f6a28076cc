//! From a line of input to its answer: envelopes, batches, methods, pages.

use super::connection::{Call, Connection};
use super::lifecycle::{self, Revision};
use super::modern::{self, Stance};
use super::reply::{INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Refusal, Reply, envelope, text_of};
use super::{completion, prompts, resources, tools};
use serde_json::{Value, json};
use std::io;
use std::thread::Scope;

/// How many entries a page of a list holds: fewer than there are tools, so that a client has to follow the cursor.
const PAGE: usize = 5;

/// Answers one line, here or on a thread of `scope` if the answer may take a while.
pub(super) fn receive<'scope>(
    connection: &'scope Connection<'_>,
    scope: &'scope Scope<'scope, '_>,
    line: &[u8],
) -> io::Result<()> {
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            let refusal = Refusal::error(PARSE_ERROR, format!("not JSON: {error}"));
            return respond(connection, envelope(Value::Null, Err(refusal)));
        }
    };
    match message {
        Value::Array(batch) if connection.revision() == Revision::Mar2025 && !batch.is_empty() => {
            let items: Vec<_> = batch.into_iter().map(|item| Item::new(connection, item)).collect();
            scope.spawn(move || answer_batch(connection, items));
            Ok(())
        }
        message => {
            let item = Item::new(connection, message);
            if item.may_wait() {
                scope.spawn(move || respond(connection, item.answer(connection)));
                return Ok(());
            }
            respond(connection, item.answer(connection))
        }
    }
}

fn respond(connection: &Connection<'_>, response: Option<Value>) -> io::Result<()> {
    match response {
        Some(response) => connection.send(&response),
        None => Ok(()),
    }
}

fn answer_batch(connection: &Connection<'_>, items: Vec<Item>) {
    let answers: Vec<Value> = items.into_iter().filter_map(|item| item.answer(connection)).collect();
    if !answers.is_empty() {
        let _ = connection.send(&Value::Array(answers));
    }
}

/// One message, sorted.
enum Item {
    /// A request; what a `tools/call` needs to be cancelled is noted before the next line is read.
    Request { id: Value, method: String, params: Value, stance: Option<Stance>, call: Option<Box<Call>> },
    /// A notification, already dealt with, or an answer, already handed on.
    Done,
    /// Neither.
    Invalid { id: Value, refusal: Refusal },
}

impl Item {
    fn new(connection: &Connection<'_>, message: Value) -> Item {
        let id = match message.get("id") {
            Some(id) if id.is_string() || id.is_i64() || id.is_u64() => Some(id.clone()),
            _ => None,
        };
        let invalid = |message: &str| Item::Invalid {
            id: id.clone().unwrap_or(Value::Null),
            refusal: Refusal::error(INVALID_REQUEST, message),
        };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid("`jsonrpc` must be \"2.0\"");
        }
        let Some(method) = message.get("method") else {
            if message.get("result").is_some() || message.get("error").is_some() {
                connection.answered(message);
                return Item::Done;
            }
            return invalid("`method` is missing");
        };
        let Some(method) = method.as_str().map(str::to_owned) else { return invalid("`method` must be a string") };
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        if message.get("id").is_none() {
            if method == "notifications/cancelled" {
                connection.cancel(params.get("requestId").unwrap_or(&Value::Null));
            }
            return Item::Done;
        }
        let Some(id) = id.clone() else { return invalid("`id` must be a string or an integer") };
        let stance = match modern::stance(connection, &method, &params) {
            Ok(stance) => stance,
            Err(refusal) => return Item::Invalid { id, refusal },
        };
        let call = match method.as_str() {
            "tools/call" => match connection.begin(&id, &params, stance.as_ref()) {
                Some(call) => Some(Box::new(call)),
                None => return invalid("a call with this `id` is under way"),
            },
            _ => None,
        };
        Item::Request { id, method, params, stance, call }
    }

    /// Whether the answer may wait for time to pass or for the client.
    fn may_wait(&self) -> bool {
        match self {
            Item::Request { params, call: Some(_), .. } => tools::may_wait(params),
            _ => false,
        }
    }

    fn answer(self, connection: &Connection<'_>) -> Option<Value> {
        match self {
            Item::Done => None,
            Item::Invalid { id, refusal } => envelope(id, Err(refusal)),
            Item::Request { id, method, params, stance, call } => {
                let reply = match &call {
                    Some(call) => {
                        let reply = ready(connection).and_then(|()| tools::call(connection, call, &params));
                        connection.end(call);
                        reply
                    }
                    None if stance.is_some() => answer_modern(connection, &id, &method, &params),
                    None => answer(connection, &method, &params),
                };
                let whole = |result| if stance.is_some() { modern::complete(&method, result) } else { result };
                let reply = match reply {
                    Err(Refusal::Result(result)) => Err(Refusal::Result(whole(result))),
                    reply => reply.map(whole),
                };
                envelope(id, reply)
            }
        }
    }
}

fn ready(connection: &Connection<'_>) -> Result<(), Refusal> {
    match connection.state().revision {
        Some(_) => Ok(()),
        None => Err(Refusal::error(INVALID_REQUEST, "the session is not initialized: send `initialize` first")),
    }
}

/// The methods that the modern era has and the legacy one has not; those that it removed are unknown.
fn answer_modern(connection: &Connection<'_>, id: &Value, method: &str, params: &Value) -> Reply {
    match method {
        "server/discover" => modern::discover(),
        "subscriptions/listen" => modern::listen(connection, id, params),
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => Err(unknown(method)),
        _ => answer(connection, method, params),
    }
}

fn unknown(method: &str) -> Refusal {
    Refusal::error(METHOD_NOT_FOUND, format!("unknown method `{method}`"))
}

fn answer(connection: &Connection<'_>, method: &str, params: &Value) -> Reply {
    match method {
        "ping" => return Ok(json!({})),
        "initialize" => return lifecycle::initialize(connection, params),
        _ => ready(connection)?,
    }
    match method {
        "tools/list" => page("tools", tools::list(connection), params),
        "resources/list" => page("resources", resources::list(connection), params),
        "resources/templates/list" => page("resourceTemplates", resources::templates(connection), params),
        "resources/read" => resources::read(connection, text_of(params, "uri")?),
        "resources/subscribe" => resources::subscribe(connection, text_of(params, "uri")?),
        "resources/unsubscribe" => resources::unsubscribe(connection, text_of(params, "uri")?),
        "prompts/list" => page("prompts", prompts::list(connection), params),
        "prompts/get" => prompts::get(params),
        "completion/complete" => completion::complete(params),
        "logging/setLevel" => lifecycle::set_level(connection, params),
        _ => Err(unknown(method)),
    }
}

/// One page of a list, with the cursor of the next.
fn page(key: &str, entries: Vec<Value>, params: &Value) -> Reply {
    let start = match params.get("cursor") {
        None => 0,
        Some(cursor) => cursor
            .as_str()
            .and_then(|cursor| cursor.strip_prefix("after-"))
            .and_then(|start| start.parse::<usize>().ok())
            .filter(|start| *start > 0 && *start < entries.len())
            .ok_or_else(|| Refusal::params("unknown `cursor`"))?,
    };
    let end = entries.len().min(start + PAGE);
    let mut result = json!({ key: entries[start..end] });
    if end < entries.len() {
        result["nextCursor"] = json!(format!("after-{end}"));
    }
    Ok(result)
}
