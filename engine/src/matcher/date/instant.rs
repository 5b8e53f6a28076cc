//! A moment that can be compared with every other.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use std::fmt;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A moment, as the time since 1970 in UTC.
///
/// A [`Timestamp`] ends before the last day of the year 9999, which many servers send for "never".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::matcher) struct Instant(SignedDuration);

impl Instant {
    pub(super) fn now() -> Instant {
        Timestamp::now().into()
    }

    /// What a clock and a calendar show, at an offset.
    pub(super) fn civil(at: DateTime, offset: Offset) -> Instant {
        Instant(at.duration_since(EPOCH) - SignedDuration::from_secs(i64::from(offset.seconds())))
    }

    pub(super) fn milliseconds(since_1970: i64) -> Instant {
        Instant(SignedDuration::from_millis(since_1970))
    }

    pub(super) fn plus(self, length: SignedDuration) -> Instant {
        Instant(self.0.saturating_add(length))
    }

    pub(super) fn since(self, earlier: Instant) -> SignedDuration {
        self.0.saturating_sub(earlier.0)
    }

    /// Without what is smaller than a millisecond.
    pub(super) fn rounded(self) -> Instant {
        Instant(SignedDuration::from_millis(i64::try_from(self.0.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl From<Timestamp> for Instant {
    fn from(at: Timestamp) -> Instant {
        Instant(at.as_duration())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (Timestamp::from_duration(self.0), EPOCH.checked_add(self.0)) {
            (Ok(at), _) => at.fmt(f),
            (_, Ok(at)) => write!(f, "{at}Z"),
            _ => write!(f, "{} ms after 1970", self.0.as_millis()),
        }
    }
}
