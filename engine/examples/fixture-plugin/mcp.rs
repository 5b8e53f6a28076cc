//! The same hooks as tools of an MCP server, right by default, and wrong in the way that the argument says.

use crate::{deeds, wire};
use serde_json::{Value, json};
use std::time::Duration;

/// The answer to a message, as text; nothing for a notification. What ends the process does so in here.
pub(crate) fn answer(message: &Value, careful: bool) -> Option<String> {
    let id = message.get("id")?;
    let answered = |result: Value| Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => answered(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "hostile", "version": "0.1.0" },
        })),
        "ping" => answered(json!({})),
        "tools/list" => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            answered(json!({ "tools": deeds::TOOLS.map(tool) }))
        }
        "tools/call" => call(id, &message["params"], careful),
        _ => Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "unknown" } }).to_string()),
    }
}

fn call(id: &Value, params: &Value, careful: bool) -> Option<String> {
    let (name, arguments) = (params["name"].as_str().unwrap_or_default(), &params["arguments"]);
    match arguments["expected"]["do"].as_str().unwrap_or_default() {
        "crash" => {
            eprintln!("told to crash");
            std::process::exit(3);
        }
        "hang" => deeds::hang(&arguments["expected"]["mark"]),
        "close" => deeds::close(),
        "late" => {
            std::thread::sleep(Duration::from_millis(arguments["expected"]["ms"].as_u64().unwrap_or(1500)));
        }
        "neither" => return Some(json!({ "jsonrpc": "2.0", "id": id }).to_string()),
        "wrong-id" => return Some(json!({ "jsonrpc": "2.0", "id": 1_000_000, "result": {} }).to_string()),
        "not-json" => return Some("Traceback (most recent call last):".to_owned()),
        "half" => {
            wire::raw(b"{\"jsonrpc\":\"2.0\",\"resu");
            std::process::exit(0);
        }
        "binary" => {
            wire::raw(b"\x00\xff\xfe\x1b[2J\x80\n");
            return None;
        }
        "flood" => {
            wire::flood();
            return None;
        }
        "twice" => {
            let good = json!({ "jsonrpc": "2.0", "id": id, "result": { "structuredContent": { "pass": true } } });
            return Some(format!("{good}\n{good}"));
        }
        "failed" => {
            let content = json!([{ "type": "text", "text": "something broke" }]);
            return Some(
                json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content, "isError": true } }).to_string(),
            );
        }
        _ => {}
    }
    let answer = match arguments["expected"]["do"] == "late" {
        true => Ok(json!(true)),
        false if careful => deeds::refuse(name, arguments).and_then(|()| deeds::call(name, arguments)),
        false => deeds::call(name, arguments),
    };
    Some(match answer {
        Ok(result) => {
            let structured = if result.is_object() { result } else { json!({ "result": result }) };
            json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [], "structuredContent": structured } })
                .to_string()
        }
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
        }
    })
}
