//! A deadline that is set for every step and rings for almost none.
//!
//! Arming a timer costs a lock and a place in the wheel. Deadlines of steps only ever move on, so the timer is left where
//! it is and set anew when it rings too early: one timer for thousands of steps.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep, sleep_until};

/// One timer for the deadlines of a session.
#[derive(Debug, Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Ready when `deadline` has passed.
    pub(super) fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        loop {
            // The clock first: the runtime lets no timer ring in a turn in which a server that never pauses was read for long.
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            ready!(sleep.as_mut().poll(cx));
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;

    #[tokio::test]
    async fn rings_at_the_latest_deadline_asked_for_and_again_later() {
        let mut alarm = Alarm::default();
        let begun = Instant::now();
        let after = |millis: u64| begun + Duration::from_millis(millis);
        poll_fn(|cx| {
            assert!(alarm.poll(after(600_000), cx).is_pending());
            assert!(alarm.poll(after(30), cx).is_pending() || Instant::now() >= after(30));
            Poll::Ready(())
        })
        .await;
        for millis in [60, 90, 10] {
            poll_fn(|cx| alarm.poll(after(millis), cx)).await;
            assert!(Instant::now() >= after(millis));
        }
    }
}
