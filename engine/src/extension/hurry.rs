//! What Ctrl-C means for calls: nobody waits any longer.
//!
//! A matcher's call is given up at once, for its verdict is of no use any more. A reporter has a moment left, so that what
//! was run is still reported.

use super::plugin::{FINISH, OBSERVE};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What a reporter, and the end of a plugin, may still take.
pub(super) const MOMENT: Duration = Duration::from_millis(400);

/// How long a call of a hook may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience<'a> {
    pub(super) hook: &'a str,
    pub(super) most: Duration,
    pub(super) hurry: &'a Hurry,
}

/// Told once; looked at by whoever waits for a plugin.
#[derive(Debug)]
pub(super) struct Hurry {
    since: OnceLock<Instant>,
    told: watch::Sender<bool>,
}

impl Default for Hurry {
    fn default() -> Hurry {
        Hurry { since: OnceLock::new(), told: watch::Sender::new(false) }
    }
}

impl Hurry {
    /// From now on nobody waits.
    pub(super) fn begin(&self) {
        self.since.get_or_init(Instant::now);
        self.told.send_replace(true);
    }

    pub(super) fn is_on(&self) -> bool {
        self.since.get().is_some()
    }

    /// When a call of a hook is given up that began at `began`, and would otherwise have until `deadline`.
    pub(super) fn hasten(&self, hook: &str, began: Instant, deadline: Instant) -> Instant {
        match self.since.get() {
            Some(since) => deadline.min(began.max(*since) + patience(hook)),
            None => deadline,
        }
    }

    /// Returns when a call of a hook is to be given up; never as long as there is no hurry.
    pub(super) async fn over(&self, hook: &str) {
        if self.told.subscribe().wait_for(|on| *on).await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(patience(hook)).await;
    }

    /// How long a plugin may take to end.
    pub(super) fn grace(&self, usual: Duration) -> Duration {
        if self.is_on() { usual.min(MOMENT) } else { usual }
    }
}

fn patience(hook: &str) -> Duration {
    if [OBSERVE, FINISH].contains(&hook) { MOMENT } else { Duration::ZERO }
}
