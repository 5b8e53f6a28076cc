//! The standalone stream, opened by a GET: `--http-mode listen` asks the client on it before it answers a call, and
//! `astray` answers there.

use super::{EVENTS_UNTIL_CLOSED, Request};
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// How long the client may take to answer, and to open the stream.
const PATIENCE: Duration = Duration::from_secs(10);

/// The stream that is open, and what the client answered to what was asked on it.
#[derive(Default)]
pub(super) struct Standalone {
    stream: Mutex<Option<TcpStream>>,
    opened: Condvar,
    answer: Mutex<Option<Value>>,
    answered: Condvar,
}

impl Standalone {
    pub(super) fn open(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        stream.write_all(EVENTS_UNTIL_CLOSED)?;
        *self.stream.lock().expect("a stream") = Some(stream.try_clone()?);
        self.opened.notify_all();
        Ok(())
    }

    /// Takes in the answer of the client, if a message is one.
    pub(super) fn takes(&self, message: &Value) -> bool {
        let is_answer = message.get("method").is_none() && message["id"] == "asked";
        if is_answer {
            *self.answer.lock().expect("an answer") = Some(message["result"].clone());
            self.answered.notify_all();
        }
        is_answer
    }

    /// Says something on the stream. It may be that its client sees it open before we do.
    pub(super) fn say(&self, message: &str) -> std::io::Result<()> {
        let open = self.stream.lock().expect("a stream");
        let (mut open, _) =
            self.opened.wait_timeout_while(open, PATIENCE, |stream| stream.is_none()).expect("a stream");
        let stream = open.as_mut().ok_or(ErrorKind::NotConnected)?;
        stream.write_all(format!("data: {message}\n\n").as_bytes())
    }

    /// Says something on the stream, then asks there for the roots; the answer as text.
    pub(super) fn ask(&self, request: &Request) -> std::io::Result<String> {
        let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
        let ask = json!({"jsonrpc": "2.0", "id": "asked", "method": "roots/list"});
        self.say(&log.to_string())?;
        self.say(&ask.to_string())?;
        let answer = self.answer.lock().expect("an answer");
        let (mut answer, waited) =
            self.answered.wait_timeout_while(answer, PATIENCE, |answer| answer.is_none()).expect("an answer");
        let session = request.header("mcp-session-id").unwrap_or_default();
        match answer.take() {
            Some(answer) if !waited.timed_out() => Ok(format!("{session}: {answer}")),
            _ => Err(ErrorKind::TimedOut.into()),
        }
    }
}
