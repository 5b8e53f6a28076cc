//! The tools that need nothing of the client.

use super::super::connection::{Call, Connection};
use super::super::lifecycle::{Level, Revision};
use super::super::reply::Reply;
use super::super::resources;
use super::{Tool, failed, object, string, text};
use serde_json::{Map, Value, json};
use std::time::Duration;

type Arguments = Map<String, Value>;

pub(super) const TOOLS: [Tool; 9] = [
    Tool {
        name: "echo",
        title: "Echo",
        description: "Returns its message as one text block",
        input: || object(json!({ "message": { "type": "string" } }), &[]),
        output: None,
        needs: None,
        waits: false,
        read_only: true,
        run: |_, _, arguments| Ok(text(string(arguments, "message"))),
    },
    Tool {
        name: "echo_json",
        title: "Echo JSON",
        description: "Returns its value as compact JSON, and as structured content when it is an object",
        input: || object(json!({ "value": {} }), &[]),
        output: None,
        needs: None,
        waits: false,
        read_only: true,
        run: echo_json,
    },
    Tool {
        name: "add",
        title: "Add",
        description: "Adds two numbers",
        input: || object(json!({ "a": { "type": "number" }, "b": { "type": "number" } }), &[]),
        output: Some(|| object(json!({ "sum": { "type": "number" } }), &[])),
        needs: None,
        waits: false,
        read_only: true,
        run: add,
    },
    Tool {
        name: "picture",
        title: "Picture",
        description: "Returns a picture, a caption and a link to the resource",
        input: || object(json!({}), &[]),
        output: None,
        needs: None,
        waits: false,
        read_only: true,
        run: picture,
    },
    Tool {
        name: "fail",
        title: "Fail",
        description: "Returns an error result",
        input: || object(json!({ "message": { "type": "string" } }), &["message"]),
        output: None,
        needs: None,
        waits: false,
        read_only: true,
        run: |_, _, arguments| match string(arguments, "message") {
            "" => Ok(failed("this tool always fails")),
            message => Ok(failed(message)),
        },
    },
    Tool {
        name: "slow",
        title: "Slow",
        description: "Takes some steps of some milliseconds each, and reports its progress",
        input: || {
            let steps = json!({ "type": "integer", "minimum": 1, "maximum": 1000 });
            object(json!({ "steps": steps, "ms": { "type": "integer", "minimum": 0, "maximum": 60000 } }), &[])
        },
        output: None,
        needs: None,
        waits: true,
        read_only: true,
        run: slow,
    },
    Tool {
        name: "log",
        title: "Log",
        description: "Sends a log message, if its level is high enough",
        input: || object(json!({ "level": { "enum": Level::NAMES }, "message": { "type": "string" } }), &[]),
        output: None,
        needs: None,
        waits: false,
        read_only: true,
        run: log,
    },
    Tool {
        name: "complain",
        title: "Complain",
        description: "Writes its message to stderr",
        input: || object(json!({ "message": { "type": "string" } }), &[]),
        output: None,
        needs: None,
        waits: false,
        read_only: true,
        run: |_, _, arguments| {
            eprintln!("{}", string(arguments, "message"));
            Ok(text("complained"))
        },
    },
    Tool {
        name: "set_motd",
        title: "Set the message of the day",
        description: "Changes the resource demo://motd",
        input: || object(json!({ "text": { "type": "string" } }), &[]),
        output: None,
        needs: None,
        waits: false,
        read_only: false,
        run: |connection, _, arguments| {
            resources::set_motd(connection, string(arguments, "text"));
            Ok(text("changed"))
        },
    },
];

fn echo_json(connection: &Connection<'_>, _: &Call, arguments: &Arguments) -> Reply {
    let value = arguments.get("value").unwrap_or(&Value::Null);
    Ok(with_structured(connection, text(value.to_string()), value))
}

fn add(connection: &Connection<'_>, _: &Call, arguments: &Arguments) -> Reply {
    let (a, b) = (arguments.get("a"), arguments.get("b"));
    let whole = |value: Option<&Value>| value.and_then(Value::as_i64);
    let real = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or_default();
    let sum = match whole(a).zip(whole(b)).and_then(|(a, b)| a.checked_add(b)) {
        Some(sum) => json!(sum),
        None => json!(real(a) + real(b)),
    };
    if sum.is_null() {
        return Ok(failed("the sum is too large for a number"));
    }
    Ok(with_structured(connection, text(sum.to_string()), &json!({ "sum": sum })))
}

/// Adds structured content where the revision has it and the value is an object.
fn with_structured(connection: &Connection<'_>, mut result: Value, value: &Value) -> Value {
    if value.is_object() && connection.revision() >= Revision::Jun2025 {
        result["structuredContent"] = value.clone();
    }
    result
}

fn picture(connection: &Connection<'_>, _: &Call, _: &Arguments) -> Reply {
    let mut content = vec![
        json!({ "type": "text", "text": "A blue pixel" }),
        json!({ "type": "image", "mimeType": "image/png", "data": resources::PNG }),
    ];
    if connection.revision() >= Revision::Jun2025 {
        content.push(json!({
            "type": "resource_link", "uri": resources::PIXEL, "name": "pixel", "mimeType": "image/png",
        }));
    }
    Ok(json!({ "content": content }))
}

fn slow(connection: &Connection<'_>, call: &Call, arguments: &Arguments) -> Reply {
    let number = |name| arguments.get(name).and_then(Value::as_u64).unwrap_or_default();
    let (steps, pause) = (number("steps"), Duration::from_millis(number("ms")));
    for step in 1..=steps {
        call.pause(pause)?;
        if let Some(token) = call.progress_token() {
            let mut progress = json!({ "progressToken": token, "progress": step, "total": steps });
            if connection.revision() >= Revision::Mar2025 {
                progress["message"] = json!(format!("step {step} of {steps}"));
            }
            connection.notify("notifications/progress", progress);
        }
    }
    Ok(text(format!("finished step {steps} of {steps}")))
}

fn log(connection: &Connection<'_>, call: &Call, arguments: &Arguments) -> Reply {
    let (name, message) = (string(arguments, "level"), string(arguments, "message"));
    let least = match call.stance() {
        Some(stance) => stance.level,
        None => Some(connection.state().level),
    };
    if Level::named(name).zip(least).is_some_and(|(level, least)| level >= least) {
        connection.notify("notifications/message", json!({ "level": name, "logger": "demo", "data": message }));
        return Ok(text("logged"));
    }
    Ok(text("below the level that the client asked for"))
}
