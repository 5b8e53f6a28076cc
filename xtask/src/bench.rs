//! `cargo xtask bench`: mcptest against a raw client and mcp-aegis, as ratios within one run.

mod coprocess;
mod extensions;
mod http;
mod inputs;
mod measure;
mod plugins;
mod table;

use crate::engine::{Engine, built};
use crate::process::{output, root};
use crate::tools::{install_node, node_bin};
use anyhow::{Context, Result};
use inputs::Inputs;
use measure::{Sample, cpu_time, interleaved, peak_memory};
use std::process::Command;
use table::Table;

/// How often each measurement is repeated.
struct Repetitions {
    calls: usize,
    starts: usize,
    real: usize,
}

/// The programs that are compared.
struct Contest {
    engine: Engine,
    raw: std::path::PathBuf,
    echo: String,
    everything: String,
    aegis: std::path::PathBuf,
    inputs: Inputs,
}

/// Measures everything and prints the table.
pub fn run(quick: bool) -> Result<()> {
    println!("building with optimisation …");
    let engine = Engine::build(true)?;
    install_node()?;
    let echo = built("release")?.join("echo-server").display().to_string();
    let everything = node_bin("mcp-server-everything").display().to_string();
    let inputs = Inputs::write(&root().join("target").join("bench"), &echo, &everything)?;
    let raw = built("release")?.join("raw-client");
    let contest = Contest { engine, raw, echo, everything, aegis: node_bin("aegis"), inputs };
    let repetitions = match quick {
        true => Repetitions { calls: 3, starts: 9, real: 3 },
        false => Repetitions { calls: 9, starts: 41, real: 11 },
    };
    let mut table = Table::default();
    calls(&contest, &repetitions, &mut table)?;
    http::measure(&contest, &repetitions, &mut table)?;
    memory(&contest, &mut table)?;
    starts(&contest, &repetitions, &mut table)?;
    real(&contest, &repetitions, &mut table)?;
    check(&contest, &mut table)?;
    judging(&mut table)?;
    extensions::measure(&contest, &repetitions, &mut table)?;
    plugins::measure(&contest, &repetitions, &mut table)?;
    coprocess::measure(&contest, &mut table)?;
    let text = table.render();
    println!("\n{text}");
    if !quick {
        table::into_readme(&text)?;
    }
    Ok(())
}

impl Contest {
    fn mcptest(&self, config: &str, suite: &str) -> Command {
        let report = format!("json={}", self.inputs.folder.join("report.json").display());
        let mut command = self.engine.command(&["run", suite, "--config", config, "--reporter", &report]);
        command.current_dir(&self.inputs.folder);
        command
    }

    fn check(&self, suite: &str) -> Command {
        let mut command = self.engine.command(&["check", "--config", "mcptest.yml", suite]);
        command.current_dir(&self.inputs.folder);
        command
    }

    fn raw(&self, calls: usize, tool: &str, message: &str, server: &str) -> Command {
        let mut command = Command::new(&self.raw);
        command.args([&calls.to_string(), tool, message, server]);
        command
    }
}

fn calls(contest: &Contest, repetitions: &Repetitions, table: &mut Table) -> Result<()> {
    println!("10,000 calls …");
    let suite = "calls-10000.test.mcp.yml";
    let [raw, mcptest, reading] = interleaved(
        repetitions.calls,
        [
            &mut || contest.raw(10_000, "echo", "hello", &contest.echo),
            &mut || contest.mcptest("mcptest.yml", suite),
            &mut || contest.check(suite),
        ],
    )?;
    table.noise("10,000 calls", &raw);
    let per_call = |sample: &Sample| format!("{:.1} µs", sample.median().as_secs_f64() * 100.0);
    // What reading 10,000 tests costs belongs to the suite's text and not to the calls: it is stated beside them.
    let running = mcptest.median().saturating_sub(reading.median());
    let ratio = running.as_secs_f64() / raw.median().as_secs_f64();
    let what =
        "10,000 `tools/call` with one check each, report to `json`; per call, start and end of the server included";
    let ours = format!("{:.1} µs, and {} to read the suite", running.as_secs_f64() * 100.0, per_call(&reading));
    let figures = [per_call(&raw), ours, "–".to_owned()];
    table.row(what, figures, format!("{ratio:.2}×"), "≤ 2.0×", ratio <= 2.0);
    Ok(())
}

fn memory(contest: &Contest, table: &mut Table) -> Result<()> {
    println!("memory …");
    let peak = |suite: &str| peak_memory(&mut contest.mcptest("mcptest.yml", suite));
    let (small, many) = (peak("calls-1000.test.mcp.yml")?, peak("calls-10000.test.mcp.yml")?);
    let large = peak("large-10000.test.mcp.yml")?;
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let what = "peak memory: 1,000 calls, 10,000 calls, 10,000 calls with answers of 64 kB (640 MB of traffic)";
    let figures = ["–".to_owned(), [small, many, large].map(megabytes).join(", "), "–".to_owned()];
    let growth = large as f64 / many as f64;
    table.row(what, figures, format!("large / small answers {growth:.2}×"), "≤ 1.2×", growth <= 1.2);
    Ok(())
}

