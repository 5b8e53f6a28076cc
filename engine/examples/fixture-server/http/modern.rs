//! A server of the modern era alone, whose streams end as soon as they are acknowledged: no GET, no DELETE, no session though every answer names one, and headers that must say
//! what the body says.

use super::{Request, STRAY, plain};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::UNIX_EPOCH;

fn now() -> u128 {
    UNIX_EPOCH.elapsed().expect("a clock").as_millis()
}

/// Answers a POST; whatever else comes is refused, and told on stderr.
pub(super) fn answer(request: &Request, stream: &mut TcpStream) -> std::io::Result<()> {
    if request.method != "POST" {
        eprintln!("there is no {} in the modern era", request.method);
        return plain(stream, "405 Method Not Allowed", "text/plain", "", b"only POST");
    }
    let message = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
    let (id, params) = (&message["id"], &message["params"]);
    let method = message["method"].as_str().unwrap_or_default();
    let refuse = |stream: &mut TcpStream, code: i64, why: &str, data: Value| {
        let error = json!({"code": code, "message": why, "data": data});
        let body = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        plain(stream, "400 Bad Request", "application/json", STRAY, body.as_bytes())
    };
    if method == "initialize" || method.starts_with("notifications/") {
        return refuse(stream, -32022, "there is no such thing", json!({"supported": ["2026-07-28"]}));
    }
    let named = ["name", "uri", "taskId"].iter().find_map(|key| params[*key].as_str());
    let said = [
        (request.header("mcp-protocol-version"), params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()),
        (request.header("mcp-method"), Some(method)),
        (request.header("mcp-name"), named),
        (request.header("mcp-session-id"), None),
    ];
    if said.iter().any(|(header, body)| header != body) {
        return refuse(stream, -32020, "the headers do not match the body", json!(format!("{said:?}")));
    }
    let city = |name: &str| json!({"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": name}}});
    let tool = |name: &str, header: &str| json!({"name": name, "inputSchema": city(header)});
    let result = match method {
        "tools/call" if named == Some("later") => {
            json!({"resultType": "task", "taskId": now().to_string(), "status": "working", "pollIntervalMs": 20})
        }
        "tasks/get" => {
            let begun = params["taskId"].as_str().and_then(|begun| begun.parse::<u128>().ok()).unwrap_or_default();
            let mut task = json!({"taskId": params["taskId"], "status": "working", "pollIntervalMs": 20});
            if now() > begun + 100 {
                task["status"] = json!("completed");
                task["result"] = json!({"content": [{"type": "text", "text": "at last"}], "resultType": "complete"});
            }
            task
        }
        "subscriptions/listen" => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
            let (method, params) = (
                "notifications/subscriptions/acknowledged",
                json!({"_meta": meta, "notifications": params["notifications"]}),
            );
            let event = format!("data: {}\n\n", json!({"jsonrpc": "2.0", "method": method, "params": params}));
            return plain(stream, "200 OK", "text/event-stream", STRAY, event.as_bytes());
        }
        "tools/call" if named == Some("dream") => json!({"content": [], "resultType": "dreaming"}),
        "server/discover" => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
        "tools/list" => json!({"tools": [tool("headers", "City"), tool("broken", "not a header")]}),
        "tools/call" => {
            let seen: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            json!({"content": [{"type": "text", "text": seen.join("\n")}], "resultType": "complete"})
        }
        _ => return refuse(stream, -32601, "unknown method", Value::Null),
    };
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    plain(stream, "200 OK", "application/json", STRAY, body.as_bytes())
}
