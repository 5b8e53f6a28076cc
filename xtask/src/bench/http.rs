//! Calls over HTTP, against what a bare HTTP client library needs for the same.

use super::measure::{Sample, interleaved};
use super::table::Table;
use super::{Contest, Repetitions};
use crate::engine::built;
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// How many calls follow each other.
const CALLS: usize = 1000;

/// Measures both against one server, which runs all the while.
pub(super) fn measure(contest: &Contest, repetitions: &Repetitions, table: &mut Table) -> Result<()> {
    println!("{CALLS} calls over HTTP …");
    let (mut server, url) = start()?;
    let suite = format!("calls-{CALLS}.test.mcp.yml");
    let client = built("release")?.join("http-client");
    let run = |url: &str| {
        let mut command = contest.mcptest("mcptest.yml", &suite);
        command.args(["--url", url]);
        command
    };
    let measured = interleaved(
        repetitions.starts,
        [
            &mut || {
                let mut command = Command::new(&client);
                command.args([&CALLS.to_string(), &url]);
                command
            },
            &mut || run(&url),
            &mut || contest.check(&suite),
        ],
    );
    drop(server.stdin.take());
    server.wait()?;
    let [bare, mcptest, reading] = measured?;
    table.noise("calls over HTTP", &bare);
    let per_call = |sample: &Sample| format!("{:.1} µs", sample.median().as_secs_f64() * 1e6 / CALLS as f64);
    let running = mcptest.median().saturating_sub(reading.median());
    let ratio = running.as_secs_f64() / bare.median().as_secs_f64();
    let ours = format!("{:.1} µs", running.as_secs_f64() * 1e6 / CALLS as f64);
    let what =
        "1,000 `tools/call` over HTTP with one check each, against a loop of hyper; per call, reading the suite apart";
    table.row(what, [per_call(&bare), ours, "–".to_owned()], format!("{ratio:.2}×"), "≤ 1.5×", ratio <= 1.5);
    Ok(())
}

fn start() -> Result<(Child, String)> {
    let mut server = Command::new(built("release")?.join("http-echo-server"))
        .arg("0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the echo server")?;
    let output = server.stdout.take().context("the echo server has no output")?;
    let mut port = String::new();
    BufReader::new(output).read_line(&mut port)?;
    Ok((server, format!("http://127.0.0.1:{}/mcp", port.trim())))
}
