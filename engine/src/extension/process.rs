//! The subprocess backend: a program that reads requests and writes answers, one JSON object per line.
//!
//! ```text
//! → {"method":"near","params":{"expected":[3,0.5],"actual":3.2,"path":"$.text","step":"…"},"id":1}
//! ← {"id":1,"result":true}
//! ```
//!
//! It is started by the first call and kept for the run; requests are serialised. A bare plugin is one method. A bound
//! one is asked first [who it is](handshake), and then told which tool to `execute`. What it does wrong is a fault of
//! the call; once it has ended, every later call has the same fault.

mod handshake;
mod line;
mod pipe;

use super::capability::Grant;
use super::declared::Launch;
use super::fault::{Code, Fault, plain};
use super::plugin::{Wire, words};
use crate::child::Spawn;
use line::Answer;
use pipe::{Pipe, Trouble};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The version of the protocol that this host speaks.
pub const PROTOCOL_VERSION: u64 = 1;

/// What every plugin sees of the environment, where it is set. Everything else has to be granted.
pub const ENVIRONMENT: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// The names of the two methods of a bound plugin.
const HANDSHAKE: &str = "handshake";
const EXECUTE: &str = "execute";

/// A plugin that is a program.
#[derive(Debug)]
pub(super) struct Process {
    name: Arc<str>,
    launch: Launch,
    /// What of the engine's environment it sees.
    env: Vec<(String, String)>,
    speech: Speech,
    timeout: Duration,
    state: Mutex<State>,
}

/// How it is spoken to.
#[derive(Debug)]
pub(super) enum Speech {
    /// This method, and nothing before it.
    Bare(String),
    /// With a handshake, and then by tools.
    Bound {
        /// What the user wants of it.
        tools: Vec<String>,
        /// What it may have.
        granted: Vec<Grant>,
    },
}

/// Where it stands.
#[derive(Debug, Default)]
enum State {
    /// Nobody has called it.
    #[default]
    Unborn,
    /// It runs, and exposes these tools.
    Running(Box<Pipe>, Vec<String>),
    /// It is gone, and why.
    Lost(Fault),
}

