//! HTTP/1.1 as far as the demo server needs it: requests read within limits, answers with a length, and streams of events.

use super::{LOOK, PATH};
use crate::mcp::era::PROTOCOL_VERSION;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

/// More than any client sends in one line of a head.
const MOST_LINE: u64 = 16 << 10;
/// More header fields than any client sends.
const MOST_FIELDS: usize = 100;
/// More than a message to a demo needs.
const MOST_BODY: usize = 4 << 20;

/// A request, read whole.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    fields: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Reads a request; none at the end of the connection. What is wrong with it is `InvalidData`.
pub(super) fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
    let Some(first) = line(reader)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1")) = (words.next(), words.next(), words.next()) else {
        return Err(wrong("this is no HTTP/1.1"));
    };
    let path = target.split('?').next().unwrap_or(PATH).to_owned();
    let mut request = Request { method: method.to_owned(), path, fields: Vec::new(), body: Vec::new() };
    loop {
        let field = line(reader)?.ok_or_else(|| wrong("the head ends in the middle"))?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':').ok_or_else(|| wrong("a header field has no colon"))?;
        if request.fields.len() == MOST_FIELDS {
            return Err(wrong("the head has too many fields"));
        }
        request.fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.header("transfer-encoding").is_some() {
        return Err(wrong("a body must have a `Content-Length`"));
    }
    let length = request.header("content-length").map_or(Ok(0), str::parse::<usize>);
    let length = length.ok().filter(|length| *length <= MOST_BODY).ok_or_else(|| wrong("the body is too long"))?;
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

/// A line without its end; none when nothing comes any more.
fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    if reader.take(MOST_LINE).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    match line.strip_suffix('\n') {
        Some(whole) => Ok(Some(whole.trim_end_matches('\r').to_owned())),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "a line of the head is too long or cut short")),
    }
}

impl Request {
    /// The value of a header field.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether `Accept` holds a media type.
    pub(super) fn accepts(&self, media: &str) -> bool {
        let accepted = self.header("accept").unwrap_or_default().split(',');
        accepted
            .map(|range| range.split(';').next().unwrap_or_default().trim())
            .any(|range| range == media || range == "*/*")
    }

    /// Whether neither a page of somewhere else nor a name that was bent to this machine leads here.
    pub(super) fn is_local(&self) -> bool {
        let local = |authority: &str| {
            let host = match authority.rsplit_once(':') {
                Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
                _ => authority,
            };
            ["localhost", "127.0.0.1", "[::1]"].contains(&host)
        };
        let origin = self.header("origin").is_none_or(|origin| {
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            host.is_some_and(local)
        });
        origin && self.header("host").is_some_and(local)
    }

    /// What the headers of a request of the modern era say otherwise than its body.
    pub(super) fn contradicts(&self, message: &Value) -> Option<String> {
        let text = |path: &str| message.pointer(path).and_then(Value::as_str);
        let version = message.pointer("/params/_meta").and_then(|meta| meta.get(PROTOCOL_VERSION)?.as_str());
        let name = match text("/method") {
            Some("tools/call" | "prompts/get") => text("/params/name"),
            Some("resources/read") => text("/params/uri"),
            _ => None,
        };
        let said = [("MCP-Protocol-Version", version), ("Mcp-Method", text("/method")), ("Mcp-Name", name)];
        let differs = |(header, body): &(&str, Option<&str>)| {
            self.header(&header.to_ascii_lowercase()).map(decoded).as_deref() != *body
        };
        said.iter().find(|said| differs(said)).map(|(header, _)| format!("`{header}` is not what the body says"))
    }
}

/// A header as it is meant: what cannot stand in one comes in base64, with a mark.
fn decoded(value: &str) -> String {
    let marked = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = marked.and_then(|marked| STANDARD.decode(marked).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_owned())
}

/// Answers with a status and a sentence.
pub(super) fn status(client: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    whole(client, status, "text/plain; charset=utf-8", "", text.as_bytes())
}

/// Answers with a message.
pub(super) fn json(client: &mut TcpStream, status: &str, header: &str, message: &Value) -> io::Result<()> {
    whole(client, status, "application/json", header, message.to_string().as_bytes())
}

fn whole(client: &mut TcpStream, status: &str, media: &str, header: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\n{header}\r\n");
    client.write_all(&[head.as_bytes(), body].concat())
}

/// Whether the client closed the connection while it is waited with.
pub(super) fn is_gone(client: &TcpStream) -> bool {
    let _ = client.set_nonblocking(true);
    let seen = client.peek(&mut [0]);
    let _ = client.set_nonblocking(false);
    match seen {
        Ok(count) => count == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

/// An answer that is a stream of events.
pub(super) struct Events<'a>(&'a mut TcpStream);

impl Events<'_> {
    pub(super) fn begin<'a>(client: &'a mut TcpStream, header: &str) -> io::Result<Events<'a>> {
        let media = "content-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n";
        client.write_all(format!("HTTP/1.1 200 OK\r\n{media}{header}\r\n").as_bytes())?;
        Ok(Events(client))
    }

    pub(super) fn send(&mut self, message: &Value) -> io::Result<()> {
        let event = format!("event: message\ndata: {message}\n\n");
        self.0.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
    }

    /// Sends what comes: until an answer has, nothing can come any more, or the client is gone.
    pub(super) fn follow(mut self, messages: &Receiver<Value>) -> io::Result<()> {
        loop {
            match messages.recv_timeout(LOOK) {
                Ok(message) => {
                    self.send(&message)?;
                    if message.get("method").is_none() {
                        return self.end();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return self.end(),
                Err(RecvTimeoutError::Timeout) if is_gone(self.0) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    pub(super) fn end(self) -> io::Result<()> {
        self.0.write_all(b"0\r\n\r\n")
    }
}
