//! The prompts: one with a required argument, one with an optional one besides.

use super::connection::Connection;
use super::lifecycle::Revision;
use super::reply::{Refusal, Reply, text_of};
use serde_json::{Value, json};

/// `prompts/list`.
pub(super) fn list(connection: &Connection<'_>) -> Vec<Value> {
    let mut prompts = vec![
        json!({
            "name": "greet",
            "description": "Greets someone",
            "arguments": [{ "name": "name", "description": "Who is greeted", "required": true }],
        }),
        json!({
            "name": "review",
            "description": "Asks for a code review",
            "arguments": [
                { "name": "code", "description": "The code to review", "required": true },
                { "name": "language", "description": "The language it is written in", "required": false },
            ],
        }),
    ];
    if connection.revision() >= Revision::Jun2025 {
        prompts[0]["title"] = json!("Greeting");
        prompts[1]["title"] = json!("Code review");
    }
    prompts
}

/// `prompts/get`.
pub(super) fn get(params: &Value) -> Reply {
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    match text_of(params, "name")? {
        "greet" => {
            let name = required(arguments, "name")?;
            Ok(json!({
                "description": "Greets someone",
                "messages": [message("user", format!("Say hello to {name}."))],
            }))
        }
        "review" => {
            let code = required(arguments, "code")?;
            let language = arguments.get("language").and_then(Value::as_str);
            let subject = language.map_or("code".to_owned(), |language| format!("{language} code"));
            Ok(json!({
                "description": "Asks for a code review",
                "messages": [
                    message("user", format!("Please review this {subject}:\n\n{code}")),
                    message("assistant", "I will look for mistakes first, then for style.".to_owned()),
                ],
            }))
        }
        name => Err(Refusal::params(format!("unknown prompt `{name}`"))),
    }
}

fn required<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, Refusal> {
    let missing = || Refusal::params(format!("the argument `{name}` is required and must be a string"));
    arguments.get(name).and_then(Value::as_str).ok_or_else(missing)
}

fn message(role: &str, text: String) -> Value {
    json!({ "role": role, "content": { "type": "text", "text": text } })
}
