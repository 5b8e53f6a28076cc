//! The way from the workers to the collector.

use super::Body;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Where workers put what happened. Posting never wakes anyone: the collector comes by, so that an event costs a
/// push and not a context switch.
#[derive(Debug, Clone, Default)]
pub struct Outbox(Arc<Mutex<Vec<Posted>>>);

/// What a worker posts.
#[derive(Debug)]
pub struct Posted {
    /// When.
    pub at: SystemTime,
    /// The position of the suite file in the plan, for the order of the report; `None` for the run's own events.
    pub file: Option<usize>,
    /// What.
    pub what: What,
}

/// An event, or a mark for the collector.
#[derive(Debug)]
pub enum What {
    /// Something happened.
    Event(Body),
    /// Nothing more will come of this file.
    FileDone,
    /// A value that was fetched during the run, and must not leave it.
    Secret(String),
}

impl Outbox {
    /// Leaves an event for the collector.
    pub fn post(&self, file: Option<usize>, what: What) {
        let posted = Posted { at: SystemTime::now(), file, what };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(posted);
    }

    /// Takes everything that was posted.
    pub fn take(&self) -> Vec<Posted> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
