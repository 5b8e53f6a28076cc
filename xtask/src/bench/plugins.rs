//! What a plugin costs: a warm call against a raw round trip on the same pipe, and one that is configured and not used.

use super::measure::interleaved;
use super::table::Table;
use super::{Contest, Repetitions, milliseconds};
use crate::engine::built;
use crate::process::{output, root};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

pub(super) fn measure(contest: &Contest, repetitions: &Repetitions, table: &mut Table) -> Result<()> {
    println!("plugins …");
    let rust = built("release")?.join("near");
    let python = root().join("examples/plugins/near-python/near.py");
    for (plugin, what, most) in [
        (rust.as_path(), "a call of a warm matcher plugin in Rust, against a raw round trip on its pipe", 1.5),
        (python.as_path(), "the same in Python, against the script's own floor", 1.3),
    ] {
        let (raw, ours) = (floor(plugin)?, call(contest, plugin)?);
        let figures = [format!("{raw:.1} µs"), format!("{ours:.1} µs"), "–".into()];
        let ratio = ours / raw;
        table.row(what, figures, format!("{ratio:.2}×"), &format!("≤ {most}×"), ratio <= most);
    }
    let folder = &contest.inputs.folder;
    let config = std::fs::read_to_string(folder.join("mcptest.yml"))?;
    let with = format!("{config}\nplugins: {{ idle: {{ command: {}, tools: [idle] }} }}\n", rust.display());
    std::fs::write(folder.join("plugin.yml"), with)?;
    let suite = "calls-1000.test.mcp.yml";
    let [without, idle] = interleaved(
        repetitions.starts,
        [&mut || contest.mcptest("mcptest.yml", suite), &mut || contest.mcptest("plugin.yml", suite)],
    )?;
    let more = idle.milliseconds() - without.milliseconds();
    let ours = format!("{} with, {} without", milliseconds(&idle), milliseconds(&without));
    let what = "1,000 calls with a plugin that is configured and not used, whole process";
    table.row(what, ["–".into(), ours, "–".into()], format!("{more:+.1} ms"), "≤ +1 ms", more <= 1.0);
    Ok(())
}

/// Microseconds of a round trip that looks at nothing.
fn floor(plugin: &Path) -> Result<f64> {
    let printed = output(Command::new(built("release")?.join("pipe")).arg(plugin))?;
    printed.trim().parse().context("`pipe` prints a number")
}

/// Microseconds of a call by the engine.
fn call(contest: &Contest, plugin: &Path) -> Result<f64> {
    let mut command = contest.engine.command(&["extension", "bench"]);
    let printed = output(command.arg(plugin).args(["--expected", "[3,0.5]", "--actual", "3.2"]))?;
    let line = printed.lines().find(|line| line.trim_start().starts_with("a call ")).context("there is `a call`")?;
    line.split_whitespace().nth(2).and_then(|number| number.parse().ok()).context("`a call` has a number")
}
