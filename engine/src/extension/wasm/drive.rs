//! Polls a call on the caller's own thread until it is over or its deadline is.

use super::host::MOMENT;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: Waker = Arc::new(Unpark(std::thread::current())).into();
}

/// Runs a future to its end; `None` when the deadline came first, and the future is dropped. When somebody is `hurried`,
/// it has a moment left.
///
/// Most calls are over with the first poll. The budget that tokio gives its tasks does not hold here: the worker's task
/// would use it up and never get a new one, because it does not return to its runtime in between.
pub(super) fn until<F: Future>(deadline: Instant, hurried: &AtomicBool, future: F) -> Option<F::Output> {
    let mut future = pin!(tokio::task::coop::unconstrained(future));
    WAKER.with(|waker| {
        let mut context = Context::from_waker(waker);
        let mut hurry: Option<Instant> = None;
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Some(output);
            }
            if hurry.is_none() && hurried.load(Ordering::Relaxed) {
                hurry = Some(Instant::now() + MOMENT);
            }
            let deadline = hurry.map_or(deadline, |hurry| hurry.min(deadline));
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            std::thread::park_timeout(left.min(MOMENT));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_future_that_never_comes_is_given_up() {
        let soon = Instant::now() + Duration::from_millis(5);
        let calm = AtomicBool::new(false);
        assert_eq!(until(soon, &calm, std::future::pending::<()>()), None);
        assert_eq!(until(soon, &calm, std::future::ready(7)), Some(7), "one that is there is taken, however late");
    }

    #[test]
    fn a_wake_from_another_thread_is_heard() {
        let (send, receive) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || send.send(7));
        let calm = AtomicBool::new(false);
        assert_eq!(until(Instant::now() + Duration::from_secs(60), &calm, receive), Some(Ok(7)));
    }

    #[test]
    fn hurry_gives_up_what_is_pending() {
        let far = Instant::now() + Duration::from_secs(3600);
        assert_eq!(until(far, &AtomicBool::new(true), std::future::pending::<()>()), None);
    }
}