impl Process {
    /// A program that nobody has called yet; `env` is what it sees of the engine's environment.
    pub(super) fn new(
        name: Arc<str>,
        launch: Launch,
        env: Vec<(String, String)>,
        speech: Speech,
        timeout: Duration,
    ) -> Process {
        Process { name, launch, env, speech, timeout, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts it, and shakes hands where that is agreed on.
    fn start(&self) -> Result<(Box<Pipe>, Vec<String>), Fault> {
        let Launch { argv, folder, env } = &self.launch;
        let spawn = Spawn {
            program: argv.first().cloned().unwrap_or_default(),
            args: argv.get(1..).unwrap_or_default().to_vec(),
            cwd: folder.clone(),
            env: self.env.iter().chain(env).cloned().collect(),
            inherit_env: false,
        };
        let mut pipe = Pipe::open(&spawn).map_err(|error| {
            let name = &self.name;
            let fault = Fault::new(Code::LaunchFailed, name, format!("plugin `{name}` could not be started: {error}"));
            error.hints().into_iter().fold(fault, Fault::hint)
        })?;
        match &self.speech {
            Speech::Bare(_) => Ok((Box::new(pipe), Vec::new())),
            Speech::Bound { tools, granted } => {
                let exposed = self.shake_hands(&mut pipe, tools, granted)?;
                Ok((Box::new(pipe), exposed))
            }
        }
    }

    fn shake_hands(&self, pipe: &mut Pipe, tools: &[String], granted: &[Grant]) -> Result<Vec<String>, Fault> {
        let began = Instant::now();
        let answer = pipe.exchange(HANDSHAKE, &handshake::params(tools, granted), self.timeout);
        let settled = match answer {
            Ok(Answer::Result(result)) => handshake::settle(&self.name, &result, granted),
            Ok(Answer::Error { code, message, .. }) => {
                let name = &self.name;
                let message = format!("plugin `{name}` refused the handshake ({code}): {}", plain(&message));
                let fault = Fault::new(Code::HandshakeFailed, name, message);
                Err(match code {
                    words::METHOD_NOT_FOUND => fault
                        .hint("one that has no handshake is named with `--plugin` or `imports.subprocess_matchers`"),
                    _ => fault,
                })
            }
            Err(trouble) => Err(self.explain(HANDSHAKE, trouble, began.elapsed())),
        };
        settled.map_err(|fault| Fault { took: began.elapsed(), stderr: pipe.said(), ..fault })
    }

    fn explain(&self, call: &str, trouble: Trouble, took: Duration) -> Fault {
        let name = &self.name;
        let after = words::after(took);
        match trouble {
            Trouble::Late => words::late(name, call, self.timeout),
            Trouble::Bad { code, why, raw } => words::malformed(name, call, code, &why, &raw),
            Trouble::Ended { exit, half } => {
                let what = match exit {
                    Some(exit) => format!("ended before it answered `{}`, {after} ({exit})", plain(call)),
                    None => format!("closed its stdout before it answered `{}`, {after}", plain(call)),
                };
                let fault = Fault::new(Code::Crashed, name, format!("plugin `{name}` {what}"));
                match half.as_str() {
                    "" => fault,
                    half => fault.hint(format!("it had begun a line: {}", plain(half))),
                }
            }
        }
    }

    /// One exchange with a running plugin.
    fn exchange(&self, pipe: &mut Pipe, hook: &str, arguments: &str) -> Result<String, Fault> {
        let began = Instant::now();
        let answer = match &self.speech {
            Speech::Bare(method) => pipe.exchange(method, arguments, self.timeout),
            Speech::Bound { .. } => {
                let tool = serde_json::Value::from(hook);
                pipe.exchange(EXECUTE, &format!(r#"{{"tool":{tool},"arguments":{arguments}}}"#), self.timeout)
            }
        };
        let fault = match answer {
            Ok(Answer::Result(result)) => return Ok(result),
            Ok(Answer::Error { code, message, data }) => {
                words::refused(&self.name, hook, code, &message, data.as_deref())
            }
            Err(trouble) => self.explain(hook, trouble, began.elapsed()),
        };
        Err(Fault { took: began.elapsed(), stderr: pipe.said(), ..fault })
    }
}

impl Wire for Process {
    fn call(&self, hook: &str, arguments: &str) -> Result<String, Fault> {
        let mut state = self.state();
        if let State::Unborn = *state {
            *state = match self.start() {
                Ok((pipe, exposed)) => State::Running(pipe, exposed),
                Err(fault) => State::Lost(fault.clone()),
            };
            if let State::Lost(fault) = &*state {
                return Err(fault.clone());
            }
        }
        match &mut *state {
            State::Unborn => unreachable!("it was started above"),
            State::Lost(fault) => {
                Err(fault.clone().hint("that was the first fault of it; a plugin is started once in a run"))
            }
            State::Running(_, exposed)
                if matches!(self.speech, Speech::Bound { .. }) && !exposed.iter().any(|tool| tool == hook) =>
            {
                Err(words::not_exposed(&self.name, hook, exposed))
            }
            State::Running(pipe, _) => {
                let result = self.exchange(pipe, hook, arguments);
                if let Err(fault) = &result
                    && fault.code == Code::Crashed
                {
                    *state = State::Lost(fault.clone());
                }
                result
            }
        }
    }

    fn close(&self) -> Vec<String> {
        let name = &self.name;
        let over = Fault::new(Code::Crashed, name, format!("plugin `{name}` was ended with the run"));
        match std::mem::replace(&mut *self.state(), State::Lost(over)) {
            State::Running(pipe, _) => {
                let notices = pipe.close(self.timeout);
                notices.into_iter().map(|notice| format!("plugin `{name}` {notice}")).collect()
            }
            State::Unborn | State::Lost(_) => Vec::new(),
        }
    }
}
