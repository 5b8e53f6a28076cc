//! What no event and no cassette shows: known bit by bit, as configs are read.

use crate::event::redact::Redactor;
use crate::mcp::cassette::Redact;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The session's secrets.
#[derive(Clone, Default)]
pub(super) struct Hidden(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    secrets: Vec<String>,
    redactor: Arc<Redactor>,
}

impl Hidden {
    /// Hides further values.
    pub(super) fn add(&self, secrets: &[String]) {
        let mut known = self.lock();
        let before = known.secrets.len();
        known.secrets.extend_from_slice(secrets);
        known.secrets.sort();
        known.secrets.dedup();
        if known.secrets.len() != before {
            known.redactor = Arc::new(Redactor::new(&known.secrets));
        }
    }

    /// Hides what is known when it is called.
    pub(super) fn redact(&self) -> Redact {
        let hidden = self.clone();
        Arc::new(move |value, learnt| {
            let redactor = hidden.lock().redactor.clone();
            redactor.json_with(value, learnt);
        })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
