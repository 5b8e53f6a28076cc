//! The tools that ask the client: its model, its user, its roots.

use super::super::connection::{Call, Connection};
use super::super::reply::{Refusal, Reply};
use super::{Tool, failed, object, string, text};
use serde_json::{Map, Value, json};

pub(super) const TOOLS: [Tool; 3] = [
    Tool {
        name: "ask_model",
        title: "Ask the model",
        description: "Asks the client's model, and returns what it says",
        input: || object(json!({ "prompt": { "type": "string" } }), &[]),
        output: None,
        needs: Some("sampling"),
        waits: true,
        read_only: true,
        run: ask_model,
    },
    Tool {
        name: "ask_user",
        title: "Ask the user",
        description: "Asks the client's user a question, and returns the answer",
        input: || object(json!({ "question": { "type": "string" } }), &[]),
        output: None,
        needs: Some("elicitation"),
        waits: true,
        read_only: true,
        run: ask_user,
    },
    Tool {
        name: "list_roots",
        title: "List the roots",
        description: "Returns the client's roots, a URI per line",
        input: || object(json!({}), &[]),
        output: None,
        needs: Some("roots"),
        waits: true,
        read_only: true,
        run: list_roots,
    },
];

fn ask_model(connection: &Connection<'_>, call: &Call, arguments: &Map<String, Value>) -> Reply {
    let content = json!({ "type": "text", "text": string(arguments, "prompt") });
    let params = json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100 });
    let answer = connection.ask(call, "sampling/createMessage", params)?;
    Ok(judge(&answer, |result| {
        let said = result.pointer("/content/text")?.as_str()?;
        Some(format!("{} says: {said}", result.get("model")?.as_str()?))
    }))
}

fn ask_user(connection: &Connection<'_>, call: &Call, arguments: &Map<String, Value>) -> Reply {
    let schema = json!({ "type": "object", "properties": { "answer": { "type": "string" } }, "required": ["answer"] });
    let params = json!({ "message": string(arguments, "question"), "requestedSchema": schema });
    let answer = connection.ask(call, "elicitation/create", params)?;
    Ok(judge(&answer, |result| match result.get("action")?.as_str()? {
        "accept" => Some(format!("the user says: {}", result.pointer("/content/answer")?.as_str()?)),
        "decline" => Some("the user declined".to_owned()),
        "cancel" => Some("the user cancelled".to_owned()),
        _ => None,
    }))
}

fn list_roots(connection: &Connection<'_>, call: &Call, _: &Map<String, Value>) -> Result<Value, Refusal> {
    let answer = connection.ask(call, "roots/list", json!({}))?;
    Ok(judge(&answer, |result| {
        let roots = result.get("roots")?.as_array()?;
        let uris: Option<Vec<&str>> = roots.iter().map(|root| root.get("uri")?.as_str()).collect();
        Some(uris?.join("\n"))
    }))
}

/// A result from the client's response: what `read` makes of it, or why that was not possible.
fn judge(answer: &Value, read: impl Fn(&Value) -> Option<String>) -> Value {
    if let Some(error) = answer.get("error") {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no message");
        return failed(format!("the client answered with an error: {message}"));
    }
    match answer.get("result").and_then(read) {
        Some(said) => text(said),
        None => failed("the client's answer is not what the protocol asks for"),
    }
}
