//! The way out: one line per message, spoilt as the flags say.

use crate::options::Options;
use serde_json::Value;
use std::io::Write;
use std::sync::Mutex;

/// Stands in a text for what JSON text cannot be made to hold by serialising it.
pub(crate) const SPOILT_TEXT: &str = "\u{E000}";
/// Stands as a string for a number or a nesting that serialising refuses.
pub(crate) const SPOILT_VALUE: &str = "\u{E001}";

const GARBAGE: [&[u8]; 5] =
    [b"%%% not a message %%%", b"{\"jsonrpc\": \"2.0\", oops", b"\x00\x01\x02\xFE", b"[INFO] starting", b"42"];

/// Standard output.
#[derive(Debug)]
pub(crate) struct Wire {
    options: Options,
    written: Mutex<usize>,
}

impl Wire {
    pub(crate) fn new(options: Options) -> Wire {
        Wire { options, written: Mutex::new(0) }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Sends a message, and whatever the flags put before it.
    pub(crate) fn send(&self, message: &Value) {
        let mut written = self.written.lock().expect("no writer panics");
        if self.options.bom && *written == 0 {
            self.write(b"\xEF\xBB\xBF");
        }
        if self.options.noisy_stderr {
            eprintln!("log: message {written}");
        }
        if self.options.noisy_stdout {
            self.line(format!("log: message {written}").as_bytes());
        }
        if self.options.garbage {
            self.line(GARBAGE[*written % GARBAGE.len()]);
        }
        *written += 1;
        self.line(&self.spoil(message.to_string()));
    }

    /// Writes a line of anything.
    pub(crate) fn text(&self, text: &str) {
        let _one_at_a_time = self.written.lock().expect("no writer panics");
        self.line(text.as_bytes());
    }

    fn line(&self, line: &[u8]) {
        let end: &[u8] = if self.options.crlf { b"\r\n" } else { b"\n" };
        self.write(&[line, end].concat());
    }

    fn write(&self, bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        let size = if self.options.split_writes { 1 } else { bytes.len() };
        for piece in bytes.chunks(size.max(1)) {
            // A client that is gone is no reason to make noise.
            if stdout.write_all(piece).and_then(|()| stdout.flush()).is_err() {
                return;
            }
        }
    }

    fn spoil(&self, line: String) -> Vec<u8> {
        let value = match (&self.options.number, self.options.deep) {
            (Some(number), _) => number.clone(),
            (None, depth) => "[".repeat(depth.unwrap_or(0)) + &"]".repeat(depth.unwrap_or(0)),
        };
        let line = line.replace(&format!("\"{SPOILT_VALUE}\""), &value);
        if self.options.lone_surrogate {
            return line.replace(SPOILT_TEXT, "\\ud83d").into_bytes();
        }
        let mut pieces = line.split(SPOILT_TEXT);
        let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
        for piece in pieces {
            bytes.push(0xFF);
            bytes.extend(piece.as_bytes());
        }
        bytes
    }
}
