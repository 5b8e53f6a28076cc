//! `cargo xtask demo`: the quickstart, from nothing.

use crate::engine::Engine;
use crate::guests;
use crate::process::root;
use anyhow::{Result, ensure};

/// Builds the engine and runs the quickstart against the server inside it.
pub fn run() -> Result<()> {
    println!("Building the engine …");
    let engine = Engine::build(false)?;
    let folder = root().join("examples").join("quickstart");
    println!("\nIn examples/quickstart, `mcptest.yml` names the server (the one inside the binary) and");
    println!("`demo.test.mcp.yml` says what is expected of it:\n");
    for line in std::fs::read_to_string(folder.join("demo.test.mcp.yml"))?.lines() {
        println!("    {line}");
    }
    show(&engine, &["run", "demo.test.mcp.yml"], &folder, 0)?;
    println!("\nA tour of the whole suite format, with requests that the server sends back:");
    show(&engine, &["run", "tour.test.mcp.yml", "asking.test.mcp.yml"], &folder, 0)?;
    println!("\nAnd a suite that is wrong about the server, on purpose:");
    show(&engine, &["run", "--filter", "number"], &root().join("examples").join("failing"), 1)?;
    sandboxed(&engine)?;
    println!("\nThe demo did what it should. Next: README.md, or `{} --help`.", engine.path().display());
    Ok(())
}

/// A matcher that is a WebAssembly component, built here and run in its sandbox.
fn sandboxed(engine: &Engine) -> Result<()> {
    println!("\nLast, a matcher that is no part of the engine: a WebAssembly component, built from `matchers/regex`.");
    println!("It runs in a sandbox: no files, no network, no environment, one second per call.");
    guests::build_package("matchers/regex")?;
    let component = guests::component(&root().join("matchers/regex"))?;
    let component = component.strip_prefix(root())?.display().to_string();
    let suite = "examples/extensions/regex.test.mcp.yml";
    show(engine, &["run", suite, "--matcher", &component, "--", "mcptest", "demo-server"], &root(), 0)
}

fn show(engine: &Engine, args: &[&str], folder: &std::path::Path, code: i32) -> Result<()> {
    let mut command = engine.command(args);
    command.current_dir(folder).env_remove("NO_COLOR");
    println!("\n$ mcptest {}\n", args.join(" "));
    let status = command.status()?;
    ensure!(status.code() == Some(code), "`mcptest {}` ended with {status} instead of {code}", args.join(" "));
    Ok(())
}
