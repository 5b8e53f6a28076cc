//! The same over HTTP: well behaved but for `tools/call`, which goes wrong in the one way that `--http-mode` names.
//!
//! Every thread serves one connection, which is kept alive. Modes are in [`crate::options::HELP`].

mod modern;
mod standalone;

use super::old_sse::Stream;
use serde_json::{Value, json};
use standalone::Standalone;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Serves until it is killed; says on stderr where.
pub(crate) fn run(port: u16, mode: &str) {
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    eprintln!("listening on {}", listener.local_addr().expect("an address"));
    let server = Arc::new(Server {
        mode: mode.to_owned(),
        sessions: AtomicUsize::new(0),
        calls: AtomicUsize::new(0),
        deleted: Mutex::default(),
        stream: Stream::default(),
        standalone: Standalone::default(),
    });
    std::thread::spawn(|| {
        // The end of stdin is the end.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    for stream in listener.incoming().flatten() {
        let server = server.clone();
        std::thread::spawn(move || server.connection(stream));
    }
}

struct Server {
    mode: String,
    sessions: AtomicUsize,
    calls: AtomicUsize,
    /// The sessions that a DELETE ended.
    deleted: Mutex<Vec<String>>,
    stream: Stream,
    standalone: Standalone,
}

pub(crate) struct Request {
    pub(crate) method: String,
    path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    fn read(reader: &mut impl BufRead) -> Option<Request> {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let mut words = line.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Request { method, path, headers, body: Vec::new() };
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        request.body = vec![0; length];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub(crate) fn plain(
    stream: &mut TcpStream,
    status: &str,
    media: &str,
    headers: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

fn chunk(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    write!(stream, "{:x}\r\n{text}\r\n", text.len())
}

const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// What names a session where none begins.
const STRAY: &str = "mcp-session-id: stray\r\n";

pub(crate) const EVENTS_UNTIL_CLOSED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

fn endless(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    loop {
        stream.write_all(text.as_bytes())?;
    }
}

impl Server {
    fn connection(&self, mut stream: TcpStream) {
        let Ok(other) = stream.try_clone() else { return };
        let _ = stream.set_nodelay(true);
        let mut reader = BufReader::new(other);
        while let Some(request) = Request::read(&mut reader) {
            if self.answer(&request, &mut stream).is_err() {
                return;
            }
            if self.mode == "close-each" {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    fn answer(&self, request: &Request, stream: &mut TcpStream) -> std::io::Result<()> {
        if self.mode == "modern" {
            return modern::answer(request, stream);
        }
        if self.mode.starts_with("sse") {
            return self.stream.answer(&self.mode, request, stream);
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/token") if self.mode == "telltale" => return telltale(request, stream),
            ("POST", "/token") => return token(request, stream),
            ("DELETE", _) if self.mode == "keeps-session" => {
                return plain(stream, "405 Method Not Allowed", "text/plain", "", b"sessions stay");
            }
            ("DELETE", _) => {
                let session = request.header("mcp-session-id").unwrap_or("none").to_owned();
                self.deleted.lock().expect("sessions").push(session);
                return plain(stream, "200 OK", "text/plain", "", b"");
            }
            ("GET", _) => return self.listen(request, stream),
            _ => {}
        }
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return plain(stream, "400 Bad Request", "text/plain", "", b"Parse error: not JSON");
        };
        let id = message["id"].clone();
        if self.standalone.takes(&message) {
            return plain(stream, "202 Accepted", "text/plain", "", b"");
        }
        let stray = if self.mode == "headers" { STRAY } else { "" };
        let result = match message["method"].as_str() {
            Some("initialize") if request.header("mcp-session-id").is_some() => {
                return plain(stream, "400 Bad Request", "text/plain", "", b"a session begins in no session");
            }
            Some("initialize") => {
                let session = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
                let version = message["params"]["protocolVersion"].clone();
                let info = json!({"name": "fixture-http", "version": "1"});
                let result = json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info});
                let header = format!("mcp-session-id: session-{session}\r\n");
                let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
                return plain(stream, "200 OK", "application/json", &header, body.as_bytes());
            }
            Some("tools/call") => return self.call(request, &id, &message, stream),
            Some("ping") => json!({}),
            Some("tools/list") if self.mode == "headers" => {
                let heard = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>();
                let properties = json!({"heard": {"type": "string", "default": heard.join("\n")}});
                let schema = json!({"type": "object", "properties": properties, "required": ["heard"]});
                json!({"tools": [{"name": "echo", "inputSchema": schema}]})
            }
            Some("tools/list") => json!({"tools": []}),
            Some(_) if id.is_null() && self.mode == "picky" => {
                return plain(stream, "400 Bad Request", "text/plain", "", b"an id is missing");
            }
            _ if id.is_null() => return plain(stream, "202 Accepted", "text/plain", "", b""),
            _ => {
                let error = json!({"code": -32601, "message": "unknown method"});
                let body = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
                return plain(stream, "200 OK", "application/json", stray, body.as_bytes());
            }
        };
        let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        plain(stream, "200 OK", "application/json", stray, body.as_bytes())
    }

    /// A GET: resumes what `--http-mode resume` cut short, and opens the stream of `listen`; else there is none.
    fn listen(&self, request: &Request, stream: &mut TcpStream) -> std::io::Result<()> {
        match request.header("last-event-id") {
            Some(id) if self.mode == "resume" => {
                stream.write_all(EVENTS)?;
                chunk(stream, &format!("id: 2\ndata: {}\n\n", text_result(&json!(id), "resumed")))?;
                stream.write_all(b"0\r\n\r\n")
            }
            _ if matches!(self.mode.as_str(), "listen" | "astray") => self.standalone.open(stream),
            _ => plain(stream, "405 Method Not Allowed", "text/plain", "", b"no stream here"),
        }
    }

    fn call(&self, request: &Request, id: &Value, message: &Value, stream: &mut TcpStream) -> std::io::Result<()> {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        let echoed = message["params"]["arguments"]["message"].as_str().unwrap_or_default();
        let json = "application/json";
        match self.mode.as_str() {
            "plain-error" => plain(stream, "500 Internal Server Error", "text/plain", "", b"the database is down"),
            "gateway" => {
                let wanted = "www-authenticate: Bearer realm=\"mcp\"\r\n";
                plain(stream, "401 Unauthorized", json, wanted, br#"{"error":"invalid_token"}"#)
            }
            "busy" => plain(stream, "429 Too Many Requests", "text/plain", "retry-after: 30\r\n", b"slow down"),
            "cut-event" => {
                stream.write_all(EVENTS)?;
                chunk(stream, &format!("data: {}\n", text_result(id, echoed)))?;
                stream.write_all(b"0\r\n\r\n")
            }
            "accepted" => plain(stream, "202 Accepted", json, "", text_result(id, echoed).as_bytes()),
            "broken-result" => plain(stream, "500 Internal Server Error", json, "", text_result(id, echoed).as_bytes()),
            "renamed" => plain(stream, "200 OK", json, "mcp-session-id: other\r\n", text_result(id, echoed).as_bytes()),
            "astray" => {
                self.standalone.say(&text_result(id, echoed))?;
                std::thread::sleep(Duration::from_secs(1));
                plain(stream, "202 Accepted", "text/plain", "", b"")
            }
            "packed-events" => {
                plain(stream, "200 OK", "text/event-stream", "content-encoding: gzip\r\n", b"\x1f\x8b\n\n")
            }
            "packed" => plain(stream, "200 OK", json, "content-encoding: gzip\r\n", b"\x1f\x8b\x08"),
            "truncated-sse" => {
                stream.write_all(EVENTS)?;
                chunk(stream, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"res")?;
                stream.shutdown(Shutdown::Both)
            }
            "slow-body" => {
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")?;
                loop {
                    std::thread::sleep(Duration::from_millis(20));
                    stream.write_all(b" ")?;
                }
            }
            "wrong-type" => plain(stream, "200 OK", "text/html", "", text_result(id, echoed).as_bytes()),
            "session-lost" if calls == 0 || request.header("mcp-session-id") == Some("session-1") => {
                plain(stream, "404 Not Found", "text/plain", "", b"no such session")
            }
            "session-lost-rpc" if calls == 0 || request.header("mcp-session-id") == Some("session-1") => {
                let body = br#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}"#;
                plain(stream, "404 Not Found", json, "", body)
            }
            "redirect-loop" => {
                let to = format!("location: http://{}/mcp\r\n", request.header("host").unwrap_or_default());
                plain(stream, "307 Temporary Redirect", "text/plain", &to, b"")
            }
            "huge" => plain(stream, "200 OK", json, "", text_result(id, &"x".repeat(50 * 1024 * 1024)).as_bytes()),
            "endless-body" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\"")?;
                endless(stream, &"x".repeat(1 << 16))
            }
            "endless-error" => {
                stream.write_all(b"HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain\r\n\r\n")?;
                endless(stream, &"x".repeat(1 << 16))
            }
            "endless-event" => {
                stream.write_all(EVENTS_UNTIL_CLOSED).and(stream.write_all(b"data: "))?;
                endless(stream, &"x".repeat(1 << 16))
            }
            "endless-comments" => {
                stream.write_all(EVENTS_UNTIL_CLOSED)?;
                endless(stream, &":\n".repeat(1 << 15))
            }
            "endless-events" => {
                stream.write_all(EVENTS_UNTIL_CLOSED)?;
                let params = json!({"level": "info", "data": "x".repeat(1000)});
                let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
                endless(stream, &format!("id: 1\ndata: {log}\n\n").repeat(100))
            }
            "dies" => {
                eprintln!("something went wrong");
                std::process::exit(7)
            }
            "dies-midway" => {
                stream.write_all(EVENTS).and(chunk(stream, "data: {\"jsonrpc\":"))?;
                std::process::exit(7)
            }
            "half-closed" => stream.shutdown(Shutdown::Write),
            "no-http" => stream.write_all(b"SSH-2.0-fixture\r\n").and(stream.shutdown(Shutdown::Both)),
            "resume" | "resume-refused" => {
                stream.write_all(EVENTS)?;
                // The answer that is resumed names the event after which it comes, so that it is the id.
                chunk(stream, &format!("retry: 10\nid: {}\ndata:\n\n", id.as_str().unwrap_or_default()))?;
                stream.write_all(b"0\r\n\r\n")
            }
            "listen" => {
                let heard = self.standalone.ask(request)?;
                plain(stream, "200 OK", json, "", text_result(id, &heard).as_bytes())
            }
            "close-after" => {
                plain(stream, "200 OK", json, "", text_result(id, echoed).as_bytes())?;
                stream.shutdown(Shutdown::Both)
            }
            "headers" => {
                let mut seen: Vec<String> =
                    request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                seen.push(request.path.clone());
                seen.extend(self.deleted.lock().expect("sessions").iter().map(|session| format!("deleted: {session}")));
                plain(stream, "200 OK", json, STRAY, text_result(id, &seen.join("\n")).as_bytes())
            }
            "events" => {
                stream.write_all(EVENTS)?;
                chunk(stream, ": keep-alive\n\n")?;
                let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
                chunk(stream, &format!("event:\ndata: {log}\n\n"))?;
                chunk(stream, &format!("event: message\ndata: {}\n\n", text_result(id, echoed)))?;
                stream.write_all(b"0\r\n\r\n")
            }
            _ => plain(stream, "200 OK", json, "", text_result(id, echoed).as_bytes()),
        }
    }
}

pub(crate) fn text_result(id: &Value, text: &str) -> String {
    let result = json!({"content": [{"type": "text", "text": text}]});
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// A token for client credentials; the secret comes in the header.
fn token(request: &Request, stream: &mut TcpStream) -> std::io::Result<()> {
    let known = request.header("authorization").is_some_and(|header| header.starts_with("Basic "));
    let asked = request.body.starts_with(b"grant_type=client_credentials");
    match known && asked {
        true => {
            let body = json!({"access_token": "fetched-token-canary", "token_type": "Bearer"}).to_string();
            plain(stream, "200 OK", "application/json", "", body.as_bytes())
        }
        false => plain(stream, "401 Unauthorized", "application/json", "", b"{\"error\":\"invalid_client\"}"),
    }
}

/// An issuer that tells in its error whatever it was told.
fn telltale(request: &Request, stream: &mut TcpStream) -> std::io::Result<()> {
    let error = format!("{:?} {}", request.headers, String::from_utf8_lossy(&request.body));
    plain(stream, "400 Bad Request", "application/json", "", json!({"error": error}).to_string().as_bytes())
}
