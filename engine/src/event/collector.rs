//! Orders, redacts and numbers events, folds the summary, and hands everything to the reporters.
//!
//! Events of suite files that run side by side are put back into the order of the plan: the first unfinished file
//! streams live, later ones wait until it is done. The run's own events (`file: None`) pass at once. Sequence numbers
//! are given at the release, so that every reporter sees `1, 2, 3, …`; `at` stays the time it happened.

use super::redact::Redactor;
use super::{Body, Event, Failure, Posted, RunFinished, Status, Summary, TestFinished, What};
use crate::reporter::Reporter;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Instant, SystemTime};

/// The codes of a fault that say that a server never became usable.
const NOT_STARTED: [&str; 2] = ["start_failed", "handshake_failed"];

/// The one place that all events pass.
pub struct Collector {
    outputs: Vec<Output>,
    redactor: Redactor,
    started: Instant,
    seq: u64,
    summary: Summary,
    server_missing: bool,
    head: usize,
    done: BTreeSet<usize>,
    waiting: BTreeMap<usize, Vec<(SystemTime, Body)>>,
}

/// What is left of a run when its last event is out.
#[derive(Debug)]
pub struct Finished {
    /// The sums, as in `run-finished`.
    pub summary: Summary,
    /// Reporters that could not write, in the order they were given. A reader that went away (`| head`) is none.
    pub errors: Vec<Broken>,
}

/// A reporter that could not write.
#[derive(Debug, thiserror::Error)]
#[error("reporter `{reporter}` could not write: {error}")]
pub struct Broken {
    /// Its name, with its file.
    pub reporter: String,
    /// The first error.
    pub error: io::Error,
}

struct Output {
    reporter: Box<dyn Reporter>,
    error: Option<io::Error>,
}

impl Collector {
    /// A collector for one run, which begins now.
    pub fn new(reporters: Vec<Box<dyn Reporter>>, redactor: Redactor) -> Collector {
        Collector {
            outputs: reporters.into_iter().map(|reporter| Output { reporter, error: None }).collect(),
            redactor,
            started: Instant::now(),
            seq: 0,
            summary: Summary::default(),
            server_missing: false,
            head: 0,
            done: BTreeSet::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Whether a reporter wants the frames of passed steps too.
    pub fn wants_frames(&self) -> bool {
        self.outputs.iter().any(|output| output.reporter.wants_frames())
    }

    /// Takes what workers posted and releases what is next in order.
    pub fn accept(&mut self, posted: Vec<Posted>) {
        for Posted { at, file, what } in posted {
            match (file, what) {
                (None, What::FileDone) => {}
                (Some(file), What::FileDone) => self.file_done(file),
                (file, What::Event(body)) => {
                    if let Body::TestFinished(test) = &body {
                        self.count(test);
                    }
                    match file {
                        Some(file) if file > self.head => self.waiting.entry(file).or_default().push((at, body)),
                        _ => self.release(at, body),
                    }
                }
            }
        }
    }

    /// Lets reporters move what moves and flush what they hold; meant to be called some twenty times a second.
    pub fn tick(&mut self) {
        for output in &mut self.outputs {
            output.write(|reporter| reporter.tick());
        }
    }

    /// The sums of everything accepted so far, waiting files included.
    pub fn summary(&self) -> Summary {
        Summary { duration_ms: self.started.elapsed().as_secs_f64() * 1000.0, ..self.summary }
    }

    /// The exit code that the events accepted so far ask for: 130, 3, 1 or 0, in this order.
    pub fn exit_code(&self, interrupted: bool) -> u8 {
        match self.summary {
            _ if interrupted => 130,
            _ if self.server_missing => 3,
            Summary { failed: 0, faulted: 0, .. } => 0,
            _ => 1,
        }
    }

    /// Releases what still waits, emits `run-finished`, and lets every reporter write what it has left.
    pub fn finish(mut self, interrupted: bool, exit_code: u8) -> Finished {
        for (at, body) in std::mem::take(&mut self.waiting).into_values().flatten() {
            self.release(at, body);
        }
        let summary = self.summary();
        self.release(SystemTime::now(), Body::RunFinished(RunFinished { summary, exit_code, interrupted }));
        for output in &mut self.outputs {
            output.write(|reporter| reporter.finish());
        }
        Finished { summary, errors: self.outputs.into_iter().filter_map(Output::broken).collect() }
    }

    fn count(&mut self, test: &TestFinished) {
        self.summary.total += 1;
        *match test.status {
            Status::Passed => &mut self.summary.passed,
            Status::Failed => &mut self.summary.failed,
            Status::Faulted => &mut self.summary.faulted,
            Status::Skipped => &mut self.summary.skipped,
        } += 1;
        let never_started = |failure: &Failure| failure.code.is_some_and(|code| NOT_STARTED.contains(&code));
        self.server_missing |= test.status == Status::Faulted && test.failures.iter().any(never_started);
    }

    fn file_done(&mut self, file: usize) {
        self.done.insert(file);
        while self.done.remove(&self.head) {
            self.head += 1;
            for (at, body) in self.waiting.remove(&self.head).unwrap_or_default() {
                self.release(at, body);
            }
        }
    }

    fn release(&mut self, at: SystemTime, mut body: Body) {
        self.redactor.redact(&mut body);
        self.seq += 1;
        let event = Event { seq: self.seq, at, body };
        for output in &mut self.outputs {
            output.write(|reporter| reporter.event(&event));
        }
    }
}

impl Output {
    /// Runs `write` unless an earlier one failed: a reporter that cannot write is left alone and the run goes on.
    fn write(&mut self, write: impl FnOnce(&mut dyn Reporter) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(self.reporter.as_mut()).err();
        }
    }

    fn broken(self) -> Option<Broken> {
        let error = self.error.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)?;
        Some(Broken { reporter: self.reporter.name().to_owned(), error })
    }
}
