//! Runs suites with the built binary: those that must pass, and those that must fail in every test.

use super::{Findings, leftovers};
use crate::engine::{Engine, Outcome};
use crate::process::root;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The examples, from the folders that their readers run them from.
pub fn examples(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    let folder = |name: &str| root().join("examples").join(name);
    let passing: [(&str, &[&str]); 5] = [
        ("quickstart", &[]),
        ("quickstart", &["--shuffle", "--seed", "7", "-j", "2"]),
        ("quickstart", &["--config", "mcptest.yml", "demo.test.mcp.yml"]),
        ("conductor", &["./examples/**/*.test.mcp.yml", "--config", "examples/conductor.config.json"]),
        ("conductor", &["files", "--config", "files/conductor.config.json"]),
    ];
    for (name, args) in passing {
        findings.note(passes(engine, &folder(name), args));
    }
    let unrooted = ["examples/quickstart", "--config", "examples/quickstart/mcptest.yml"];
    findings.note(passes(engine, &root(), &unrooted));
    findings.note(fails(engine, &folder("failing"), &[]).map(drop));
    findings.note(conductor_diff(engine, &folder("conductor")));
    findings
}

fn conductor_diff(engine: &Engine, folder: &Path) -> Result<()> {
    let outcome = fails(engine, folder, &["failing", "--config", "examples/conductor.config.json"])?;
    for part in ["failing.test.mcp.yml:", "encoding", "Reads the content of a file.", "Reads a file"] {
        ensure!(outcome.text.contains(part), "the failure does not show `{part}`:\n{}", outcome.text);
    }
    Ok(())
}

/// Suites about real servers: every test passes.
pub fn right(engine: &Engine) -> Findings {
    each_file(&root().join("examples").join("servers"), |file, config| {
        passes(engine, &root(), &[file, "--config", config])
    })
}

/// Suites that are wrong about the same servers: every test fails, and none faults.
pub fn wrong(engine: &Engine) -> Findings {
    each_file(&root().join("xtask").join("suites").join("wrong"), |file, config| {
        let outcome = fails(engine, &root(), &[file, "--config", config])?;
        let faulted = outcome.tests.iter().find(|(_, status)| status == "faulted");
        ensure!(faulted.is_none(), "{file}: {faulted:?} should be `failed`:\n{}", outcome.text);
        Ok(())
    })
}

fn each_file(folder: &Path, judge: impl Fn(&str, &str) -> Result<()>) -> Findings {
    let mut findings = Findings::default();
    let config = root().join("examples").join("servers").join("mcptest.yml").display().to_string();
    match suite_files(folder) {
        Ok(files) => {
            files.iter().for_each(|file| findings.note_patiently(|| judge(&file.display().to_string(), &config)));
        }
        Err(error) => findings.note(Err(error)),
    }
    findings
}

fn suite_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mcp.yml") {
            files.push(path);
        }
    }
    ensure!(!files.is_empty(), "no suites in {}", folder.display());
    files.sort();
    Ok(files)
}

/// Exit code 0, every test passed or skipped, nothing left running.
pub fn passes(engine: &Engine, folder: &Path, args: &[&str]) -> Result<()> {
    let outcome = run(engine, folder, args)?;
    let good = outcome.tests.iter().all(|(_, status)| status == "passed" || status == "skipped");
    ensure!(outcome.code == Some(0) && good && !outcome.tests.is_empty(), explain(args, "pass", &outcome));
    Ok(())
}

/// Exit code 1, every test failed or faulted, nothing left running.
fn fails(engine: &Engine, folder: &Path, args: &[&str]) -> Result<Outcome> {
    let outcome = run(engine, folder, args)?;
    let bad = outcome.tests.iter().all(|(_, status)| status == "failed" || status == "faulted");
    ensure!(outcome.code == Some(1) && bad && !outcome.tests.is_empty(), explain(args, "fail in every test", &outcome));
    Ok(outcome)
}

fn run(engine: &Engine, folder: &Path, args: &[&str]) -> Result<Outcome> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
    let outcome = engine.verdicts(folder, args, (leftovers::MARK, &mark))?;
    let left = leftovers::of(&mark)?;
    ensure!(left.is_empty(), "`mcptest run {}` left processes behind:\n{}", args.join(" "), left.join("\n"));
    Ok(outcome)
}

fn explain(args: &[&str], wish: &str, outcome: &Outcome) -> String {
    let statuses: Vec<String> = outcome.tests.iter().map(|(name, status)| format!("{status}: {name}")).collect();
    let code = outcome.code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
    let args = args.join(" ");
    format!("`mcptest run {args}` should {wish}, and ended with {code}\n{}\n{}", statuses.join("\n"), outcome.text)
}
