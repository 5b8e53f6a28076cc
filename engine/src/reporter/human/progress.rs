//! What the moving line says: `12/42 · 1 failed · 3.4s · reads an existing file`.

use super::paint::Paint;
use crate::event::{RunStarted, Status, Test};
use crate::reporter::text::{columns, duration, fit};
use crate::reporter::visible::visible;
use std::sync::Arc;
use std::time::Instant;

/// How far the run is.
pub(super) struct Progress {
    began: Instant,
    planned: usize,
    done: usize,
    bad: [usize; 2],
    current: Option<Arc<Test>>,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { began: Instant::now(), planned: 0, done: 0, bad: [0; 2], current: None }
    }
}

impl Progress {
    pub(super) fn run_started(&mut self, started: &RunStarted) {
        self.began = Instant::now();
        self.planned = started.tests;
    }

    pub(super) fn started(&mut self, test: &Arc<Test>) {
        self.current = Some(test.clone());
    }

    pub(super) fn finished(&mut self, status: Status) {
        self.current = None;
        self.done += 1;
        self.bad[0] += usize::from(status == Status::Failed);
        self.bad[1] += usize::from(status == Status::Faulted);
    }

    /// The line, in at most `width` columns.
    pub(super) fn line(&self, width: usize, paint: Paint) -> String {
        let elapsed = duration(self.began.elapsed().as_secs_f64() * 1000.0);
        let mut parts = vec![(format!("{}/{}", self.done, self.planned.max(self.done)), None)];
        for (number, status, word) in
            [(self.bad[0], Status::Failed, "failed"), (self.bad[1], Status::Faulted, "faulted")]
        {
            if number > 0 {
                parts.push((format!("{number} {word}"), Some(status)));
            }
        }
        parts.push((elapsed, None));
        parts.extend(self.current.as_ref().map(|test| (visible(&test.name).into_owned(), None)));
        // The last column stays free: some terminals wrap when it is filled.
        let mut room = width.saturating_sub(1);
        let mut line = String::new();
        for (part, status) in parts {
            let separator = if line.is_empty() { "  " } else { " · " };
            let text = fit(&part, room.saturating_sub(separator.chars().count()));
            room = room.saturating_sub(separator.chars().count() + columns(&text));
            if !text.is_empty() {
                line.push_str(&paint.dim(separator));
                line.push_str(&status.map_or_else(|| paint.dim(&text), |status| paint.status(status, &text)));
            }
        }
        line
    }
}
