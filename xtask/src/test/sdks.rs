//! The SDKs, each in its own language: packaged, type-checked, tested against the binary, and compared with each other.

use super::{Findings, leftovers};
use crate::engine::Engine;
use crate::process::{cargo, output, root, tools_dir};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything that must hold for them.
pub fn check(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    let sdks = root().join("sdks");
    let pytest = |folder: PathBuf| {
        let mut command = python();
        command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--ignore-glob=*.yml"]).arg(folder);
        command
    };
    let checks: [(&str, Command); 5] = [
        ("the types of the Python SDK", types(&sdks)),
        ("the Python SDK", pytest(sdks.join("python").join("tests"))),
        ("the TypeScript SDK", node(&sdks)),
        ("the Rust SDK", rust()),
        ("all SDKs together", pytest(sdks.join("tests"))),
    ];
    findings
        .note(compiled(&sdks.join("typescript")).context("the TypeScript SDK does not compile to what is in `dist`"));
    findings.note(install_package(&sdks.join("python")).context("the Python SDK cannot be installed"));
    for (what, command) in checks {
        findings.note(marked(engine, command).with_context(|| what.to_owned()));
    }
    findings
}

/// Runs a check with the binary that was built; it leaves no process behind.
fn marked(engine: &Engine, mut command: Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mark = format!("sdk-{}-{program}", std::process::id());
    let folder = engine.path().parent().context("the binary is in no folder")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path)))?;
    command.env("MCPTEST_BIN", engine.path()).env("PATH", path).env(leftovers::MARK, &mark);
    output(command.env("NO_COLOR", "1").env_remove("CI"))?;
    let left = leftovers::of(&mark)?;
    ensure!(left.is_empty(), "processes are left behind:\n{}", left.join("\n"));
    Ok(())
}

fn python() -> Command {
    let mut command = Command::new(tools_dir().join("venv-sdks").join("bin").join("python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(root());
    command
}

/// `pip install ./sdks/python`, with the build backend that is pinned.
fn install_package(folder: &Path) -> Result<()> {
    let mut pip = python();
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"]);
    output(pip.arg("--no-build-isolation").arg(folder)).map(drop)
}

fn rust() -> Command {
    let targets = ["--test", "sdk", "--test", "session", "--test", "transcripts"];
    let mut command = cargo(&["test", "--locked", "--package", "mcptest-runner"]);
    command.args(targets);
    command
}

fn types(sdks: &Path) -> Command {
    let mut command = python();
    command.args(["-m", "mypy", "--no-incremental"]).current_dir(sdks.join("python"));
    command
}

fn node(sdks: &Path) -> Command {
    let mut command = Command::new("node");
    command.args(["--test", "test/"]).current_dir(sdks.join("typescript"));
    command
}

/// `dist` is what the compiler makes of `src`, file by file.
fn compiled(folder: &Path) -> Result<()> {
    let tools = tools_dir().join("node-sdks").join("node_modules");
    let fresh = root().join("target").join("sdk-dist");
    let _ = std::fs::remove_dir_all(&fresh);
    let mut tsc = Command::new(tools.join(".bin").join("tsc"));
    tsc.arg("--project").arg(folder).arg("--typeRoots").arg(tools.join("@types")).arg("--outDir").arg(&fresh);
    output(&mut tsc)?;
    let kept = folder.join("dist");
    let names = |folder: &Path| -> Result<Vec<_>> {
        let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    let files = names(&fresh)?;
    ensure!(files == names(&kept)?, "other files; run `npm run build` in {}", folder.display());
    for name in files {
        let same = std::fs::read(fresh.join(&name))? == std::fs::read(kept.join(&name))?;
        ensure!(same, "`{}` differs; run `npm run build` in {}", name.display(), folder.display());
    }
    Ok(())
}
