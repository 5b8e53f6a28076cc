//! What the sandbox costs: the same patterns judged by the built-in `$regex` and by the component of `matchers/regex`.

use super::measure::{Sample, interleaved};
use super::table::Table;
use super::{Contest, Repetitions, milliseconds};
use crate::guests;
use crate::process::root;
use anyhow::Result;
use std::process::Command;

pub(super) fn measure(contest: &Contest, repetitions: &Repetitions, table: &mut Table) -> Result<()> {
    println!("a matcher in its sandbox …");
    guests::build_package("matchers/regex")?;
    let component = guests::component(&root().join("matchers/regex"))?.display().to_string();
    let with = |suite: &str| -> Command {
        let mut command = contest.mcptest("mcptest.yml", suite);
        command.args(["--matcher", &component]);
        command
    };
    let [native, sandboxed] = interleaved(
        repetitions.calls,
        [&mut || contest.mcptest("mcptest.yml", "regex-10000.test.mcp.yml"), &mut || with("regex-10000.test.mcp.yml")],
    )?;
    let more = (sandboxed.milliseconds() - native.milliseconds()) / 10.0;
    let per_step = |sample: &Sample| format!("{:.1} µs", sample.milliseconds() / 10.0);
    let ours = format!("{} sandboxed, {} built in", per_step(&sandboxed), per_step(&native));
    let what = "10,000 steps with a regex check each, whole run, per step";
    table.row(what, ["–".into(), ours, "–".into()], format!("{more:+.1} µs"), "≤ +4 µs", more <= 4.0);
    let [without, warm] = interleaved(
        repetitions.starts,
        [&mut || contest.mcptest("mcptest.yml", "regex-1.test.mcp.yml"), &mut || with("regex-1.test.mcp.yml")],
    )?;
    let more = warm.milliseconds() - without.milliseconds();
    let ours = format!("{} with, {} without", milliseconds(&warm), milliseconds(&without));
    let what = "one step with a Rust matcher from a warm cache, whole process";
    table.row(what, ["–".into(), ours, "–".into()], format!("{more:+.1} ms"), "≤ +5 ms", more <= 5.0);
    Ok(())
}
