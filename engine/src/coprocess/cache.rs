//! Results of calls that may be repeated, kept between sessions in a folder that only its user can read.
//!
//! ```text
//! CACHE/calls/3f…a9.json    {"server": {"command": "node server.js", …}, "tool": "search", "arguments": {…}, "result": {…}}
//! ```
//!
//! Only a tool that the server marks read-only or idempotent is kept, and only when it succeeded. A hit needs no server.

use super::frame::Refusal;
use crate::cache::{Cleaned, sweep};
use crate::source::Json;
use serde::Deserialize;
use serde_json::{Map, json};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How the name of a file begins that is still being written.
const ASIDE: &str = ".new-";

/// Where results are kept.
pub fn place(root: &Path) -> PathBuf {
    root.join("calls")
}

/// Removes every result that is kept.
pub fn clean_calls(folder: &Path) -> io::Result<Cleaned> {
    let is_ours = |path: &Path| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let digest = name.strip_suffix(".json").is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digest || name.starts_with(ASIDE)
    };
    sweep(folder, is_ours)
}

/// What is done with results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// Kept ones are used.
    Read,
    /// New ones are kept.
    Write,
    /// Both.
    Readwrite,
    /// Neither.
    #[default]
    Off,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Read => "read",
            Mode::Write => "write",
            Mode::Readwrite => "readwrite",
            Mode::Off => "off",
        }
    }
}

/// The results of one server.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) mode: Mode,
    place: Option<PathBuf>,
    folder: Option<PathBuf>,
    /// The tools that may be kept, once they were asked for.
    pub(super) repeatable: Option<Vec<String>>,
}

impl Cache {
    /// Nothing is kept yet, nor looked up.
    pub(super) fn new(place: Option<PathBuf>) -> Cache {
        Cache { place, ..Cache::default() }
    }

    /// Changes what is done; the folder is made when it is first needed.
    pub(super) fn set(&mut self, mode: Mode) -> Result<(), Refusal> {
        if mode != Mode::Off && self.folder.is_none() {
            let folder = self.place.clone().ok_or_else(|| {
                Refusal::internal("there is no cache folder: neither `MCPTEST_CACHE_DIR` nor a home folder is set")
            })?;
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
            made.map_err(|error| Refusal::internal(format!("`{}` cannot be made: {error}", folder.display())))?;
            self.folder = Some(folder);
        }
        self.mode = mode;
        Ok(())
    }

    /// A kept result.
    pub(super) fn get(&self, server: &Json, tool: &str, arguments: &Map<String, Json>) -> Option<String> {
        if !matches!(self.mode, Mode::Read | Mode::Readwrite) {
            return None;
        }
        let text = std::fs::read_to_string(self.file(server, tool, arguments)?).ok()?;
        let entry: Json = serde_json::from_str(&text).ok()?;
        // The name of a file is a digest; what it is of stands inside.
        let same =
            entry["server"] == *server && entry["tool"] == tool && entry["arguments"] == Json::from(arguments.clone());
        same.then(|| entry["result"].to_string())
    }

    /// Whether a result would be kept.
    pub(super) fn writes(&self) -> bool {
        matches!(self.mode, Mode::Write | Mode::Readwrite)
    }

    /// Keeps a result; one that cannot be kept is asked for again next time.
    pub(super) fn put(&self, server: &Json, tool: &str, arguments: &Map<String, Json>, result: &str) {
        let result: Json = serde_json::from_str(result).unwrap_or_default();
        let failed = result.get("isError").is_some_and(|error| error == true);
        let repeatable = self.repeatable.as_ref().is_some_and(|tools| tools.iter().any(|name| name == tool));
        if failed || !repeatable || !self.writes() {
            return;
        }
        let entry = json!({ "server": server, "tool": tool, "arguments": arguments, "result": result });
        let (Some(folder), Some(file)) = (&self.folder, self.file(server, tool, arguments)) else { return };
        // Written aside and moved: two sessions may keep the same result at once.
        let written = tempfile::Builder::new().prefix(ASIDE).tempfile_in(folder).and_then(|mut aside| {
            aside.write_all(entry.to_string().as_bytes())?;
            aside.persist(file).map(drop).map_err(|error| error.error)
        });
        drop(written);
    }

    fn file(&self, server: &Json, tool: &str, arguments: &Map<String, Json>) -> Option<PathBuf> {
        let mut sorted: Vec<_> = arguments.iter().collect();
        sorted.sort_by_key(|(key, _)| *key);
        let key = json!([server, tool, sorted]).to_string();
        let digest = Sha256::digest(key.as_bytes());
        let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.folder.as_ref()?.join(format!("{name}.json")))
    }
}

/// The tools of a list that the server marks as safe to repeat.
pub(super) fn repeatable(tools: &[Json]) -> Vec<String> {
    let marked = |tool: &&Json| ["readOnlyHint", "idempotentHint"].iter().any(|hint| tool["annotations"][hint] == true);
    tools.iter().filter(marked).filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}
