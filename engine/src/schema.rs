//! The keys of suites and configs: one table each, from which the parser takes what it accepts, what it says about the
//! rest, and the JSON Schema that an editor can use.

mod config;
mod event;
mod expect;
mod extension;
mod ipc;
mod json;
mod step;
mod suite;
mod table;

pub use config::{AUTH, CLIENT, CONFIG, CONFIG_ONLY, SERVER, SHUTDOWN, TLS};
pub use expect::{CHECK, EXPECT, PERFORMANCE};
pub use extension::{EXTENSION, EXTENSION_LIMITS, IMPORTS, PLUGIN, SUBPROCESS_MATCHER};
pub(crate) use ipc::{closed, reference};
pub use step::{ACTIONS, CANCEL_AFTER, CASE, COMPLETE, LEVELS, RAW, STEP, TASK};
pub use suite::{ANSWER, CASE_ONLY, LANES, SUITE};
pub use table::{Key, Later, Table, Takes};

use serde_json::Value;

/// The JSON Schema (2020-12) of a suite file.
pub fn suite() -> Value {
    json::document(&SUITE, "mcptest suite")
}

/// The JSON Schema (2020-12) of a config file.
pub fn config() -> Value {
    json::document(&CONFIG, "mcptest config")
}

/// The JSON Schema (2020-12) of one event of the stream.
pub fn event() -> Value {
    event::document()
}

/// The JSON Schema (2020-12) of one frame of the coprocess protocol.
pub fn ipc() -> Value {
    ipc::document()
}

#[cfg(test)]
mod tests;
