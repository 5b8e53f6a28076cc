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
mod probe;
mod schema;

use super::capability::Grant;
use super::declared::Launch;
use super::fault::{Code, Fault, plain};
use super::hurry::{Hurry, Patience};
use super::plugin::{Wire, words};
use super::{Introduced, Probe};
use crate::child::{Exit, Spawn, SpawnError, program};
use line::Answer;
use pipe::{Pipe, Trouble};
pub use schema::schema;
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
    hurry: Hurry,
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
        Process { name, launch, env, speech, timeout, hurry: Hurry::default(), state: Mutex::default() }
    }

    fn patience<'a>(&'a self, hook: &'a str) -> Patience<'a> {
        Patience { hook, most: self.timeout, hurry: &self.hurry }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Result<Pipe, Fault> {
        let Launch { argv, folder, env } = &self.launch;
        let spawn = Spawn {
            program: argv.first().cloned().unwrap_or_default(),
            args: argv.get(1..).unwrap_or_default().to_vec(),
            cwd: folder.clone(),
            env: self.env.iter().chain(env).cloned().collect(),
            inherit_env: false,
        };
        Pipe::open(&spawn).map_err(|error| {
            let name = &self.name;
            let fault = Fault::new(Code::LaunchFailed, name, format!("plugin `{name}` could not be started: {error}"));
            match error {
                // Its hint is about the config of a server.
                SpawnError::Cwd { .. } => fault.hint(words::WORKING_DIR),
                error => error.hints().into_iter().fold(fault, Fault::hint),
            }
        })
    }

    /// Starts it, and shakes hands where that is agreed on.
    fn start(&self) -> Result<(Box<Pipe>, Vec<String>), Fault> {
        let mut pipe = self.open()?;
        match &self.speech {
            Speech::Bare(_) => Ok((Box::new(pipe), Vec::new())),
            Speech::Bound { tools, granted } => {
                let settle = |answer: &str| handshake::settle(&self.name, answer, granted);
                let exposed = self.ask_manifest(&mut pipe, tools, granted, settle)?;
                Ok((Box::new(pipe), exposed))
            }
        }
    }

    /// Asks a plugin that was just started who it is, and reads the answer.
    fn ask_manifest<T>(
        &self,
        pipe: &mut Pipe,
        tools: &[String],
        granted: &[Grant],
        read: impl FnOnce(&str) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let began = Instant::now();
        let answer = pipe.exchange(HANDSHAKE, &handshake::params(tools, granted), self.patience(HANDSHAKE));
        let settled = match answer {
            Ok(Answer::Result(result)) => read(&result),
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
            Trouble::Late { .. } if self.hurry.is_on() => words::interrupted(name, call),
            Trouble::Late { deaf: true, .. } => {
                words::late(name, call, self.timeout, "it has closed its stdin: a plugin reads it to its end")
            }
            Trouble::Late { half, .. } if !half.is_empty() => words::unended(name, call, self.timeout, &half),
            Trouble::Late { .. } => words::unflushed(name, call, self.timeout),
            Trouble::Bad { code, why, raw } => words::malformed(name, call, code, &why, &raw),
            Trouble::Ended { exit, half } => {
                let what = match exit {
                    Some(exit) => format!("ended before it answered `{}`, {after} ({exit})", plain(call)),
                    None => format!("closed its stdout before it answered `{}`, {after}", plain(call)),
                };
                let mut fault = Fault::new(Code::Crashed, name, format!("plugin `{name}` {what}"));
                if !half.is_empty() {
                    fault = fault.hint(format!("it had begun a line: {}", plain(&half)));
                }
                self.advice(exit).into_iter().fold(fault, Fault::hint)
            }
        }
    }

    /// What may lie behind an end that nobody asked for.
    fn advice(&self, exit: Option<Exit>) -> Option<String> {
        let Launch { argv, folder, .. } = &self.launch;
        match exit?.code? {
            0 => Some("a plugin answers one line after the other until its stdin ends".to_owned()),
            126 | 127 if argv.iter().any(|word| program::has_windows_shebang(&folder.join(word))) => {
                Some(program::WINDOWS_SHEBANG.to_owned())
            }
            _ => Some(format!("it ran in `{}`", folder.display())),
        }
    }

    /// Ends it where it runs; says what is worth telling.
    fn end(&self, state: &mut State) -> Vec<String> {
        let name = &self.name;
        let over = Fault::new(Code::Crashed, name, format!("plugin `{name}` was ended with the run"));
        match std::mem::replace(state, State::Lost(over)) {
            State::Running(pipe, _) => pipe.close(self.timeout, &self.hurry),
            State::Unborn | State::Lost(_) => Vec::new(),
        }
    }

    /// One exchange with a running plugin.
    fn exchange(&self, pipe: &mut Pipe, hook: &str, arguments: &str) -> Result<String, Fault> {
        let (began, patience) = (Instant::now(), self.patience(hook));
        let answer = match &self.speech {
            Speech::Bare(method) => pipe.exchange(method, arguments, patience),
            Speech::Bound { .. } => {
                let tool = serde_json::Value::from(hook);
                pipe.exchange(EXECUTE, &format!(r#"{{"tool":{tool},"arguments":{arguments}}}"#), patience)
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
            if self.hurry.is_on() {
                return Err(words::interrupted(&self.name, hook));
            }
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

    fn introduce(&self) -> Option<Result<Introduced, Fault>> {
        self.introduce_it()
    }

    fn probe(&self) -> Vec<Probe> {
        self.probe_it()
    }

    fn interrupt(&self) {
        self.hurry.begin();
    }

    fn close(&self) -> Vec<String> {
        let notices = self.end(&mut self.state());
        notices.into_iter().map(|notice| format!("plugin `{}` {notice}", self.name)).collect()
    }
}
