//! Builds the extensions that are not cargo's: each has a `build.sh`, which is given where the component goes and, in its
//! environment, the pinned tools.

use crate::engine::Engine;
use crate::process::{output, root, tools_dir};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Where the components go.
pub fn folder() -> PathBuf {
    root().join("target").join("guests").join("languages")
}

/// Builds one project, unless its component is newer than everything that it is made of.
pub fn build(engine: &Engine, project: &Path, component: &Path) -> Result<()> {
    let inputs = [project.to_owned(), root().join("wit"), root().join("xtask").join("tools")];
    let newest = inputs.iter().map(|input| newest(input)).collect::<Result<Vec<_>>>()?.into_iter().max();
    let built = std::fs::metadata(component).and_then(|metadata| metadata.modified());
    if built.is_ok_and(|built| newest.is_some_and(|newest| newest < built)) {
        return Ok(());
    }
    std::fs::create_dir_all(folder())?;
    let _ = std::fs::remove_file(component);
    let mut command = Command::new("sh");
    command.arg(project.join("build.sh")).arg(component).current_dir(project);
    with_tools(&mut command, engine);
    output(&mut command)?;
    ensure!(component.is_file(), "`{}` has built no `{}`", project.join("build.sh").display(), component.display());
    Ok(())
}

/// Gives a build the pinned tools: by the variables that the build scripts read, and on the path.
pub fn with_tools(command: &mut Command, engine: &Engine) {
    let zig = python().join("python-zig").display().to_string();
    let node = node();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(node.clone()).chain(std::env::split_paths(&path)));
    command.env("MCPTEST", engine.path()).env("CC", format!("{zig} cc")).env("ZIG", zig);
    command.env("COMPONENTIZE_PY", componentize_py());
    command.env("COMPONENTIZE_QJS", node.join("componentize-qjs"));
    command.env("PATH", path.unwrap_or_default());
}

/// The program that makes components of Python.
pub fn componentize_py() -> PathBuf {
    python().join("componentize-py")
}

fn python() -> PathBuf {
    tools_dir().join("venv-languages").join("bin")
}

fn node() -> PathBuf {
    tools_dir().join("node-languages").join("node_modules").join(".bin")
}

/// When the newest file below a folder was written. What a tool leaves behind in passing does not count.
fn newest(folder: &Path) -> Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let is_left_behind = ["__pycache__", "node_modules"].iter().any(|name| entry.file_name() == *name);
        match entry.file_type()?.is_dir() {
            true if is_left_behind => {}
            true => newest = newest.max(self::newest(&entry.path())?),
            false => newest = newest.max(entry.metadata()?.modified()?),
        }
    }
    Ok(newest)
}
