//! The XML that CI servers read, written at the end of the run.
//!
//! ```xml
//! <testsuites name="mcptest" tests="2" failures="1" errors="0" skipped="0" time="0.012">
//!   <testsuite name="Files" file="fs.test.mcp.yml" tests="2" failures="1" errors="0" skipped="0" time="0.003">
//!     <testcase name="reads" classname="fs.tools" file="fs.test.mcp.yml" line="4" time="0.001"/>
//!     <testcase name="rejects" classname="fs.tools" file="fs.test.mcp.yml" line="9" time="0.002">
//!       <failure type="mismatch" message="…">…</failure>
//!       <system-out>…frames…</system-out>
//!       <system-err>…stderr…</system-err>
//!     </testcase>
//!   </testsuite>
//! </testsuites>
//! ```
//!
//! A mismatch is a `failure`, a fault an `error` whose `type` is its code. All failures of a test share one element,
//! because many readers look at the first only. Earlier attempts stand as `flakyFailure` (it passed in the end) or
//! `rerunFailure`. `classname` is the file without its ending and the lane, which viewers show as a folder and a group.

mod xml;

use super::Reporter;
use super::failure::{Style, render_all};
use super::results::{Finished, Results, Suite};
use super::tail::Tail;
use crate::event::{Direction, Event, FailureKind, Status};
use std::io::{self, BufWriter, Write};
use xml::{Attribute, Text};

/// Columns of the failures in the report.
const WIDTH: usize = 120;

/// Writes the document when the run is over.
pub struct Junit {
    name: String,
    output: Box<dyn Write + Send>,
    results: Results,
}

/// The numbers that stand on a suite and on the whole.
#[derive(Default)]
struct Sums {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    ms: f64,
}

impl Junit {
    /// A reporter called `name` that writes to `output`.
    pub fn new(name: impl Into<String>, output: Box<dyn Write + Send>) -> Junit {
        Junit { name: name.into(), output, results: Results::default() }
    }
}

impl Reporter for Junit {
    fn name(&self) -> &str {
        &self.name
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.results.event(event);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut output = BufWriter::with_capacity(1 << 16, &mut self.output);
        let mut sums = Sums::default();
        self.results.suites.iter().for_each(|suite| sums.add_all(suite));
        if let Some(run) = &self.results.run {
            sums.ms = run.summary.duration_ms;
        }
        writeln!(output, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(output, r#"<testsuites name="mcptest" {}>"#, sums.attributes())?;
        for suite in &self.results.suites {
            write_suite(suite, &mut output)?;
        }
        writeln!(output, "</testsuites>")?;
        output.flush()
    }
}

impl Sums {
    fn add_all(&mut self, suite: &Suite) {
        for Finished { result, .. } in &suite.tests {
            self.tests += 1;
            self.failures += usize::from(result.status == Status::Failed);
            self.errors += usize::from(result.status == Status::Faulted);
            self.skipped += usize::from(result.status == Status::Skipped);
            self.ms += result.duration_ms;
        }
    }

    fn attributes(&self) -> String {
        let Sums { tests, failures, errors, skipped, ms } = self;
        let time = seconds(*ms);
        format!(r#"tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="{time}""#)
    }
}

fn write_suite(suite: &Suite, output: &mut impl Write) -> io::Result<()> {
    let mut sums = Sums::default();
    sums.add_all(suite);
    let (name, file) = (Attribute(&suite.description), Attribute(&suite.file));
    writeln!(output, r#"  <testsuite name="{name}" file="{file}" {}>"#, sums.attributes())?;
    for test in &suite.tests {
        write_test(test, output)?;
    }
    writeln!(output, "  </testsuite>")
}

fn write_test(finished: &Finished, output: &mut impl Write) -> io::Result<()> {
    let (result, test) = (&finished.result, &finished.result.test);
    let class = format!("{}.{}", stem(&test.file), test.lane.key());
    write!(
        output,
        r#"    <testcase name="{}" classname="{}" file="{}" line="{}" time="{}""#,
        Attribute(&test.name),
        Attribute(&class),
        Attribute(&test.file),
        test.line,
        seconds(result.duration_ms)
    )?;
    if result.status == Status::Passed && finished.attempts.is_empty() {
        return writeln!(output, "/>");
    }
    writeln!(output, ">")?;
    match result.status {
        Status::Passed => write_attempts("flakyFailure", finished, output)?,
        Status::Skipped => {
            let reason = result.reason.as_deref().unwrap_or_default();
            writeln!(output, r#"      <skipped message="{}"/>"#, Attribute(reason))?;
        }
        Status::Failed => write_failures("failure", finished, output)?,
        Status::Faulted => write_failures("error", finished, output)?,
    }
    write_tail(&finished.tail, output)?;
    writeln!(output, "    </testcase>")
}

fn write_failures(element: &str, finished: &Finished, output: &mut impl Write) -> io::Result<()> {
    let failures = &finished.result.failures;
    // A faulted test may hold mismatches too: the fault is what its type says.
    let fault = failures.iter().find(|failure| failure.kind == FailureKind::Fault);
    let first = if element == "error" { fault.or(failures.first()) } else { failures.first() };
    let kind = first.map_or(element, |failure| match failure.kind {
        FailureKind::Mismatch => "mismatch",
        FailureKind::Fault => failure.code.unwrap_or("fault"),
    });
    let mut message = first.map(|failure| failure.message.clone()).unwrap_or_default();
    if failures.len() > 1 {
        message.push_str(&format!(" (and {} more)", failures.len() - 1));
    }
    let style = Style { color: false, width: WIDTH };
    let text = render_all(failures, style);
    let (message, text) = (Attribute(&message), text.join("\n"));
    writeln!(output, r#"      <{element} type="{kind}" message="{message}">{}</{element}>"#, Text(text.trim_end()))?;
    write_attempts("rerunFailure", finished, output)
}

fn write_attempts(element: &str, finished: &Finished, output: &mut impl Write) -> io::Result<()> {
    for attempt in &finished.attempts {
        let (number, reason) = (attempt.attempt.saturating_sub(1), Attribute(&attempt.reason));
        writeln!(output, r#"      <{element} type="attempt {number}" message="{reason}"/>"#)?;
    }
    Ok(())
}

fn write_tail(tail: &Tail, output: &mut impl Write) -> io::Result<()> {
    if !tail.frames.kept.is_empty() {
        let arrow = |direction| match direction {
            Direction::Sent => "→",
            Direction::Received => "←",
            Direction::Noise => "← noise:",
            Direction::Http => "· http:",
        };
        let frames = tail.frames.kept.iter().map(|frame| format!("{} {}", arrow(frame.direction), frame.text));
        let frames = frames.collect::<Vec<_>>().join("\n");
        writeln!(output, "      <system-out>{}</system-out>", Text(&frames))?;
    }
    match tail.stderr_text() {
        Some(text) => writeln!(output, "      <system-err>{}</system-err>", Text(&text)),
        None => Ok(()),
    }
}

/// The file without `.test.mcp.yml`, or without its last ending.
fn stem(file: &str) -> &str {
    for ending in [".test.mcp.yml", ".test.mcp.yaml", ".yml", ".yaml"] {
        if let Some(stem) = file.strip_suffix(ending) {
            return stem;
        }
    }
    file
}

fn seconds(ms: f64) -> String {
    format!("{:.6}", if ms.is_finite() { ms / 1000.0 } else { 0.0 })
}
