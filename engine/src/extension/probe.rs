//! What authors want to know of an extension and no run asks: who it says it is, and how it takes what nobody should send.

use super::fault::plain;

/// What a plugin says of itself once it is started.
#[derive(Debug, Clone)]
pub struct Introduced {
    /// What it calls itself.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// The version of the protocol that is spoken with it.
    pub protocol: String,
    /// The tools it exposes.
    pub tools: Vec<String>,
    /// What it asks for.
    pub capabilities: Vec<String>,
}

/// One thing that was tried.
#[derive(Debug, Clone)]
pub struct Probe {
    /// What.
    pub what: String,
    /// What is wrong with how it went, and what to do about it.
    pub problem: Option<String>,
}

impl Probe {
    /// It went well.
    pub fn held(what: impl Into<String>) -> Probe {
        Probe { what: what.into(), problem: None }
    }

    /// It did not.
    pub fn failed(what: impl Into<String>, problem: impl Into<String>) -> Probe {
        Probe { what: what.into(), problem: Some(problem.into()) }
    }
}

/// How a process took the end of its stdin, from what is worth telling of it.
pub(super) fn ended(notices: Vec<String>) -> Vec<Probe> {
    let what = "the end of its stdin";
    match notices.is_empty() {
        true => vec![Probe::held(what)],
        false => notices.into_iter().map(|notice| Probe::failed(what, format!("it {notice}"))).collect(),
    }
}

/// How a plugin took params or arguments in which there is nothing to judge: whatever it says, it must not be yes.
pub(super) fn judged_nothing(what: String, result: &str) -> Probe {
    let passes = match serde_json::from_str::<serde_json::Value>(result) {
        Ok(verdict) => verdict == true || verdict["pass"] == true,
        Err(_) => false,
    };
    if passes {
        let problem = format!("it answers {}, with nothing to judge: answer with the error -32602", plain(result));
        return Probe::failed(what, problem);
    }
    Probe::held(what)
}
