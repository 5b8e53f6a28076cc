//! The `mcptest` binary that the commands build and run.

use crate::process::{cargo, output, root, run, text};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A binary that was built.
pub struct Engine {
    path: PathBuf,
}

/// How a run of the engine ended.
pub struct Outcome {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Both of its streams.
    pub text: String,
    /// The `status` of every test, by name.
    pub tests: Vec<(String, String)>,
}

impl Engine {
    /// Builds the engine as `cargo build` does, or with optimisation, and then what measures it too.
    pub fn build(release: bool) -> Result<Engine> {
        let mut args = vec!["build", "--locked", "--package", "mcptest-engine"];
        if release {
            // Together, because each alone is built with other features of the same dependencies.
            args.extend(["--package", "mcptest-bench", "--release"]);
        }
        output(&mut cargo(&args))?;
        let folder = if release { "release" } else { "debug" };
        let path = built(folder)?.join("mcptest");
        ensure!(path.exists(), "cargo built no `{}`", path.display());
        Ok(Engine { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command of it, in the repository's root unless told otherwise.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(args).current_dir(root()).env_remove("CI").env("NO_COLOR", "1");
        command
    }

    /// Runs suites from `folder`, and reads the verdicts from the report.
    pub fn verdicts(&self, folder: &Path, args: &[&str], tag: (&str, &str)) -> Result<Outcome> {
        let report = std::env::temp_dir().join(format!("mcptest-report-{}-{}.json", std::process::id(), tag.1));
        let reporter = format!("json={}", report.display());
        let mut command = self.command(&["run"]);
        command.args(args).args(["--reporter", "human", "--reporter", &reporter]);
        command.current_dir(folder).env(tag.0, tag.1);
        let output = run(&mut command)?;
        let json = std::fs::read_to_string(&report).unwrap_or_default();
        let _ = std::fs::remove_file(&report);
        Ok(Outcome { code: output.status.code(), text: text(&output), tests: statuses(&json)? })
    }
}

/// The folder of a profile's binaries: cargo puts this very program into one of them.
pub fn built(profile: &str) -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let target = here.parent().and_then(Path::parent).context("this program is in no target folder")?;
    Ok(target.join(profile))
}

fn statuses(json: &str) -> Result<Vec<(String, String)>> {
    if json.is_empty() {
        return Ok(Vec::new());
    }
    let report: Value = serde_json::from_str(json).context("the report is no JSON")?;
    let suites = report["suites"].as_array().context("the report has no `suites`")?;
    let tests = suites.iter().filter_map(|suite| suite["tests"].as_array()).flatten();
    Ok(tests.map(|test| (plain(&test["it"]), plain(&test["status"]))).collect())
}

fn plain(value: &Value) -> String {
    value.as_str().unwrap_or("?").to_owned()
}
