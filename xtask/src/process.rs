//! Running other programs, and the folders they run in.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where the tools of the tests are installed.
pub fn tools_dir() -> PathBuf {
    root().join("target").join("tools")
}

/// Cargo itself, in the repository's root.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// What a command wrote, if it succeeded; an error with all of it otherwise.
pub fn output(command: &mut Command) -> Result<String> {
    let output = run(command)?;
    let text = text(&output);
    if !output.status.success() {
        bail!("`{}` ended with {}\n{text}", line(command), output.status);
    }
    Ok(text)
}

/// A command's output and status.
pub fn run(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.output().with_context(|| format!("cannot run `{name}`: is it installed?"))
}

/// Both of its streams as text.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The command as one would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