fn starts(contest: &Contest, repetitions: &Repetitions, table: &mut Table) -> Result<()> {
    println!("one call …");
    let [raw, mcptest, version] = interleaved(
        repetitions.starts,
        [
            &mut || contest.raw(1, "echo", "hello", &contest.echo),
            &mut || contest.mcptest("mcptest.yml", "calls-1.test.mcp.yml"),
            &mut || contest.engine.command(&["--version"]),
        ],
    )?;
    table.noise("one call", &raw);
    let over = mcptest.milliseconds() - raw.milliseconds();
    let figures = [milliseconds(&raw), milliseconds(&mcptest), "–".to_owned()];
    table.row("one call, whole process", figures, format!("+{over:.1} ms"), "≤ +10 ms", over <= 10.0);
    let figures = ["–".to_owned(), milliseconds(&version), "–".to_owned()];
    let fast = version.milliseconds() < 10.0;
    table.row("`mcptest --version`", figures, milliseconds(&version), "< 10 ms", fast);
    Ok(())
}

fn real(contest: &Contest, repetitions: &Repetitions, table: &mut Table) -> Result<()> {
    for steps in [1, 100] {
        println!("server-everything, {steps} …");
        let suite = format!("everything-{steps}.test.mcp.yml");
        let [raw, mcptest, aegis] = interleaved(
            repetitions.real,
            [
                &mut || contest.raw(steps, "echo", "hello", &contest.everything),
                &mut || contest.mcptest("aegis.config.json", &suite),
                &mut || {
                    let mut command = Command::new(&contest.aegis);
                    command.args([&suite, "--config", "aegis.config.json"]).current_dir(&contest.inputs.folder);
                    command
                },
            ],
        )?;
        table.noise(&format!("server-everything with {steps}"), &raw);
        let ratio = mcptest.milliseconds() / raw.milliseconds();
        let holds = ratio <= 1.05 && mcptest.median() < aegis.median();
        let figures = [milliseconds(&raw), milliseconds(&mcptest), milliseconds(&aegis)];
        let what = format!("server-everything, {steps} step{}, whole run", if steps == 1 { "" } else { "s" });
        let against = aegis.milliseconds() / mcptest.milliseconds();
        let figure = format!("{ratio:.2}× raw; mcp-aegis takes {against:.2}×");
        table.row(&what, figures, figure, "≤ 1.05× raw, faster than mcp-aegis", holds);
    }
    Ok(())
}

fn check(contest: &Contest, table: &mut Table) -> Result<()> {
    println!("checking 10 MB …");
    let time = cpu_time(&mut contest.check("big.test.mcp.yml"))?;
    let figures = ["–".to_owned(), format!("{:.2} s", time.as_secs_f64()), "–".to_owned()];
    let figure = format!("{:.2} s of CPU", time.as_secs_f64());
    table.row("`mcptest check` of a 10 MB suite", figures, figure, "≤ 1 s", time.as_secs_f64() <= 1.0);
    Ok(())
}

/// Judging is measured inside one process, by a program of its own.
fn judging(table: &mut Table) -> Result<()> {
    println!("judging …");
    let said = output(&mut Command::new(built("release")?.join("judging")))?;
    let figure = figures(&said);
    let mut row = |what: &str, name: &str, unit: &str, most: f64| -> Result<()> {
        let value = figure(name)?;
        let ours = format!("{value:.2}{unit}");
        table.row(what, ["–".into(), ours.clone(), "–".into()], ours, &format!("≤ {most}{unit}"), value <= most);
        Ok(())
    };
    row("judging a 1 MB answer with a `$partial` of ten keys, against parsing it", "partial ", "×", 1.5)?;
    row("deep equality of two values of 4 MB, against one parse", "equality ", "×", 2.0)?;
    row("their diff with thousands of changes, found and rendered", "diff_ms ", " ms", 1000.0)?;
    row("memory that the diff takes beyond the values", "diff_mb ", " MB", 200.0)?;
    row("10,000 checks with a compiled regex, against the regex alone", "regex ", "×", 1.5)
}

/// The figures that a program of ours says, by the beginning of their line.
fn figures(said: &str) -> impl Fn(&str) -> Result<f64> {
    move |name| {
        let found = said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        found.with_context(|| format!("there is no `{name}` in: {said}"))
    }
}

fn milliseconds(sample: &Sample) -> String {
    format!("{:.1} ms", sample.milliseconds())
}
