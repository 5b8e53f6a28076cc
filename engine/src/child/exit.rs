//! How a process ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// An exit code, or the signal that ended the process; neither when the status was lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exit {
    /// What the process returned.
    pub code: Option<i32>,
    /// What ended it.
    pub signal: Option<i32>,
}

/// Signals by number, as Linux and macOS agree on them.
const SIGNALS: [(i32, &str); 13] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
];

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Exit {
        Exit { code: status.code(), signal: status.signal() }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => match SIGNALS.iter().find(|(number, _)| *number == signal) {
                Some((_, name)) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            (None, None) => write!(f, "unknown exit status"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_a_person_would_say_it() {
        assert_eq!(Exit { code: Some(1), signal: None }.to_string(), "exit code 1");
        assert_eq!(Exit { code: None, signal: Some(9) }.to_string(), "signal 9 (SIGKILL)");
        assert_eq!(Exit { code: None, signal: Some(63) }.to_string(), "signal 63");
        assert_eq!(Exit::default().to_string(), "unknown exit status");
    }
}
