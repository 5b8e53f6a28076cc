//! What no run does to a plugin, and its author wants to know: a method and a tool that it cannot have, params of the
//! wrong kind, and then the end.

use super::line::Answer;
use super::pipe::{Pipe, Trouble};
use super::{EXECUTE, Process, Speech, State, handshake};
use crate::extension::fault::{Code, Fault, plain};
use crate::extension::plugin::words::METHOD_NOT_FOUND;
use crate::extension::probe::{self, Introduced, Probe, judged_nothing};

/// A method, and a tool, that no plugin has.
const UNKNOWN: &str = "mcptest-unknown";

impl Process {
    /// Starts one of its own, asks who it is, and ends it; none for a plugin that is not asked.
    pub(super) fn introduce_it(&self) -> Option<Result<Introduced, Fault>> {
        let Speech::Bound { tools, granted } = &self.speech else { return None };
        let met = self.open().and_then(|mut pipe| {
            let read = self.ask_manifest(&mut pipe, tools, granted, |answer| handshake::read(&self.name, answer));
            pipe.close(self.timeout, &self.hurry);
            read
        });
        Some(met.map(handshake::Manifest::introduced))
    }

    /// Says how it takes what it should refuse, and the end of its stdin; it is started where it does not run yet.
    pub(super) fn probe_it(&self) -> Vec<Probe> {
        let mut state = self.state();
        if let State::Unborn = *state {
            *state = match self.start() {
                Ok((pipe, exposed)) => State::Running(pipe, exposed),
                Err(fault) => State::Lost(fault),
            };
        }
        let (pipe, exposed) = match &mut *state {
            State::Running(pipe, exposed) => (pipe, exposed),
            // A crash was told where it happened.
            State::Lost(fault) if fault.code != Code::Crashed => {
                return vec![Probe::failed("it starts", fault.message.clone())];
            }
            _ => return Vec::new(),
        };
        let mut probes = vec![self.refusal(pipe, "a method that it does not have", UNKNOWN, "null")];
        let params = match &self.speech {
            Speech::Bare(method) => {
                ["null", "7", "[]", "{}"].map(|params| (method.clone(), params.to_owned())).to_vec()
            }
            Speech::Bound { .. } => {
                let unknown = format!(r#"{{"tool":"{UNKNOWN}","arguments":{{}}}}"#);
                probes.push(self.refusal(pipe, "a tool that it does not have", EXECUTE, &unknown));
                let hook = serde_json::Value::from(exposed.first().map_or(UNKNOWN, String::as_str));
                let with = ["null", "7", "{}"].map(|arguments| format!(r#"{{"tool":{hook},"arguments":{arguments}}}"#));
                let without = ["null", "[]", "{}"].map(str::to_owned);
                without.into_iter().chain(with).map(|params| (EXECUTE.to_owned(), params)).collect()
            }
        };
        for (method, params) in params {
            let what = format!("the params {params}");
            match pipe.exchange(&method, &params, self.patience(&method)) {
                Ok(Answer::Error { .. }) => probes.push(Probe::held(what)),
                Ok(Answer::Result(result)) => probes.push(judged_nothing(what, &result)),
                Err(trouble) => {
                    let gone = matches!(trouble, Trouble::Ended { .. });
                    let problem = told(trouble, pipe) + "; -32602 is the error for params that cannot be used";
                    probes.push(Probe::failed(what, problem));
                    if gone {
                        return probes;
                    }
                    break;
                }
            }
        }
        probes.extend(probe::ended(self.end(&mut state)));
        probes
    }

    /// Asks for what it cannot have.
    fn refusal(&self, pipe: &mut Pipe, what: &str, method: &str, params: &str) -> Probe {
        match pipe.exchange(method, params, self.patience(method)) {
            Ok(Answer::Error { code: METHOD_NOT_FOUND, .. }) => Probe::held(what),
            Ok(Answer::Error { code, .. }) => {
                Probe::failed(what, format!("the error is {code}, and should be {METHOD_NOT_FOUND}"))
            }
            Ok(Answer::Result(result)) => Probe::failed(
                what,
                format!(
                    "it answers {}: look at what it is asked for, and answer others with the error {METHOD_NOT_FOUND}",
                    plain(&result)
                ),
            ),
            Err(trouble) => {
                let advice = format!("; {METHOD_NOT_FOUND} is the error for what it does not have");
                Probe::failed(what, told(trouble, pipe) + &advice)
            }
        }
    }
}

fn told(trouble: Trouble, pipe: &mut Pipe) -> String {
    match trouble {
        Trouble::Late { half, .. } if !half.is_empty() => format!("it does not end the line {}", plain(&half)),
        Trouble::Late { .. } => "it does not answer".to_owned(),
        Trouble::Ended { exit, .. } => {
            let last = pipe.said().lines().rfind(|line| !line.trim().is_empty()).map(plain);
            let said = last.map_or_else(String::new, |line| format!(", and wrote last to stderr: {line}"));
            match exit {
                Some(exit) => format!("it ended ({exit}){said}"),
                None => format!("it closed its stdout{said}"),
            }
        }
        Trouble::Bad { why, raw, .. } => format!("{why}, in {}", plain(&raw)),
    }
}
