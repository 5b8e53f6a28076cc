//! How long a process may take to end by itself, stage by stage.

use std::time::Duration;

/// What each stage of a shutdown waits before the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// After the end of its input, before SIGTERM.
    pub stdin: Duration,
    /// After SIGTERM, before SIGKILL.
    pub term: Duration,
}

impl Grace {
    /// The same for each stage.
    pub const fn each(stage: Duration) -> Grace {
        Grace { stdin: stage, term: stage }
    }

    /// No stage longer than this.
    pub fn at_most(self, stage: Duration) -> Grace {
        Grace { stdin: self.stdin.min(stage), term: self.term.min(stage) }
    }

    /// For whatever else is awaited at the end, such as the answer to a farewell.
    pub fn longest(self) -> Duration {
        self.stdin.max(self.term)
    }
}

impl Default for Grace {
    /// Two seconds a stage: servers flush files and stop browsers in that time.
    fn default() -> Grace {
        Grace::each(Duration::from_secs(2))
    }
}
