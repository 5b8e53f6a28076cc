//! What no run does to a plugin, and its author wants to know: a method that it cannot have, and params of the wrong kind.

use super::line::Answer;
use super::pipe::Trouble;
use super::{EXECUTE, Process, Speech, State};
use crate::extension::fault::{Code, plain};
use crate::extension::plugin::words::METHOD_NOT_FOUND;

/// A method that no plugin has.
const UNKNOWN: &str = "mcptest/unknown";

impl Process {
    /// Says what is wrong with how it answers; it is started where it does not run yet.
    pub(super) fn probe_it(&self) -> Vec<String> {
        let mut state = self.state();
        if let State::Unborn = *state {
            *state = match self.start() {
                Ok((pipe, exposed)) => State::Running(pipe, exposed),
                Err(fault) => State::Lost(fault),
            };
        }
        let State::Running(pipe, _) = &mut *state else {
            return match &*state {
                State::Lost(fault) if fault.code != Code::Crashed => vec![fault.message.clone()],
                _ => Vec::new(),
            };
        };
        let mut problems = Vec::new();
        match pipe.exchange(UNKNOWN, "null", self.timeout) {
            Ok(Answer::Error { code: METHOD_NOT_FOUND, .. }) => {}
            Ok(Answer::Error { code, .. }) => {
                problems.push(format!("a method that it does not have: the error is {code}, and should be -32601"));
            }
            Ok(Answer::Result(result)) => {
                problems.push(format!(
                    "a method that it does not have: it answers {}, and should with the error -32601",
                    plain(&result)
                ));
            }
            Err(trouble) => problems.push(format!("a method that it does not have: {}", told(&trouble))),
        }
        let method = match &self.speech {
            Speech::Bare(method) => method.as_str(),
            Speech::Bound { .. } => EXECUTE,
        };
        for params in ["null", "7", "[]", "{}"] {
            if let Err(trouble) = pipe.exchange(method, params, self.timeout) {
                problems.push(format!("the params {params}: {}; -32602 is the error for them", told(&trouble)));
                if matches!(trouble, Trouble::Ended { .. }) {
                    break;
                }
            }
        }
        problems
    }
}

fn told(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Late => "it does not answer".to_owned(),
        Trouble::Ended { exit: Some(exit), .. } => format!("it ended ({exit})"),
        Trouble::Ended { exit: None, .. } => "it closed its stdout".to_owned(),
        Trouble::Bad { why, raw, .. } => format!("{why}, in {}", plain(raw)),
    }
}
