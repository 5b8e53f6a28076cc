//! The documentation holds: links lead somewhere, and the suites shown in it run.
//!
//! A code block that opens with ```` ```yaml run ```` is a suite that passes against the demo server, one that opens with
//! ```` ```yaml check ```` is a suite that is valid, ```` ```yaml config ```` is a valid config. ```` ```text failure ````
//! is what the suite in examples/failing prints.

use super::{Findings, suites};
use crate::engine::Engine;
use crate::process::{output, root, run};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

const DEMO: &str = "name: demo\ncommand: mcptest\nargs: [demo-server]\n";
const PING: &str = "server: { command: mcptest, args: [demo-server] }\ntests: [{ it: answers, ping: true }]\n";

/// Checks every page.
pub fn check(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    let pages = match pages() {
        Ok(pages) => pages,
        Err(error) => return Err(error).into(),
    };
    for page in pages {
        findings.note(links(&page));
        for (kind, line, text) in blocks(&std::fs::read_to_string(&page).unwrap_or_default()) {
            let outcome = block(engine, &kind, &text);
            findings.note(outcome.with_context(|| format!("{}:{line}", page.display())));
        }
    }
    findings
}

fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join("docs"), root().join("examples"), root().join("sdks")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    pages.sort();
    Ok(pages)
}

/// Every relative link of a page leads to a file.
fn links(page: &Path) -> Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let folder = page.parent().unwrap_or(page);
    for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let file = link.split('#').next().unwrap_or_default();
        if file.is_empty() || file.contains("://") || file.contains(' ') {
            continue;
        }
        ensure!(folder.join(file).exists(), "{}: the link `{link}` leads nowhere", page.display());
    }
    Ok(())
}

/// The code blocks that say what they are, with their lines.
fn blocks(text: &str) -> Vec<(String, usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim().to_owned(), index + 1, String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks.retain(|(info, _, _)| matches!(info.as_str(), "yaml run" | "yaml check" | "yaml config" | "text failure"));
    blocks
}

fn block(engine: &Engine, kind: &str, text: &str) -> Result<()> {
    if kind == "text failure" {
        return printed(engine, text);
    }
    let folder = std::env::temp_dir().join(format!("mcptest-docs-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("files"))?;
    let (config, suite) = if kind == "yaml config" { (text, PING) } else { (DEMO, text) };
    std::fs::write(folder.join("mcptest.yml"), config)?;
    std::fs::write(folder.join("docs.test.mcp.yml"), suite)?;
    let outcome = match kind {
        "yaml run" => suites::passes(engine, &folder, &[]),
        _ => output(engine.command(&["check"]).current_dir(&folder)).map(drop),
    };
    std::fs::remove_dir_all(&folder)?;
    outcome
}

/// Every line of a failure shown in the docs is printed, but for what differs from run to run: times and ids.
fn printed(engine: &Engine, shown: &str) -> Result<()> {
    let outcome = run(engine.command(&["run"]).current_dir(root().join("examples").join("failing")))?;
    let printed = String::from_utf8_lossy(&outcome.stdout).into_owned();
    for line in shown.lines().filter(|line| !line.contains("✗ failed") && !line.contains("\"id\":\"mcptest-")) {
        ensure!(printed.lines().any(|candidate| candidate.trim_end() == line.trim_end()), "not printed: `{line}`");
    }
    Ok(())
}
