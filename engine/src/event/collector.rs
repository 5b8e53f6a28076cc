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

    /// What takes the secrets out of events.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
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
                (_, What::Secret(value)) => self.redactor = self.redactor.with(&value),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{At, FailureKind, Log, LogFrom};
    use crate::reporter::sample;
    use crate::suite::Lane;
    use std::sync::{Arc, Mutex};

    /// Notes what it sees; fails from the `fails_at`th event on.
    #[derive(Clone, Default)]
    struct Witness {
        seen: Arc<Mutex<Vec<(u64, String)>>>,
        fails_at: Option<(usize, io::ErrorKind)>,
    }

    impl Reporter for Witness {
        fn name(&self) -> &str {
            "witness"
        }

        fn event(&mut self, event: &Event) -> io::Result<()> {
            let what = match &event.body {
                Body::Log(log) => log.text.clone(),
                Body::TestFinished(finished) => finished.test.name.clone(),
                Body::RunFinished(finished) => format!("exit {}", finished.exit_code),
                other => format!("{other:?}"),
            };
            let mut seen = self.seen.lock().unwrap();
            seen.push((event.seq, what));
            match self.fails_at {
                Some((number, kind)) if seen.len() >= number => Err(kind.into()),
                _ => Ok(()),
            }
        }

        fn finish(&mut self) -> io::Result<()> {
            self.seen.lock().unwrap().push((0, "finish".to_owned()));
            Ok(())
        }
    }

    impl Witness {
        fn texts(&self) -> Vec<String> {
            self.seen.lock().unwrap().iter().map(|(_, text)| text.clone()).collect()
        }
    }

    fn say(file: Option<usize>, text: &str) -> Posted {
        let log = Log { from: LogFrom::Engine, session: None, step: None, text: text.to_owned() };
        Posted { at: SystemTime::UNIX_EPOCH, file, what: What::Event(Body::Log(log)) }
    }

    fn done(file: usize) -> Posted {
        Posted { at: SystemTime::UNIX_EPOCH, file: Some(file), what: What::FileDone }
    }

    fn finished(file: usize, name: &str, status: Status, code: Option<&'static str>) -> Posted {
        let test = sample::test("a.yml", "A", "s", Lane::Tests, name, 1);
        let failure = |code| Failure {
            kind: FailureKind::Fault,
            message: String::new(),
            matcher: None,
            path: None,
            expected: None,
            actual: None,
            code: Some(code),
            source: None,
            step: None,
            hints: vec![],
            diff: None,
            at: At { file: "a.yml".into(), line: 1, column: 1, width: 1, text: String::new(), cut: 0 },
        };
        let failures = code.map(failure).into_iter().collect();
        let finished = TestFinished { test, status, duration_ms: 1.0, failures, reason: None, attempts: None };
        Posted { at: SystemTime::UNIX_EPOCH, file: Some(file), what: What::Event(Body::TestFinished(finished)) }
    }

    fn collector(witnesses: &[&Witness]) -> Collector {
        let reporters = witnesses.iter().map(|&witness| Box::new(witness.clone()) as Box<dyn Reporter>);
        Collector::new(reporters.collect(), Redactor::default())
    }

    #[test]
    fn files_come_out_in_the_order_of_the_plan() {
        let witness = Witness::default();
        let mut collector = collector(&[&witness]);
        collector.accept(vec![say(None, "run"), say(2, "2a"), say(1, "1a"), say(0, "0a")]);
        assert_eq!(witness.texts(), ["run", "0a"], "the head streams, the others wait");
        collector.accept(vec![done(1), say(None, "session"), say(2, "2b"), say(0, "0b")]);
        assert_eq!(witness.texts(), ["run", "0a", "session", "0b"]);
        collector.accept(vec![done(0)]);
        assert_eq!(witness.texts()[4..], ["1a", "2a", "2b"], "1 was done already, so 2 is the head now");
        collector.accept(vec![say(2, "2c"), done(2), say(3, "3a")]);
        assert_eq!(witness.texts()[7..], ["2c", "3a"]);
        collector.finish(false, 0);
        let seen = witness.seen.lock().unwrap();
        assert!(seen[..seen.len() - 1].iter().zip(1..).all(|((seq, _), number)| *seq == number), "{seen:?}");
        assert_eq!(seen[seen.len() - 2].1, "exit 0");
        assert_eq!(seen[seen.len() - 1].1, "finish");

        fn say(file: impl Into<Option<usize>>, text: &str) -> Posted {
            super::tests::say(file.into(), text)
        }
    }

    #[test]
    fn an_interrupted_run_still_tells_everything() {
        let witness = Witness::default();
        let mut collector = collector(&[&witness]);
        collector.accept(vec![say(Some(4), "4"), say(Some(2), "2"), finished(3, "3", Status::Failed, None)]);
        assert_eq!((collector.summary().total, collector.summary().failed), (1, 1));
        assert_eq!(collector.exit_code(true), 130);
        let finished = collector.finish(true, 130);
        assert_eq!(witness.texts(), ["2", "3", "4", "exit 130", "finish"]);
        assert_eq!(finished.summary.failed, 1);
    }

    #[test]
    fn a_broken_reporter_is_left_alone_and_named_at_the_end() {
        let full = Witness { fails_at: Some((2, io::ErrorKind::StorageFull)), ..Witness::default() };
        let gone = Witness { fails_at: Some((1, io::ErrorKind::BrokenPipe)), ..Witness::default() };
        let fine = Witness::default();
        let mut collector = collector(&[&full, &gone, &fine]);
        collector.accept(vec![say(None, "a"), say(None, "b"), say(None, "c")]);
        collector.tick();
        let finished = collector.finish(false, 0);
        assert_eq!(full.texts(), ["a", "b"]);
        assert_eq!(gone.texts(), ["a"]);
        assert_eq!(fine.texts(), ["a", "b", "c", "exit 0", "finish"]);
        let [broken] = &finished.errors[..] else { panic!("{:?}", finished.errors) };
        assert_eq!(broken.to_string(), "reporter `witness` could not write: no storage space");
    }

    #[test]
    fn the_summary_is_the_exit_code() {
        let mut collector = collector(&[]);
        assert_eq!(collector.exit_code(false), 0);
        collector.accept(vec![finished(0, "a", Status::Passed, None), finished(0, "b", Status::Skipped, None)]);
        assert_eq!(collector.exit_code(false), 0);
        collector.accept(vec![finished(0, "c", Status::Faulted, Some("timeout"))]);
        assert_eq!(collector.exit_code(false), 1);
        collector.accept(vec![finished(1, "d", Status::Faulted, Some("start_failed"))]);
        assert_eq!(collector.exit_code(false), 3);
        assert_eq!(collector.exit_code(true), 130);
        let Summary { total, passed, failed, faulted, skipped, .. } = collector.summary();
        assert_eq!([total, passed, failed, faulted, skipped], [4, 1, 0, 2, 1]);
    }
}
