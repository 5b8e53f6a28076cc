//! An MCP server that costs as little as possible: it scans a line for what it needs, and answers.
//!
//! Tools: `echo` returns its `message`; `large` returns a text of as many bytes as its `message` says. It is no JSON
//! parser: it relies on the compact, unescaped requests that the benchmarks send.

use std::io::{self, BufRead, BufWriter, Write};

const INITIALIZED: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#;
const TOOLS: &str =
    r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"large","inputSchema":{"type":"object"}}]}"#;

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some(id) = after(&line, "\"id\":").map(number_or_text) else { continue };
        write!(output, "{{\"jsonrpc\":\"2.0\",\"id\":{id},")?;
        match after(&line, "\"method\":\"").map(text) {
            Some("initialize") => write!(output, "\"result\":{INITIALIZED}")?,
            Some("ping") => write!(output, "\"result\":{{}}")?,
            Some("tools/list") => write!(output, "\"result\":{TOOLS}")?,
            Some("tools/call") => call(&mut output, &line)?,
            _ => write!(output, "\"error\":{{\"code\":-32601,\"message\":\"unknown method\"}}")?,
        }
        output.write_all(b"}\n")?;
        output.flush()?;
    }
}

fn call(output: &mut impl Write, line: &str) -> io::Result<()> {
    let message = after(line, "\"message\":\"").map(text).unwrap_or_default();
    output.write_all(b"\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"")?;
    match after(line, "\"name\":\"").map(text) {
        Some("large") => {
            let chunk = [b'x'; 1024];
            let mut left = message.parse::<usize>().unwrap_or_default();
            while left > 0 {
                let size = left.min(chunk.len());
                output.write_all(&chunk[..size])?;
                left -= size;
            }
        }
        _ => output.write_all(message.as_bytes())?,
    }
    output.write_all(b"\"}]}")
}

fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.find(key).map(|place| &line[place + key.len()..])
}

fn text(rest: &str) -> &str {
    &rest[..rest.find('"').unwrap_or(rest.len())]
}

fn number_or_text(rest: &str) -> &str {
    &rest[..rest.find([',', '}']).unwrap_or(rest.len())]
}
