//! `cargo xtask fuzz`: every target in engine/fuzz, for a while.

use crate::process::{cargo, output, root, tools_dir};
use crate::tools::twice;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

/// The version that is installed when there is none.
const CARGO_FUZZ: &str = "0.13.2";

/// Fuzzes each target for some seconds; a crash is an error, and its input stays in engine/fuzz/artifacts.
pub fn run(seconds: u32) -> Result<()> {
    let nightly = output(Command::new("rustup").args(["run", "nightly", "rustc", "--version"]));
    println!("fuzzing with {}", nightly.context("fuzzing needs a nightly toolchain")?.trim());
    let cargo_fuzz = cargo_fuzz()?;
    for target in targets()? {
        println!("\n{target}, for {seconds} s");
        let corpus = root().join("engine").join("fuzz").join("corpus").join(&target);
        std::fs::create_dir_all(&corpus)?;
        let mut command = Command::new("rustup");
        // The engine has no unsafe code, so that a sanitizer would only cost time; panics and hangs are found without.
        command.args(["run", "nightly"]).arg(&cargo_fuzz).args(["fuzz", "run", "--sanitizer", "none", &target]);
        command.arg(&corpus);
        command.arg(root().join("engine").join("fuzz").join("seeds").join(&target));
        command.args(["--", &format!("-max_total_time={seconds}"), "-rss_limit_mb=2048", "-timeout=10"]);
        let status = command.current_dir(root().join("engine")).status()?;
        ensure!(status.success(), "the fuzzer found a crash in `{target}`");
    }
    Ok(())
}

fn targets() -> Result<Vec<String>> {
    let folder = root().join("engine").join("fuzz").join("fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        if let Some(name) = entry?.path().file_stem() {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn cargo_fuzz() -> Result<PathBuf> {
    let folder = tools_dir().join("cargo");
    let path = folder.join("bin").join("cargo-fuzz");
    if !path.exists() {
        println!("installing cargo-fuzz {CARGO_FUZZ} into {}", folder.display());
        let target = folder.display().to_string();
        let args = ["install", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked", "--root", &target];
        twice(|| output(&mut cargo(&args))).context("cannot install cargo-fuzz")?;
    }
    Ok(path)
}
