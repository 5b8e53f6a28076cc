//! Installs what the tests need from npm and PyPI, with the package managers that are there.
//!
//! ```text
//! target/tools/node             from xtask/tools/package-lock.json               servers
//! target/tools/venv             from xtask/tools/requirements.txt                servers
//! target/tools/venv-sdk1        from xtask/tools/requirements-sdk1.txt           servers
//! target/tools/conformance      from xtask/tools/conformance/package-lock.json   the official conformance suite
//! target/tools/node-languages   from xtask/tools/languages/package.json          what builds extensions
//! target/tools/venv-languages   from xtask/tools/requirements-languages.txt      what builds extensions
//! target/tools/node-sdks        from xtask/tools/sdks/package.json               what tests the SDKs
//! target/tools/venv-sdks        from xtask/tools/requirements-sdks.txt           what tests the SDKs
//! ```
//!
//! Each folder holds a copy of what it was made from, and is made anew when that has changed.

use crate::process::{output, root, tools_dir};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The copy of what a folder was made from.
const STAMP: &str = "installed-from";

/// Installs everything.
pub fn install_all() -> Result<()> {
    install_node()?;
    install_python("venv", "requirements.txt")?;
    install_python("venv-sdk1", "requirements-sdk1.txt")?;
    install_conformance()?;
    install_languages()?;
    install_sdks()?;
    println!("the tools are in {}", tools_dir().display());
    Ok(())
}

/// Installs the servers that come from npm.
pub fn install_node() -> Result<()> {
    install_packages("node", &root().join("xtask").join("tools"))
}

/// Installs the official conformance suite, in two generations.
pub fn install_conformance() -> Result<()> {
    install_packages("conformance", &root().join("xtask").join("tools").join("conformance"))
}

/// Where the conformance suite is.
pub fn conformance_dir() -> PathBuf {
    tools_dir().join("conformance")
}

/// Installs what builds extensions in JavaScript, Python, C and Zig.
pub fn install_languages() -> Result<()> {
    install_packages("node-languages", &root().join("xtask").join("tools").join("languages"))?;
    install_python("venv-languages", "requirements-languages.txt")
}

/// Installs the frameworks and compilers that the SDKs are tested with.
pub fn install_sdks() -> Result<()> {
    install_packages("node-sdks", &root().join("xtask").join("tools").join("sdks"))?;
    install_python("venv-sdks", "requirements-sdks.txt")
}

/// From `package-lock.json`, or, where there is none, from `package.json` as it stands: not every package can be locked
/// (one of ours names bindings for platforms that it was never published for), but all versions are exact.
fn install_packages(name: &str, source: &Path) -> Result<()> {
    let folder = tools_dir().join(name);
    let files = ["package.json", "package-lock.json"].map(|file| source.join(file));
    let files: Vec<&PathBuf> = files.iter().filter(|file| file.is_file()).collect();
    let pins = files.iter().map(fs::read_to_string).collect::<std::io::Result<String>>()?;
    if is_current(&folder, &pins) {
        return Ok(());
    }
    fresh(&folder)?;
    for file in &files {
        fs::copy(file, folder.join(file.file_name().unwrap_or_default()))?;
    }
    output(Command::new("node").arg("--version")).context("the tests need Node.js")?;
    let how: &[&str] = if files.len() == 2 { &["ci"] } else { &["install", "--no-package-lock"] };
    twice(|| output(Command::new("npm").args(how).args(["--no-audit", "--no-fund"]).current_dir(&folder)))
        .context("cannot install the npm packages")?;
    fs::write(folder.join(STAMP), pins)?;
    Ok(())
}

/// Installs one list of Python packages into a virtual environment of its own.
pub fn install_python(name: &str, requirements: &str) -> Result<()> {
    let list = root().join("xtask").join("tools").join(requirements);
    let folder = tools_dir().join(name);
    let pins = fs::read_to_string(&list)?;
    if is_current(&folder, &pins) {
        return Ok(());
    }
    fresh(&folder)?;
    output(Command::new("python3").args(["-m", "venv"]).arg(&folder)).context("the tests need Python 3 with venv")?;
    let pip = || {
        let mut pip = Command::new(folder.join("bin").join("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"]);
        output(pip.arg(&list))
    };
    twice(pip).with_context(|| format!("cannot install the packages of {requirements}"))?;
    fs::write(folder.join(STAMP), pins)?;
    Ok(())
}

/// Where an npm package's command is.
pub fn node_bin(name: &str) -> PathBuf {
    tools_dir().join("node").join("node_modules").join(".bin").join(name)
}

fn is_current(folder: &Path, source: &str) -> bool {
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|stamp| stamp == source)
}

fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Tries a download again, once: registries fail now and then.
pub fn twice<T>(mut download: impl FnMut() -> Result<T>) -> Result<T> {
    download().or_else(|error| {
        eprintln!("trying again after: {error:#}");
        download()
    })
}
