//! Everything that happened in one session, numbered and without secrets, until it is handed on.

use crate::event::collector::Collector;
use crate::event::redact::Redactor;
use crate::event::{Body, Event, Posted, Status};
use crate::reporter::Reporter;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes of events are kept for the next flush: beyond it the oldest go.
const MOST: usize = 64 * 1024 * 1024;

/// The session's events.
pub(super) struct Events {
    collector: Collector,
    fresh: Fresh,
    secrets: Vec<String>,
    /// Lines of the `ndjson` report.
    kept: VecDeque<String>,
    bytes: usize,
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
    pub(super) fn new() -> Events {
        let fresh = Fresh::default();
        let collector = Collector::new(vec![Box::new(fresh.clone())], Redactor::default());
        Events { collector, fresh, secrets: Vec::new(), kept: VecDeque::new(), bytes: 0 }
    }

    /// Values that no event shows from now on.
    pub(super) fn hide(&mut self, secrets: Vec<String>) {
        let known = self.secrets.len();
        self.secrets.extend(secrets);
        self.secrets.sort();
        self.secrets.dedup();
        if self.secrets.len() != known {
            self.collector.redact_with(Redactor::new(&self.secrets));
        }
    }

    /// Takes what happened; gives it back as reports show it.
    pub(super) fn accept(&mut self, posted: Vec<Posted>) -> Vec<Event> {
        self.collector.accept(posted);
        let fresh = std::mem::take(&mut *self.fresh.0.lock().unwrap_or_else(PoisonError::into_inner));
        for event in &fresh {
            if let Ok(line) = serde_json::to_string(event) {
                self.bytes += line.len();
                self.kept.push_back(line);
            }
        }
        while self.bytes > MOST
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes -= oldest.len();
        }
        fresh
    }

    /// A test that went wrong when nobody awaits its result any more.
    pub(super) fn tell_failure(&self, event: &Event) {
        let Body::TestFinished(finished) = &event.body else { return };
        if matches!(finished.status, Status::Failed | Status::Faulted) {
            let why = finished.failures.first().map_or("", |failure| failure.message.as_str());
            self.tell(&format!("`{}` did not pass: {why}\n", finished.test.id));
        }
    }

    /// Talk goes to stderr.
    pub(super) fn tell(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}
