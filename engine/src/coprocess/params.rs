//! The params of every method: closed shapes.

use super::cache;
use crate::source::Json;
use serde::Deserialize;
use serde_json::Map;
use std::path::PathBuf;

/// Of a method that takes none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// `coprocess/handshake`; the version is looked at before the rest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape is of interest")]
pub(super) struct Handshake {
    protocol_version: u64,
    sdk: Option<String>,
    sdk_version: Option<String>,
}

/// `mcp.call`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Option<Map<String, Json>>,
}

/// `mcp.readResource`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub(super) uri: String,
}

/// `mcp.callPrompt`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    pub(super) prompt: String,
    pub(super) arguments: Option<Map<String, Json>>,
}

/// `mcp.suite.plan`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Path {
    pub(super) path: String,
}

/// `mcp.suite.run`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Id {
    pub(super) id: String,
}

/// `mcp.cassette.set_mode`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CassetteMode {
    pub(super) mode: Recording,
    pub(super) path: Option<PathBuf>,
}

/// What is done with a cassette.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Recording {
    Record,
    Replay,
    Off,
}

/// `mcp.cache.set_mode`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CacheMode {
    pub(super) mode: cache::Mode,
}
