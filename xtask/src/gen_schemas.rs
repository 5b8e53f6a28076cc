//! `cargo xtask gen`: the JSON Schemas in docs/schemas are what the engine prints.

use crate::engine::Engine;
use crate::process::{output, root};
use anyhow::{Result, ensure};
use std::path::PathBuf;

const NAMES: [&str; 5] = ["suite", "config", "event", "ipc", "plugin"];

/// Writes every schema.
pub fn write() -> Result<()> {
    let engine = Engine::build(false)?;
    for name in NAMES {
        std::fs::create_dir_all(root().join("docs").join("schemas"))?;
        std::fs::write(file(name), printed(&engine, name)?)?;
        println!("wrote docs/schemas/{name}.json");
    }
    Ok(())
}

/// Whether every schema is what the engine prints.
pub fn check(engine: &Engine) -> Result<()> {
    for name in NAMES {
        let stored = std::fs::read_to_string(file(name)).unwrap_or_default();
        ensure!(stored == printed(engine, name)?, "docs/schemas/{name}.json is out of date: run `cargo xtask gen`");
    }
    Ok(())
}

fn printed(engine: &Engine, name: &str) -> Result<String> {
    output(&mut engine.command(&["schema", name]))
}

fn file(name: &str) -> PathBuf {
    root().join("docs").join("schemas").join(format!("{name}.json"))
}
