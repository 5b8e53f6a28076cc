//! `cargo xtask test`: everything that must hold, step by step, with one line at the end: `N passed, N failed`.

mod conformance;
mod discover;
mod docs;
mod extensions;
mod leftovers;
mod plugins;
mod projects;
mod rust;
mod sdks;
mod suites;

use crate::bindings;
use crate::engine::Engine;
use crate::gen_schemas;
use crate::guests;
use crate::tools;
use anyhow::{Result, bail};
use std::io::Write;
use std::time::Instant;

/// What a step found: how many of its checks held, and a text for each that did not.
#[derive(Default)]
pub struct Findings {
    /// How many held.
    pub passed: usize,
    /// What did not.
    pub failures: Vec<String>,
}

impl Findings {
    /// Notes one check.
    pub fn note(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(error) => self.failures.push(format!("{error:#}")),
        }
    }

    /// Notes one check that starts programs of others within a time limit. A machine that stands still for seconds makes
    /// anything late: what only was late is tried once more, and that is told.
    pub fn note_patiently(&mut self, check: impl Fn() -> Result<()>) {
        let outcome = check().or_else(|error| {
            let text = format!("{error:#}");
            if !text.contains("timeout") {
                return Err(error);
            }
            eprintln!("trying again what was late: {text}");
            check()
        });
        self.note(outcome);
    }
}

impl From<Result<()>> for Findings {
    fn from(outcome: Result<()>) -> Findings {
        let mut findings = Findings::default();
        findings.note(outcome);
        findings
    }
}

struct Step {
    name: &'static str,
    run: fn(&Engine) -> Findings,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: |_| rust::format().into() },
    Step { name: "clippy", run: |_| rust::clippy().into() },
    Step { name: "guests", run: |_| guests::build(true).into() },
    Step { name: "guests, natively", run: extensions::natively },
    Step { name: "cargo test", run: |_| rust::tests() },
    Step { name: "schemas", run: |engine| gen_schemas::check(engine).into() },
    Step { name: "bindings", run: |_| bindings::check().into() },
    Step { name: "docs", run: docs::check },
    Step { name: "examples", run: suites::examples },
    Step { name: "install languages", run: |_| tools::install_languages().into() },
    Step { name: "extensions", run: extensions::inside },
    Step { name: "new projects", run: projects::check },
    Step { name: "install from npm", run: |_| tools::install_node().into() },
    Step { name: "install from PyPI", run: |_| install_python().into() },
    Step { name: "plugins", run: plugins::examples },
    Step { name: "install for SDKs", run: |_| tools::install_sdks().into() },
    Step { name: "SDKs", run: sdks::check },
    Step { name: "real servers, right", run: suites::right },
    Step { name: "real servers, wrong", run: suites::wrong },
    Step { name: "real servers, found", run: discover::check },
    Step { name: "conformance", run: conformance::check },
];

fn install_python() -> Result<()> {
    tools::install_python("venv", "requirements.txt")?;
    tools::install_python("venv-sdk1", "requirements-sdk1.txt")
}

/// Runs the steps whose name contains `only`, or all of them.
pub fn run(only: Option<&str>) -> Result<()> {
    let chosen: Vec<&Step> = STEPS.iter().filter(|step| only.is_none_or(|only| step.name.contains(only))).collect();
    if chosen.is_empty() {
        bail!(
            "no step is named so; the steps are: {}",
            STEPS.iter().map(|step| step.name).collect::<Vec<_>>().join(", ")
        );
    }
    let start = Instant::now();
    let engine = Engine::build(false)?;
    println!("{:<22} {:>6.1} s", "build", start.elapsed().as_secs_f64());
    let (mut passed, mut failed) = (0, 0);
    for step in chosen {
        print!("{:<22} ", step.name);
        std::io::stdout().flush()?;
        let start = Instant::now();
        let findings = (step.run)(&engine);
        let verdict = if findings.failures.is_empty() { "ok" } else { "FAILED" };
        println!("{:>6.1} s  {verdict}  ({} held)", start.elapsed().as_secs_f64(), findings.passed);
        for failure in &findings.failures {
            println!("    {}", failure.trim_end().replace('\n', "\n    "));
        }
        passed += findings.passed;
        failed += findings.failures.len();
    }
    println!("\n{passed} passed, {failed} failed");
    if failed > 0 {
        bail!("not everything holds");
    }
    Ok(())
}
