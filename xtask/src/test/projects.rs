//! The projects that `mcptest extension new` writes: each is built as its README says, and its cases hold.

use super::Findings;
use crate::engine::Engine;
use crate::languages;
use crate::process::{cargo, output, root};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every project that there is.
const PROJECTS: [(&str, &[&str]); 4] = [
    ("rust", &["matcher", "reporter", "transform"]),
    ("js", &["matcher", "reporter", "transform"]),
    ("python", &["matcher", "reporter", "transform"]),
    ("c", &["matcher"]),
];

/// Writes, builds and checks each.
pub fn check(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    let home = root().join("target").join("new-extensions");
    let _ = std::fs::remove_dir_all(&home);
    for (language, roles) in PROJECTS {
        for role in roles {
            let outcome = std::fs::create_dir_all(&home).map_err(Into::into);
            let outcome = outcome.and_then(|()| project(engine, &home, language, role));
            findings.note(outcome.with_context(|| format!("a new {role} in {language}")));
        }
    }
    findings
}

fn project(engine: &Engine, home: &Path, language: &str, role: &str) -> Result<()> {
    let name = format!("{language}-{role}");
    let args = ["extension", "new", &name, "--lang", language, "--role", role];
    output(engine.command(&args).current_dir(home))?;
    let folder = home.join(&name);
    let component = match language {
        "rust" => rust(&folder, &name)?,
        _ => other(engine, &folder, &name, language, role)?,
    };
    output(engine.command(&["extension", "check", "--cases", "cases.json"]).arg(component).current_dir(&folder))
        .map(drop)
}

fn rust(folder: &Path, name: &str) -> Result<PathBuf> {
    let target = root().join("target").join("guests");
    for args in [&["test", "--quiet"][..], &["build", "--quiet", "--release", "--target", "wasm32-wasip2"]] {
        output(cargo(args).current_dir(folder).env("CARGO_TARGET_DIR", &target))?;
    }
    Ok(target.join("wasm32-wasip2").join("release").join(format!("{}.wasm", name.replace('-', "_"))))
}

fn other(engine: &Engine, folder: &Path, name: &str, language: &str, role: &str) -> Result<PathBuf> {
    let component = folder.join(format!("{name}.wasm"));
    let mut command = match language {
        "js" => {
            let mut command = Command::new("npm");
            command.args(["run", "build"]);
            command
        }
        "python" => {
            let mut command = Command::new(languages::componentize_py());
            command.args(["-d", "wit", "-w", role, "componentize", "extension", "-o"]).arg(&component);
            command
        }
        _ => {
            let mut command = Command::new("sh");
            command.arg("build.sh");
            command
        }
    };
    languages::with_tools(&mut command, engine);
    output(command.current_dir(folder))?;
    Ok(component)
}
