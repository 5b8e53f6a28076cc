//! Every plugin in `examples/plugins`, as it lies on the disk: checked, and used by a suite.
//!
//! A folder is a plugin: it holds a `plugin.toml`, a `build.sh` that makes a program, or one executable file. One that is
//! none of these, or that no suite uses, fails.

use super::Findings;
use crate::engine::Engine;
use crate::process::{output, root, tools_dir};
use anyhow::{Context, Result, bail, ensure};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Checks and uses each.
pub fn examples(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    match folders() {
        Ok(folders) => folders.iter().for_each(|folder| {
            findings.note_patiently(|| plugin(engine, folder).with_context(|| folder.display().to_string()));
        }),
        Err(error) => findings.note(Err(error)),
    }
    findings
}

fn home() -> PathBuf {
    root().join("examples").join("plugins")
}

fn folders() -> Result<Vec<PathBuf>> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(home())?.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    ensure!(!folders.is_empty(), "there are no plugins");
    Ok(folders)
}

fn plugin(engine: &Engine, folder: &Path) -> Result<()> {
    let name = folder.file_name().and_then(|name| name.to_str()).context("a folder has a name")?;
    let path = found(folder, name)?;
    let path = path.to_str().context("a path is text")?;
    let _service = if name.ends_with("-http") { Some(Service::start(folder)?) } else { None };
    run(engine, folder, &["extension", "inspect", path])?;
    run(engine, folder, &["extension", "check", path])?;
    let suites = home();
    let suite = |name: &str| suites.join(name).display().to_string();
    match name.split('-').next().unwrap_or(name) {
        "near" => run(engine, folder, &["run", &suite("near.test.mcp.yml"), "--plugin", path]),
        "echo" => run(engine, folder, &["run", &suite("echo.test.mcp.yml"), "--plugin", path]),
        "matrix" => {
            let suite = suite("matrix.test.mcp.yml");
            run(engine, folder, &["run", &suite, "--plugin", path, "--transform", "matrix"])
        }
        "notes" => {
            let report = std::env::temp_dir().join(format!("mcptest-notes-{}.txt", std::process::id()));
            let reporter = format!("notes={}", report.display());
            let suite = suite("echo.test.mcp.yml");
            let echo = suites.join("echo").join("echo.py").display().to_string();
            run(engine, folder, &["run", &suite, "--plugin", path, "--plugin", &echo, "--reporter", &reporter])?;
            let text = std::fs::read_to_string(&report)?;
            std::fs::remove_file(&report)?;
            ensure!(text.ends_with("2 tests\n"), "the report is {text:?}");
            Ok(())
        }
        _ => bail!("no suite uses it"),
    }
}

/// What is named to the engine: the folder, what `build.sh` makes, or the one executable file.
fn found(folder: &Path, name: &str) -> Result<PathBuf> {
    if folder.join("plugin.toml").is_file() {
        return Ok(folder.to_owned());
    }
    if folder.join("build.sh").is_file() {
        let stem = name.split('-').next().unwrap_or(name);
        let built = root().join("target").join("plugins").join(name);
        std::fs::create_dir_all(&built)?;
        let program = built.join(stem);
        output(Command::new("sh").arg("build.sh").arg(&program).current_dir(folder))?;
        return Ok(program);
    }
    let runs =
        |path: &PathBuf| path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0);
    let programs: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).filter(runs).collect();
    match &programs[..] {
        [program] => Ok(program.clone()),
        _ => bail!("it has no `plugin.toml`, no `build.sh`, and {} executable files", programs.len()),
    }
}

/// A service that an example needs; it ends with this.
struct Service(Child);

impl Service {
    /// Starts `server.py`, and waits until it listens.
    fn start(folder: &Path) -> Result<Service> {
        let python = tools_dir().join("venv").join("bin").join("python3");
        let child = Command::new(python).arg("server.py").current_dir(folder).stderr(Stdio::null()).spawn()?;
        let mut service = Service(child);
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect("127.0.0.1:8765").is_err() {
            ensure!(service.0.try_wait()?.is_none(), "the service ended");
            ensure!(Instant::now() < deadline, "the service does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(service)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the engine; Python finds the official SDK.
fn run(engine: &Engine, folder: &Path, args: &[&str]) -> Result<()> {
    let python = tools_dir().join("venv").join("bin");
    let path = std::env::join_paths(
        [python].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    output(engine.command(args).current_dir(folder).env("PATH", path)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_a_plugin() {
        for folder in folders().expect("folders") {
            let is_built = folder.join("build.sh").is_file();
            let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
            assert!(is_built || found(&folder, name).is_ok(), "{}", folder.display());
        }
        let empty = std::env::temp_dir().join(format!("mcptest-no-plugin-{}", std::process::id()));
        std::fs::create_dir_all(&empty).expect("writable");
        assert!(found(&empty, "empty").is_err());
        std::fs::remove_dir_all(&empty).expect("removable");
    }
}
