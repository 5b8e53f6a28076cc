//! The MCP server behind a URL: one thread per connection, one request per connection.

use crate::mcp;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};

/// Requests that were to be answered with a 503, or with nothing.
static REFUSED: AtomicU32 = AtomicU32::new(0);

/// Handshakes.
static STARTS: AtomicU32 = AtomicU32::new(0);

/// Listens on a free port, and writes the address into a file.
pub(crate) fn serve(file: &str, careful: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let half = format!("{file}.half");
    std::fs::write(&half, address.to_string())
        .and_then(|()| std::fs::rename(&half, file))
        .expect("the file is written");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || answer(stream, careful));
    }
}

fn answer(mut stream: TcpStream, careful: bool) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut length, mut credentials) = (String::new(), 0, String::new());
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "authorization" | "x-token" => credentials = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if !first.starts_with("POST ") {
        return write(&mut stream, "405 Method Not Allowed", "");
    }
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    if message["method"] == "initialize" {
        STARTS.fetch_add(1, Ordering::SeqCst);
    }
    let deed = message["params"]["arguments"]["expected"]["do"].as_str().unwrap_or_default();
    let enough = || REFUSED.fetch_add(1, Ordering::SeqCst) >= 2;
    match deed {
        "busy" if !enough() => return write(&mut stream, "503 Service Unavailable", ""),
        "broken" if !enough() => return Ok(()),
        "down" => return write(&mut stream, "500 Internal Server Error", "no"),
        "ill" if !enough() => {
            let error = serde_json::json!({ "code": -32603, "message": "not now" });
            let answer = serde_json::json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
            return write(&mut stream, "500 Internal Server Error", &answer.to_string());
        }
        "forgotten" if STARTS.load(Ordering::SeqCst) < 2 => {
            let error = serde_json::json!({ "code": -32600, "message": "Session not found" });
            let answer = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error });
            return write(&mut stream, "404 Not Found", &answer.to_string());
        }
        "forbidden" => return write(&mut stream, "403 Forbidden", "no"),
        "credentials" => {
            let verdict = serde_json::json!({ "pass": false, "message": credentials });
            let result = serde_json::json!({ "content": [], "structuredContent": verdict });
            let answer = serde_json::json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            return write(&mut stream, "200 OK", &answer.to_string());
        }
        "busy" | "broken" | "ill" | "forgotten" => {
            let result = serde_json::json!({ "content": [], "structuredContent": { "pass": true } });
            let answer = serde_json::json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            return write(&mut stream, "200 OK", &answer.to_string());
        }
        _ => {}
    }
    match mcp::answer(&message, careful) {
        Some(text) => write(&mut stream, "200 OK", &text),
        None => write(&mut stream, "202 Accepted", ""),
    }
}

fn write(stream: &mut TcpStream, status: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
