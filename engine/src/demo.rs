//! A small but complete MCP server inside the binary, for the quickstart and the docs.
//!
//! It speaks both eras, over stdio or over HTTP, whichever the client begins with: tools, resources with subscriptions, prompts,
//! completion, logging, progress and cancellation, and it asks the client for sampling, elicitation and roots when the
//! client has declared them. One thread reads; a call that may wait runs on a thread of its own, so that pings,
//! cancellations and the client's answers are read meanwhile.

mod completion;
mod connection;
mod dispatch;
mod http;
mod lifecycle;
mod modern;
mod prompts;
mod reply;
mod resources;
mod tools;

use connection::Connection;
use std::io::{self, BufRead, Write};

/// Serves this process's stdin and stdout until the input ends, or else clients of a port.
pub fn main(port: Option<u16>) -> io::Result<()> {
    match port {
        Some(port) => http::main(port),
        None => serve(io::stdin().lock(), io::stdout()),
    }
}

/// Serves one client until `input` ends; calls still under way are dropped then.
///
/// A client that stops reading ends the conversation without an error.
pub fn serve(mut input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
    let connection = Connection::new(Box::new(output));
    let outcome = std::thread::scope(|scope| {
        let mut line = Vec::new();
        let outcome = loop {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => break Ok(()),
                Err(error) => break Err(error),
                Ok(_) => {}
            }
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            if let Err(error) = dispatch::receive(&connection, scope, text) {
                break Err(error);
            }
        };
        connection.hang_up();
        outcome
    });
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
