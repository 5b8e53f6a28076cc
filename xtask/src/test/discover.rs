//! What `mcptest discover` writes about every real server is valid, and runs.

use super::{Findings, suites};
use crate::engine::Engine;
use crate::process::{output, root};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// Discovers each server of examples/servers, and runs what was written.
pub fn check(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    let config = root().join("examples").join("servers").join("mcptest.yml");
    let names = match server_names(&config) {
        Ok(names) => names,
        Err(error) => return Err(error).into(),
    };
    for name in names {
        findings.note(discovered(engine, &config, &name).with_context(|| format!("discovering `{name}`")));
    }
    findings
}

fn discovered(engine: &Engine, config: &Path, name: &str) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("mcptest-discover-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("found.test.mcp.yml").display().to_string();
    let config = config.display().to_string();
    let run = || {
        let args =
            ["discover", "--capture", "--timeout", "20s", "--config", &config, "--server", name, "--output", &file];
        output(&mut engine.command(&args))?;
        output(&mut engine.command(&["check", &file, "--config", &config]))?;
        suites::passes(engine, &root(), &[&file, "--config", &config])
    };
    let outcome = run();
    std::fs::remove_dir_all(&folder)?;
    outcome
}

/// The keys below `servers:`, two spaces in.
fn server_names(config: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(config).with_context(|| format!("cannot read {}", config.display()))?;
    let name = |line: &str| {
        let key = line.strip_prefix("  ")?.strip_suffix(':')?;
        (!key.starts_with([' ', '#'])).then(|| key.to_owned())
    };
    let names: Vec<String> = text.lines().filter_map(name).collect();
    ensure!(names.len() >= 10, "only {} servers are in {}", names.len(), config.display());
    Ok(names)
}
