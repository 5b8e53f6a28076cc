//! Writes a run as Markdown: a headline, a table of tests, and what went wrong. Fit for a pull request or a job summary.
//!
//! ```sh
//! mcptest run --reporter markdown_reporter.wasm=report.md
//! ```

use mcptest_guest::{Event, Failure, Output, Reporter, Value, export_reporter};
use std::fmt::Write;

#[derive(Default)]
struct Markdown {
    rows: String,
    details: String,
    headline: String,
}

impl Reporter for Markdown {
    fn observe(&mut self, event: &Event) -> Result<Vec<Output>, Failure> {
        match event.kind.as_str() {
            "test-finished" => self.test(event),
            "run-finished" => self.headline = headline(event),
            _ => {}
        }
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<Output>, Failure> {
        let headline = if self.headline.is_empty() { "the run was cut off" } else { &self.headline };
        let mut text = format!("# mcptest: {headline}\n");
        if !self.rows.is_empty() {
            let _ = write!(text, "\n| | test | suite | ms |\n|---|---|---|--:|\n{}", self.rows);
        }
        text.push_str(&self.details);
        Ok(vec![Output::main(text)])
    }
}

impl Markdown {
    fn test(&mut self, event: &Event) {
        let (name, suite) = (cell(event.text("/test/name")), cell(event.text("/test/suite")));
        let time = event.get("/durationMs").as_f64().unwrap_or_default();
        let _ = writeln!(self.rows, "| {} | {name} | {suite} | {time:.0} |", event.text("/status"));
        let failures = event.get("/failures").as_array().map_or(&[][..], Vec::as_slice);
        if failures.is_empty() {
            return;
        }
        let _ = writeln!(self.details, "\n## {name}\n");
        for failure in failures {
            let text = |key: &str| failure[key].as_str().unwrap_or_default();
            let place = format!("{}:{}", failure["at"]["file"].as_str().unwrap_or_default(), failure["at"]["line"]);
            let _ = writeln!(self.details, "- {} ({} at `{place}`)", text("message"), text("kind"));
            for key in ["path", "expected", "actual", "code"] {
                if let Some(value) = failure.get(key) {
                    let _ = writeln!(self.details, "  - {key}: {}", code(value));
                }
            }
        }
    }
}

fn headline(event: &Event) -> String {
    let count = |key: &str| event.get("/summary")[key].as_u64().unwrap_or_default();
    let kinds = ["passed", "failed", "faulted", "skipped"].map(|kind| (count(kind), kind));
    let parts: Vec<String> = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{n} {kind}")).collect();
    if parts.is_empty() { "no tests".into() } else { parts.join(", ") }
}

/// Text that stays within its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// A value as inline code, with a fence that it can't close.
fn code(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned).replace(['\n', '\r'], " ");
    let ticks = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(ticks + 1);
    let space = if ticks > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

export_reporter!(Markdown);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run_reporter::<super::Markdown>("cases.json");
    }
}
