//! What nothing that leaves the engine shows, be it an event, a cassette or an error: known bit by bit, as configs are read.

use super::frame::Refusal;
use crate::event::redact::Redactor;
use crate::mcp::cassette::Redact;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The session's secrets.
#[derive(Debug, Clone, Default)]
pub(super) struct Hidden(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
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
            hidden.redactor().json_with(value, learnt);
        })
    }

    /// A text as it may be shown.
    pub(super) fn text(&self, text: &str) -> String {
        self.redactor().text(text).into_owned()
    }

    /// A refusal as it may be shown: servers tell on stderr, in errors and in bodies what they were told.
    pub(super) fn refusal(&self, mut refusal: Refusal) -> Refusal {
        let redactor = self.redactor();
        refusal.message = redactor.text(&refusal.message).into_owned();
        if let Some(data) = &mut refusal.data {
            redactor.json(data);
        }
        refusal
    }

    fn redactor(&self) -> Arc<Redactor> {
        self.lock().redactor.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
