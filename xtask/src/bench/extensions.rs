//! What extensions cost: against the same code called natively, against the built-in `$regex`, at the start, in memory.

use super::measure::{Sample, interleaved, peak_memory};
use super::table::Table;
use super::{Contest, Repetitions, figures, milliseconds};
use crate::engine::built;
use crate::process::{output, root};
use crate::{guests, languages, tools};
use anyhow::Result;
use std::process::Command;

/// Workers whose instances live at once, and what each may take.
const WORKERS: usize = 100;
const MEGABYTES_EACH: f64 = 1.0;

pub(super) fn measure(contest: &Contest, repetitions: &Repetitions, table: &mut Table) -> Result<()> {
    println!("a matcher in its sandbox …");
    guests::build_package("matchers/regex")?;
    let regex = guests::component(&root().join("matchers/regex"))?.display().to_string();
    calls(&regex, table)?;
    steps(contest, repetitions, &regex, table)?;
    let warm = "one step with a Rust matcher from a warm cache, against none, whole process";
    start(contest, repetitions, [warm, "regex-1.test.mcp.yml", "regex-1.test.mcp.yml", &regex], 5.0, table)?;
    memory(contest, &regex, table)?;
    cold(contest, repetitions, &regex, table)?;
    println!("a matcher in Python …");
    tools::install_languages()?;
    let near = languages::folder().join("near-python.wasm");
    languages::build(&contest.engine, &root().join("examples/extensions/near/python"), &near)?;
    let warm = "one step with a Python matcher from a warm cache, against none, whole process";
    let near = near.display().to_string();
    start(contest, repetitions, [warm, "calls-1.test.mcp.yml", "near-1.test.mcp.yml", &near], 10.0, table)
}

impl Contest {
    fn with(&self, config: &str, suite: &str, matcher: &str) -> Command {
        let mut command = self.mcptest(config, suite);
        command.args(["--matcher", matcher]);
        command
    }
}

/// The same matcher, natively and in its component, inside one process.
fn calls(regex: &str, table: &mut Table) -> Result<()> {
    let said = output(Command::new(built("release")?.join("sandbox")).arg(regex))?;
    let figure = figures(&said);
    let (native, inside, ratio) = (figure("native_us ")?, figure("sandbox_us ")?, figure("ratio ")?);
    let ours = format!("{inside:.2} µs sandboxed, {native:.2} µs natively");
    let what = "a call of a Rust regex matcher, against the same code called natively";
    table.row(what, ["–".into(), ours, "–".into()], format!("{ratio:.1}×"), "≤ 10×", ratio <= 10.0);
    Ok(())
}

/// Ten thousand steps that all say the same pattern, which both sides compile once.
fn steps(contest: &Contest, repetitions: &Repetitions, regex: &str, table: &mut Table) -> Result<()> {
    let suite = "regex-10000.test.mcp.yml";
    let [native, sandboxed] = interleaved(
        repetitions.calls,
        [&mut || contest.mcptest("mcptest.yml", suite), &mut || contest.with("mcptest.yml", suite, regex)],
    )?;
    let more = (sandboxed.milliseconds() - native.milliseconds()) / 10.0;
    let per_step = |sample: &Sample| format!("{:.1} µs", sample.milliseconds() / 10.0);
    let ours = format!("{} sandboxed, {} built in", per_step(&sandboxed), per_step(&native));
    let what = "10,000 steps with one regex check each, one pattern, whole run, per step";
    table.row(what, ["–".into(), ours, "–".into()], format!("{more:+.1} µs"), "≤ +4 µs", more <= 4.0);
    Ok(())
}

fn start(
    contest: &Contest,
    repetitions: &Repetitions,
    [what, without, with, matcher]: [&str; 4],
    most: f64,
    table: &mut Table,
) -> Result<()> {
    let [without, warm] = interleaved(
        repetitions.starts,
        [&mut || contest.mcptest("mcptest.yml", without), &mut || contest.with("mcptest.yml", with, matcher)],
    )?;
    let more = warm.milliseconds() - without.milliseconds();
    let ours = format!("{} with, {} without", milliseconds(&warm), milliseconds(&without));
    table.row(what, ["–".into(), ours, "–".into()], format!("{more:+.1} ms"), &format!("≤ +{most} ms"), more <= most);
    Ok(())
}

/// A hundred workers, each with a server and an instance of its own.
fn memory(contest: &Contest, regex: &str, table: &mut Table) -> Result<()> {
    let jobs = WORKERS.to_string();
    let without = peak_memory(contest.mcptest("mcptest.yml", "many").args(["-j", &jobs]))? as f64 / 1e6;
    let with = peak_memory(contest.with("mcptest.yml", "many", regex).args(["-j", &jobs]))? as f64 / 1e6;
    let each = (with - without) / WORKERS as f64;
    let what = format!("peak memory of {WORKERS} workers, each with an instance of a Rust matcher, against none");
    let ours = format!("{with:.1} MB with, {without:.1} MB without");
    let target = format!("≤ {MEGABYTES_EACH} MB each");
    table.row(&what, ["–".into(), ours, "–".into()], format!("{each:.2} MB each"), &target, each <= MEGABYTES_EACH);
    Ok(())
}

/// A cold cache: the component compiles while a server starts that takes longer.
fn cold(contest: &Contest, repetitions: &Repetitions, regex: &str, table: &mut Table) -> Result<()> {
    let suite = "regex-1.test.mcp.yml";
    let [without, cold, check] = interleaved(
        repetitions.real,
        [
            &mut || contest.mcptest("slow.yml", suite),
            &mut || {
                let mut command = contest.with("slow.yml", suite, regex);
                command.arg("--no-cache");
                command
            },
            &mut || {
                let mut command = contest.check(suite);
                command.args(["--no-cache", "--matcher", regex]);
                command
            },
        ],
    )?;
    let more = cold.milliseconds() - without.milliseconds();
    let compile = check.milliseconds();
    let hidden = 100.0 * (1.0 - more / compile);
    let what = "a server that takes a second to start, one step, with a Rust matcher compiled anew, against none";
    let ours =
        format!("{} with, {} without; compiling takes {compile:.0} ms", milliseconds(&cold), milliseconds(&without));
    let figure = format!("{more:+.0} ms: {hidden:.0} % of it hidden");
    table.row(what, ["–".into(), ours, "–".into()], figure, "≥ 90 %", hidden >= 90.0);
    Ok(())
}
