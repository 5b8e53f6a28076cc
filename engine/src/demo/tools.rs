//! The tools: their list, and the way from a call to its result.
//!
//! | tool | what it shows |
//! |---|---|
//! | `echo` `echo_json` | text and structured content |
//! | `add` | an output schema |
//! | `picture` | content blocks of every kind |
//! | `fail` | an error result |
//! | `slow` | progress and cancellation |
//! | `log` `complain` | log messages, stderr |
//! | `set_motd` | a resource that changes |
//! | `ask_model` `ask_user` `list_roots` | the server asks the client; listed when the client declared the capability |

mod asking;
mod plain;

use super::connection::{Call, Connection};
use super::lifecycle::Revision;
use super::modern;
use super::reply::{Refusal, Reply, text_of};
use serde_json::{Map, Value, json};

/// One tool.
struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The JSON Schema of its arguments.
    input: fn() -> Value,
    /// The JSON Schema of its structured content, if it promises one.
    output: Option<fn() -> Value>,
    /// The client's capability without which it does not exist.
    needs: Option<&'static str>,
    /// Whether it may wait for time to pass or for the client.
    waits: bool,
    /// Whether it changes nothing.
    read_only: bool,
    run: fn(&Connection<'_>, &Call, &Map<String, Value>) -> Reply,
}

fn all() -> impl Iterator<Item = &'static Tool> {
    plain::TOOLS.iter().chain(&asking::TOOLS)
}

/// The tools this client sees.
fn available<'a>(connection: &'a Connection<'_>) -> impl Iterator<Item = &'static Tool> + 'a {
    let client = connection.state().client.clone();
    let revision = connection.revision();
    all().filter(move |tool| match tool.needs {
        None => true,
        // Lists do not depend on who asks; a call that the client is not made for is refused.
        Some(_) if revision >= Revision::Jul2026 => true,
        Some("elicitation") if revision < Revision::Jun2025 => false,
        Some(capability) => client.get(capability).is_some_and(Value::is_object),
    })
}

/// `tools/list`.
pub(super) fn list(connection: &Connection<'_>) -> Vec<Value> {
    let revision = connection.revision();
    let describe = |tool: &Tool| {
        let mut entry = json!({ "name": tool.name, "description": tool.description, "inputSchema": (tool.input)() });
        if revision >= Revision::Mar2025 {
            entry["annotations"] = json!({ "readOnlyHint": tool.read_only });
        }
        if revision >= Revision::Jun2025 {
            entry["title"] = json!(tool.title);
            if let Some(output) = tool.output {
                entry["outputSchema"] = output();
            }
        }
        entry
    };
    available(connection).map(describe).collect()
}

/// Whether a `tools/call` with these parameters may wait.
pub(super) fn may_wait(params: &Value) -> bool {
    let name = params.get("name").and_then(Value::as_str);
    all().any(|tool| tool.waits && Some(tool.name) == name)
}

/// `tools/call`.
pub(super) fn call(connection: &Connection<'_>, call: &Call, params: &Value) -> Reply {
    let name = text_of(params, "name")?;
    let tool = available(connection)
        .find(|tool| tool.name == name)
        .ok_or_else(|| Refusal::params(format!("unknown tool `{name}`")))?;
    if let (Some(stance), Some(capability)) = (call.stance(), tool.needs) {
        modern::require(stance, capability)?;
    }
    let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
    if let Some(problem) = problem(&(tool.input)(), &arguments) {
        let problem = format!("invalid arguments for tool `{name}`: {problem}");
        return if connection.revision() >= Revision::Nov2025 {
            Ok(failed(problem))
        } else {
            Err(Refusal::params(problem))
        };
    }
    let Value::Object(arguments) = arguments else { return Err(Refusal::params("`arguments` must be an object")) };
    (tool.run)(connection, call, &arguments)
}

/// What the schema says against the arguments.
fn problem(schema: &Value, arguments: &Value) -> Option<String> {
    let validator = jsonschema::validator_for(schema).ok()?;
    let problems: Vec<String> = validator
        .iter_errors(arguments)
        .map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.to_string(),
            path => format!("{path}: {error}"),
        })
        .collect();
    (!problems.is_empty()).then(|| problems.join("; "))
}

/// A result of one text block.
fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

/// The same as an error result.
fn failed(message: impl Into<String>) -> Value {
    let mut result = text(message);
    result["isError"] = json!(true);
    result
}

/// A string among valid arguments.
fn string<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A schema for an object of these properties, all of them required unless `optional`.
fn object(properties: Value, optional: &[&str]) -> Value {
    let names = properties.as_object().into_iter().flat_map(Map::keys);
    let required: Vec<&String> = names.filter(|name| !optional.contains(&name.as_str())).collect();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}
