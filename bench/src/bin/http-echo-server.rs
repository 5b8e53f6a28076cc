//! The least a server over HTTP can do: `http-echo-server PORT`, until its input ends.
//!
//! It answers `initialize` with a session, `tools/call` with the message it was sent, and everything else with an empty
//! result or 202. Connections are kept alive; each has a thread.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("{}", listener.local_addr()?.port());
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || serve(stream));
    }
    Ok(())
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut body) = (String::new(), Vec::new());
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let post = line.starts_with("POST");
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        body.resize(length, 0);
        io::Read::read_exact(&mut reader, &mut body)?;
        stream.write_all(&answer(post, &body))?;
    }
}

fn answer(post: bool, body: &[u8]) -> Vec<u8> {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    if !post {
        return b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_vec();
    }
    if message.get("id").is_none() {
        return b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec();
    }
    let result = match message["method"].as_str() {
        Some("initialize") => {
            let version = &message["params"]["protocolVersion"];
            json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}})
        }
        Some("tools/call") => {
            json!({"content": [{"type": "text", "text": message["params"]["arguments"]["message"]}]})
        }
        _ => json!({}),
    };
    let text = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: one\r\n";
    format!("{head}content-length: {}\r\n\r\n{text}", text.len()).into_bytes()
}
