//! The finished tests of a run by suite file, for reporters that write one document at the end.

use crate::event::{Attempt, Body, Event, RunFinished, Status, TestFinished};
use crate::reporter::tail::Tail;
use std::collections::HashMap;
use std::sync::Arc;

/// Everything that has finished.
#[derive(Default)]
pub(super) struct Results {
    pub(super) suites: Vec<Suite>,
    pub(super) run: Option<RunFinished>,
    by_file: HashMap<Arc<str>, usize>,
    attempts: Vec<Attempt>,
    tail: Tail,
}

/// The tests of one file.
pub(super) struct Suite {
    pub(super) description: Arc<str>,
    pub(super) file: Arc<str>,
    pub(super) server: Arc<str>,
    pub(super) tests: Vec<Finished>,
}

/// A test, and what happened on the way when it did not simply pass.
pub(super) struct Finished {
    pub(super) result: TestFinished,
    pub(super) attempts: Vec<Attempt>,
    pub(super) tail: Tail,
}

impl Results {
    pub(super) fn event(&mut self, event: &Event) {
        match &event.body {
            Body::TestStarted { .. } => self.attempts.clear(),
            Body::Attempt(attempt) => self.attempts.push(attempt.clone()),
            Body::TestFinished(finished) => self.test(finished),
            Body::RunFinished(run) => self.run = Some(run.clone()),
            _ => {}
        }
        self.tail.event(&event.body);
    }

    fn test(&mut self, finished: &TestFinished) {
        let went_wrong = matches!(finished.status, Status::Failed | Status::Faulted);
        let tail = if went_wrong { std::mem::take(&mut self.tail) } else { Tail::default() };
        let test = &finished.test;
        let index = match self.suites.last() {
            Some(last) if Arc::ptr_eq(&last.file, &test.file) => self.suites.len() - 1,
            _ => *self.by_file.entry(test.file.clone()).or_insert(self.suites.len()),
        };
        if index == self.suites.len() {
            let (description, file) = (test.suite.clone(), test.file.clone());
            self.suites.push(Suite { description, file, server: test.server.clone(), tests: Vec::new() });
        }
        let attempts = std::mem::take(&mut self.attempts);
        self.suites[index].tests.push(Finished { result: finished.clone(), attempts, tail });
    }
}
