//! What cargo itself can tell.

use super::Findings;
use crate::process::{cargo, output, run, text};
use anyhow::Result;

/// `cargo fmt --check`.
pub fn format() -> Result<()> {
    output(&mut cargo(&["fmt", "--all", "--check"])).map(drop)
}

/// Clippy, with warnings as errors.
pub fn clippy() -> Result<()> {
    output(&mut cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
        .map(drop)
}

/// `cargo test`, a check per test.
pub fn tests() -> Findings {
    let mut findings = Findings::default();
    let outcome = match run(&mut cargo(&["test", "--locked", "--workspace", "--no-fail-fast"])) {
        Ok(outcome) => outcome,
        Err(error) => {
            findings.failures.push(format!("{error:#}"));
            return findings;
        }
    };
    let text = text(&outcome);
    let mut failed = 0;
    for summary in text.lines().filter(|line| line.starts_with("test result:")) {
        findings.passed += count(summary, "passed");
        failed += count(summary, "failed");
    }
    if !outcome.status.success() {
        findings.failures.push(text);
        findings.failures.extend((1..failed).map(|_| "see above".to_owned()));
    }
    findings
}

/// The number before a word, as in `12 passed;`.
fn count(summary: &str, word: &str) -> usize {
    let words: Vec<&str> = summary.split_whitespace().collect();
    let place = words.iter().position(|candidate| candidate.trim_end_matches(';') == word);
    place.and_then(|place| words.get(place.checked_sub(1)?)?.parse().ok()).unwrap_or_default()
}
