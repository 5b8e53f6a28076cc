//! The end before the end: Ctrl-C, SIGTERM, and too many failures.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
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
        let mut receiver = self.0.subscribe();
        let signal = Box::pin(async move {
            if receiver.wait_for(|reason| *reason == Reason::Interrupted).await.is_err() {
                std::future::pending::<()>().await;
            }
        });
        Listener { heard: false, signal }
    }
}

/// Hears of a signal. Its future lives as long as the worker, so that asking it costs a look and not a registration.
pub(super) struct Listener {
    heard: bool,
    signal: Pin<Box<dyn Future<Output = ()>>>,
}

impl Listener {
    /// Ready when a signal came; never otherwise.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.heard {
            ready!(self.signal.as_mut().poll(cx));
            self.heard = true;
        }
        Poll::Ready(())
    }

    /// Returns when a signal came; never otherwise.
    pub(super) async fn interrupted(&mut self) {
        std::future::poll_fn(|cx| self.poll(cx)).await;
    }
}
