//! Builds every WebAssembly guest of the repository into `target/guests`.
//!
//! Guests are workspaces of their own, because they are built for another target and depend on nothing of the engine.

use crate::process::{cargo, output, root, run, text};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What guests are built for.
const TARGET: &str = "wasm32-wasip2";

/// Builds all guests; cargo's own words are kept for a failure when it is quiet.
pub fn build(quiet: bool) -> Result<()> {
    install_target()?;
    for folder in folders()? {
        let shown = folder.strip_prefix(root()).unwrap_or(&folder).display().to_string();
        let mut command = cargo(&["build", "--workspace", "--release", "--target", TARGET]);
        command.current_dir(&folder).env("CARGO_TARGET_DIR", root().join("target/guests"));
        if quiet {
            output(&mut command)?;
            continue;
        }
        println!("building the guests in {shown}");
        ensure!(command.status()?.success(), "the guests in {shown} do not build");
    }
    Ok(())
}

/// Builds one guest, for who needs no other.
pub fn build_package(folder: &str) -> Result<()> {
    install_target()?;
    let mut command = cargo(&["build", "--locked", "--release", "--target", TARGET]);
    command.current_dir(root().join(folder)).env("CARGO_TARGET_DIR", root().join("target/guests"));
    ensure!(command.status()?.success(), "the guest in {folder} does not build");
    Ok(())
}

/// The folders of guests: each has a `Cargo.toml` with a workspace.
pub fn folders() -> Result<Vec<PathBuf>> {
    let mut candidates = vec![root().join("engine/tests/hostile"), root().join("matchers")];
    let examples = root().join("examples/extensions");
    candidates.push(examples.clone());
    if examples.is_dir() {
        for entry in std::fs::read_dir(&examples)? {
            candidates.push(entry?.path());
        }
    }
    candidates.sort();
    Ok(candidates.into_iter().filter(|folder| is_workspace(folder)).collect())
}

/// Where the component of a package is: cargo names it after the package.
pub fn component(package: &Path) -> Result<PathBuf> {
    let manifest = std::fs::read_to_string(package.join("Cargo.toml"))?;
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let name = name.with_context(|| format!("`{}` names no package", package.display()))?;
    let file = format!("{}.wasm", name.replace('-', "_"));
    Ok(root().join("target/guests").join(TARGET).join("release").join(file))
}

fn is_workspace(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.trim() == "[workspace]")
}

/// Adds the target to the toolchain when it is missing, and says so.
fn install_target() -> Result<()> {
    let mut list = Command::new("rustup");
    let installed = run(list.args(["target", "list", "--installed"]).current_dir(root()))
        .context("guests are built for WebAssembly, and the target is installed with rustup")?;
    if text(&installed).lines().any(|line| line.trim() == TARGET) {
        return Ok(());
    }
    println!("installing the target {TARGET} with `rustup target add {TARGET}`");
    let status = Command::new("rustup").args(["target", "add", TARGET]).current_dir(root()).status()?;
    ensure!(status.success(), "the target {TARGET} cannot be installed");
    Ok(())
}
