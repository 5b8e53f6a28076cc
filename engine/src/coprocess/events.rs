//! Everything that happened in one session, numbered and without secrets, until it is handed on.

use super::hidden::Hidden;
use crate::event::collector::Collector;
use crate::event::redact::Redactor;
use crate::event::{Body, Event, Posted, Status, What};
use crate::reporter::Reporter;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// How many bytes of events are kept for the next flush: beyond it the oldest go.
const MOST: usize = 64 * 1024 * 1024;

/// The session's events.
pub(super) struct Events {
    collector: Collector,
    fresh: Fresh,
    hidden: Hidden,
    kept: VecDeque<Kept>,
    bytes: usize,
}

/// An event for the next flush.
enum Kept {
    /// Its line of the `ndjson` report.
    Line(String),
    /// A frame, of which every call has two: printed when it is handed on, for most sessions never flush.
    Frame(Box<Event>, usize),
}

impl Kept {
    fn of(event: &Event) -> Option<Kept> {
        match &event.body {
            Body::Frame(frame) => Some(Kept::Frame(Box::new(event.clone()), frame.text.len() + size_of::<Event>())),
            _ => serde_json::to_string(event).ok().map(Kept::Line),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Kept::Line(line) => line.len(),
            Kept::Frame(_, bytes) => *bytes,
        }
    }
}

/// What the collector released since it was last looked at.
#[derive(Clone, Default)]
struct Fresh(Arc<Mutex<Vec<Event>>>);

impl Reporter for Fresh {
    fn name(&self) -> &str {
        "coprocess"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Events {
    pub(super) fn new(hidden: Hidden) -> Events {
        let fresh = Fresh::default();
        let collector = Collector::new(vec![Box::new(fresh.clone())], Redactor::default());
        Events { collector, fresh, hidden, kept: VecDeque::new(), bytes: 0 }
    }

    /// Values that no event shows from now on.
    pub(super) fn hide(&mut self, secrets: &[String]) {
        self.hidden.add(secrets);
        let secret = |value: &String| Posted { at: SystemTime::now(), file: None, what: What::Secret(value.clone()) };
        self.collector.accept(secrets.iter().map(secret).collect());
    }

    /// What is kept, oldest first, as lines of the `ndjson` report.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |kept: &Kept| match kept {
            Kept::Line(line) => Some(line.clone()),
            Kept::Frame(event, _) => serde_json::to_string(event).ok(),
        };
        self.kept.iter().filter_map(line).collect()
    }

    /// Forgets what was handed on.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }

    /// Takes what happened; gives it back as reports show it.
    pub(super) fn accept(&mut self, posted: Vec<Posted>) -> Vec<Event> {
        for happened in &posted {
            if let What::Secret(value) = &happened.what {
                self.hidden.add(std::slice::from_ref(value));
            }
        }
        self.collector.accept(posted);
        let fresh = std::mem::take(&mut *self.fresh.0.lock().unwrap_or_else(PoisonError::into_inner));
        for event in &fresh {
            if let Some(kept) = Kept::of(event) {
                self.bytes += kept.bytes();
                self.kept.push_back(kept);
            }
        }
        while self.bytes > MOST
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes -= oldest.bytes();
        }
        fresh
    }

    /// A test that went wrong when nobody awaits its result any more, or that a signal spared.
    pub(super) fn tell_failure(&self, event: &Event, interrupted: bool) {
        let Body::TestFinished(finished) = &event.body else { return };
        if interrupted && finished.status == Status::Skipped {
            let why = finished.reason.as_deref().unwrap_or_default();
            self.tell(&format!("`{}` was skipped: {why}\n", finished.test.id));
        }
        if matches!(finished.status, Status::Failed | Status::Faulted) {
            let why = finished.failures.first().map_or("", |failure| failure.message.as_str());
            self.tell(&format!("`{}` did not pass: {why}\n", finished.test.id));
        }
    }

    /// Talk goes to stderr.
    pub(super) fn tell(&self, text: &str) {
        let _ = io::stderr().lock().write_all(self.hidden.text(text).as_bytes());
    }
}
