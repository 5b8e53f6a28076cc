//! An event of a run, as a reporter reads it.

use serde::Deserialize;
use serde_json::Value;

/// One event: `{"seq":7,"at":"…","type":"step-finished","data":{…}}`. `mcptest schema event` describes every type; skip
/// those that you don't know.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// Position in the stream, from 1.
    pub seq: u64,
    /// When it happened, as RFC 3339 writes it.
    pub at: String,
    /// What happened: `test-finished`.
    #[serde(rename = "type")]
    pub kind: String,
    /// More about it, by kind.
    #[serde(default)]
    pub data: Value,
}

impl Event {
    /// A part of the data by JSON pointer, null where there is none: `event.get("/test/name")`.
    pub fn get(&self, pointer: &str) -> &Value {
        self.data.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// A part of the data as text, empty where there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.get(pointer).as_str().unwrap_or_default()
    }
}
