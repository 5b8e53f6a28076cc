//! The HTTP+SSE transport of 2024-11-05: one stream, whose first event says where to send, and on which every answer comes.
//!
//! `sse` is well behaved, `sse-ends` closes the stream at `tools/call`, `sse-elsewhere` sends the client to another server,
//! `sse-refused` has no stream for anybody, `sse-posted` answers in the body of the POST.

use super::http::{EVENTS_UNTIL_CLOSED, Request, plain, text_result};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;

/// The stream that is open.
#[derive(Default)]
pub(crate) struct Stream(Mutex<Option<TcpStream>>);

impl Stream {
    pub(crate) fn answer(&self, mode: &str, request: &Request, stream: &mut TcpStream) -> std::io::Result<()> {
        if mode == "sse-refused" {
            let wanted = "www-authenticate: Bearer realm=\"mcp\"\r\n";
            return plain(stream, "401 Unauthorized", "text/plain", wanted, b"who are you?");
        }
        if request.method == "GET" {
            return self.open(mode, stream);
        }
        let message = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let id = &message["id"];
        if mode == "sse-posted" && !id.is_null() {
            return plain(stream, "200 OK", "application/json", "", text_result(id, "posted").as_bytes());
        }
        plain(stream, "202 Accepted", "text/plain", "", b"")?;
        let result = match message["method"].as_str() {
            Some("initialize") => {
                let info = json!({"name": "fixture-sse", "version": "1"});
                let version = message["params"]["protocolVersion"].clone();
                json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
            }
            Some("tools/call") if mode == "sse-ends" => return self.close(),
            Some("tools/call") => {
                let text = message["params"]["arguments"]["message"].as_str().unwrap_or_default();
                return self.say(&text_result(id, text));
            }
            Some(_) if !id.is_null() => json!({}),
            _ => return Ok(()),
        };
        self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    }

    fn open(&self, mode: &str, stream: &mut TcpStream) -> std::io::Result<()> {
        let port = stream.local_addr()?.port();
        let to = match mode {
            "sse-elsewhere" => format!("http://localhost:{port}/messages"),
            _ => "messages?session=1&back=http://example.com/".to_owned(),
        };
        // Kept before it is told of: the first message may come while the rest of this still runs.
        let mut open = self.0.lock().expect("a stream");
        *open = Some(stream.try_clone()?);
        stream.write_all(EVENTS_UNTIL_CLOSED)?;
        stream.write_all(format!("event: endpoint\ndata: {to}\n\n").as_bytes())
    }

    fn say(&self, message: &str) -> std::io::Result<()> {
        let mut open = self.0.lock().expect("a stream");
        let stream = open.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
        stream.write_all(format!("event: message\ndata: {message}\n\n").as_bytes())
    }

    fn close(&self) -> std::io::Result<()> {
        let open = self.0.lock().expect("a stream").take();
        open.map_or(Ok(()), |stream| stream.shutdown(Shutdown::Both))
    }
}
