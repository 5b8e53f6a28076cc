//! One JSON document at the end of the run, on one line.
//!
//! ```json
//! {"summary":{"total":1,"passed":0,"failed":1,"faulted":0,"skipped":0,"durationMs":12.5},
//!  "suites":[{"description":"Files","file":"fs.test.mcp.yml","server":"fs","tests":[
//!    {"it":"reads","status":"failed","durationMs":1.2,"failures":[{"kind":"mismatch","message":"…","at":{"file":"fs.test.mcp.yml","line":9,"column":7,"width":4,"text":"…"}}],
//!     "id":"fs.test.mcp.yml#tools/reads","lane":"tools","line":4,"server":"fs"}]}],
//!  "exitCode":1,"interrupted":false}
//! ```
//!
//! `failures` are the objects of the event stream. Where they apply: `reason` (of a skipped test), `attempts` (when it
//! took more than one), and, of a test that went wrong, `frames` (the last ones exchanged) and `stderr` (its last lines).
//! Fields are only ever added.

use super::Reporter;
use super::human::trouble;
use super::results::{Finished, Results, Suite};
use crate::event::{Direction, Event, Failure, Status, Summary};
use crate::suite::Lane;
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// Writes the document when the run is over.
pub struct Json {
    name: String,
    output: Box<dyn Write + Send>,
    results: Results,
}

impl Json {
    /// A reporter called `name` that writes to `output`.
    pub fn new(name: impl Into<String>, output: Box<dyn Write + Send>) -> Json {
        Json { name: name.into(), output, results: Results::default() }
    }
}

impl Reporter for Json {
    fn name(&self) -> &str {
        &self.name
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.results.event(event);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let run = self.results.run.as_ref();
        let document = Document {
            summary: run.map(|run| run.summary).unwrap_or_default(),
            suites: &self.results.suites,
            exit_code: run.map(|run| run.exit_code),
            interrupted: run.is_none_or(|run| run.interrupted),
        };
        let mut output = io::BufWriter::with_capacity(1 << 16, &mut self.output);
        serde_json::to_writer(&mut output, &document)?;
        output.write_all(b"\n")?;
        output.flush()
    }
}

/// The object of one test, as the document holds it, from the events of its run; when it went wrong, with what the human
/// report says of it as `text`, so that every framework can show the same.
pub fn test_object(events: &[Event], id: &str) -> Option<String> {
    #[derive(Serialize)]
    struct Told<'a> {
        #[serde(flatten)]
        test: &'a Finished,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }
    let mut results = Results::default();
    events.iter().for_each(|event| results.event(event));
    let mut tests = results.suites.iter().flat_map(|suite| &suite.tests);
    let test = tests.find(|test| test.result.test.id == id)?;
    let went_wrong = matches!(test.result.status, Status::Failed | Status::Faulted);
    let text = went_wrong.then(|| trouble::text(&test.result, &test.tail));
    serde_json::to_string(&Told { test, text }).ok()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    summary: Summary,
    suites: &'a [Suite],
    exit_code: Option<u8>,
    interrupted: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Test<'a> {
    it: &'a str,
    status: Status,
    #[serde(serialize_with = "crate::event::rounded")]
    duration_ms: f64,
    failures: &'a [Failure],
    id: &'a str,
    lane: Lane,
    line: u32,
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<Frame<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
}

#[derive(Serialize)]
struct Frame<'a> {
    direction: Direction,
    text: &'a str,
}

impl Serialize for Suite {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            description: &'a str,
            file: &'a str,
            server: &'a str,
            tests: &'a [Finished],
        }
        let Suite { description, file, server, tests } = self;
        Shape { description, file, server, tests }.serialize(serializer)
    }
}

impl Serialize for Finished {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (result, frames) = (&self.result, self.tail.frames.kept.iter());
        let shape = Test {
            it: &result.test.name,
            status: result.status,
            duration_ms: result.duration_ms,
            failures: &result.failures,
            id: &result.test.id,
            lane: result.test.lane,
            line: result.test.line,
            server: &result.test.server,
            reason: result.reason.as_deref(),
            attempts: result.attempts,
            frames: frames.map(|frame| Frame { direction: frame.direction, text: &frame.text }).collect(),
            stderr: self.tail.stderr_text(),
        };
        shape.serialize(serializer)
    }
}
