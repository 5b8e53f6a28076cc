//! The end before the end: Ctrl-C, SIGTERM, and too many failures.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Why a run stops early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// It goes on.
    None,
    /// `--fail-fast`, `--max-fail`.
    Failures,
    /// A signal.
    Interrupted,
}

/// Told once, heard by every worker.
#[derive(Debug)]
pub(super) struct Stop(watch::Sender<Reason>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(watch::Sender::new(Reason::None))
    }
}

impl Stop {
    /// A signal came. The second one does not wait for anybody.
    pub(super) fn interrupt(&self) {
        if self.interrupted() {
            crate::child::kill_everything();
            std::process::exit(130);
        }
        self.0.send_replace(Reason::Interrupted);
    }

    /// Enough has failed: no further test begins.
    pub(super) fn enough(&self) {
        self.0.send_if_modified(|reason| {
            let first = *reason == Reason::None;
            if first {
                *reason = Reason::Failures;
            }
            first
        });
    }

    pub(super) fn reason(&self) -> Reason {
        *self.0.borrow()
    }

    pub(super) fn interrupted(&self) -> bool {
        self.reason() == Reason::Interrupted
    }

    /// A listener that a worker keeps.
    pub(super) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

/// Hears of a signal.
#[derive(Debug)]
pub(super) struct Listener(watch::Receiver<Reason>);

impl Listener {
    /// Returns when a signal came; never otherwise.
    pub(super) async fn interrupted(&mut self) {
        if self.0.wait_for(|reason| *reason == Reason::Interrupted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The signals that end a run.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
