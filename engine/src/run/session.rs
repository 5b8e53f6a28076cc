//! One process of a server under test, from spawn to exit.

use super::alarm::Alarm;
use super::fault::{Code, Fault};
use super::stop::Listener;
use super::window::Window;
use crate::child::{Exit, Shutdown, Spawn};
use crate::matcher::Expected;
use crate::mcp::lifecycle::{self, Introduction};
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::stdio::{Incoming, Stdio};
use crate::source::Json;
use crate::suite::server::{Server, variables::fill_tmp};
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, timeout_at};

/// How long the awaited `ping` after the handshake may take: a server that never answers it costs this once.
const BARRIER: Duration = Duration::from_secs(2);
/// How long a stage of the shutdown waits when the user is waiting too.
const HURRIED: Duration = Duration::from_millis(400);

/// A live session.
#[derive(Debug)]
pub(super) struct Session {
    /// `name#n`.
    pub(super) name: Arc<str>,
    /// Its server.
    pub(super) server: Arc<Server>,
    /// What the client declared.
    pub(super) capabilities: Arc<Json>,
    /// The pipes and the process.
    pub(super) stdio: Stdio,
    /// What came between steps; it belongs to the next one.
    pub(super) between: Window,
    /// How the process ended, once it has.
    pub(super) exit: Option<Exit>,
    /// A line was written halfway, so nothing more can be sent.
    pub(super) broken: bool,
    /// Requests that timed out: their answers may still come.
    pub(super) overdue: Vec<Json>,
    /// How often each scripted answer of the server's definition was used.
    pub(super) turns: HashMap<String, usize>,
    /// The tools' output schemas, once they were asked for.
    pub(super) output_schemas: Option<HashMap<String, Option<Expected>>>,
    /// Rings when a step has waited long enough.
    pub(super) alarm: Alarm,
    tmp: TempDir,
    tmp_text: Rc<str>,
    last_id: u64,
}

/// What a session is opened with.
#[derive(Debug)]
pub(super) struct Opening<'a> {
    pub(super) name: Arc<str>,
    pub(super) server: &'a Arc<Server>,
    pub(super) capabilities: &'a Arc<Json>,
    /// Added to what the server inherits.
    pub(super) environment: &'a [(String, String)],
    /// Whether `initialize` is sent.
    pub(super) handshake: bool,
}

/// A start that failed: why, and what the server said on stderr.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) fault: Fault,
    pub(super) window: Window,
}

impl Session {
    /// Starts the server and shakes hands.
    pub(super) async fn open(
        opening: Opening<'_>,
        listener: &mut Listener,
    ) -> Result<(Session, Introduction), Box<Failed>> {
        let mut window = Window::default();
        let mut session = match Session::start(&opening) {
            Ok(session) => session,
            Err(fault) => return Err(Box::new(Failed { fault, window })),
        };
        let begun = tokio::select! {
            begun = session.begin(opening.handshake, &mut window) => begun,
            () = listener.interrupted() => Err(Fault::new(Code::StartFailed, "interrupted while the server was starting")),
        };
        match begun {
            Ok(introduction) => Ok((session, introduction)),
            Err(fault) => {
                let mut how = format!("it was started with `{}`", command_line(&session.server));
                if std::env::current_dir().is_ok_and(|ours| ours != session.server.cwd) {
                    how.push_str(&format!(" in `{}`", session.server.cwd.display()));
                }
                let fault = fault.hint(how);
                let closed = session.stdio.close(HURRIED.min(session.server.shutdown_timeout)).await;
                for incoming in closed.rest {
                    if let Incoming::Stderr(text) = incoming {
                        window.stderr(&text);
                    }
                }
                Err(Box::new(Failed { fault, window }))
            }
        }
    }

    fn start(opening: &Opening<'_>) -> Result<Session, Fault> {
        let server = opening.server;
        let problem = |what: &str, error: std::io::Error| Fault::new(Code::StartFailed, format!("{what}: {error}"));
        let tmp = tempfile::Builder::new()
            .prefix("mcptest-")
            .tempdir()
            .map_err(|error| problem("cannot make a temporary directory", error))?;
        let tmp_text = tmp.path().to_string_lossy().into_owned();
        if let Some(fixture) = &server.fixture {
            copy_folder(fixture, tmp.path())
                .map_err(|error| problem(&format!("cannot copy the fixture `{}`", fixture.display()), error))?;
        }
        let fill = |text: &str| fill_tmp(text, &tmp_text);
        let added = opening.environment.iter().cloned();
        let spawn = Spawn {
            program: own_program(&fill(&server.command)),
            args: server.args.iter().map(|arg| fill(arg)).collect(),
            cwd: fill(&server.cwd.to_string_lossy()).into(),
            env: added.chain(server.env.iter().map(|(name, value)| (name.clone(), fill(value)))).collect(),
            inherit_env: true,
        };
        let stdio = Stdio::start(&spawn, server.max_line).map_err(|error| {
            let fault = Fault::new(Code::StartFailed, error.to_string());
            error.hints().into_iter().fold(fault, Fault::hint)
        })?;
        Ok(Session {
            name: opening.name.clone(),
            server: server.clone(),
            capabilities: opening.capabilities.clone(),
            stdio,
            between: Window::default(),
            exit: None,
            broken: false,
            overdue: Vec::new(),
            turns: HashMap::new(),
            output_schemas: None,
            alarm: Alarm::default(),
            tmp,
            tmp_text: tmp_text.into(),
            last_id: 0,
        })
    }

    /// Everything before the first step: the ready line, the handshake, the barrier.
    async fn begin(&mut self, handshake: bool, window: &mut Window) -> Result<Introduction, Fault> {
        let server = self.server.clone();
        if let Some(pattern) = &server.ready_pattern {
            let deadline = Instant::now() + server.startup_timeout;
            while !pattern.is_match(&window.stderr) {
                let Some(incoming) = self.stdio.receive_by(deadline).await else {
                    return Err(Fault::new(
                        Code::StartFailed,
                        format!(
                            "stderr did not match `readyPattern` /{pattern}/ within `startupTimeout` ({})",
                            plain(server.startup_timeout)
                        ),
                    ));
                };
                self.note_start(incoming, window)?;
            }
        }
        if !handshake {
            return Ok(Introduction::default());
        }
        let id = self.fresh_id();
        let request = lifecycle::initialize(&id, server.protocol.as_deref(), &self.capabilities);
        let deadline = Instant::now() + server.startup_timeout;
        let answer = self.ask(&request, &id, deadline, window).await?.ok_or_else(|| {
            Fault::new(
                Code::HandshakeFailed,
                format!("no answer to `initialize` within `startupTimeout` ({})", plain(server.startup_timeout)),
            )
            .hint("a slow server needs a longer `startupTimeout` in its config")
            .hint("a server that prints a line when it is ready can be awaited with `readyPattern`")
        })?;
        let value = answer.value().map_err(|malformed| {
            Fault::new(Code::HandshakeFailed, format!("the answer to `initialize` cannot be read: {malformed}"))
        })?;
        let introduction = lifecycle::introduction(&value, server.protocol.as_deref())
            .map_err(|message| Fault::new(Code::HandshakeFailed, message))?;
        self.send_json(&lifecycle::initialized(), window).await?;
        self.barrier(introduction, window).await
    }

    /// An awaited `ping`: what a server does on start-up comes before its answer, and so belongs to no step.
    async fn barrier(&mut self, mut introduction: Introduction, window: &mut Window) -> Result<Introduction, Fault> {
        if !self.server.barrier {
            return Ok(introduction);
        }
        let id = self.fresh_id();
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        if self.ask(&ping, &id, Instant::now() + BARRIER, window).await?.is_none() {
            introduction.notes.push(format!(
                "the server did not answer `ping` within {}; `barrier: false` in its config leaves the ping out",
                plain(BARRIER)
            ));
            self.overdue.push(id);
        }
        self.stdio.drain();
        while let Some(incoming) = self.stdio.next_queued() {
            self.note_start(incoming, window)?;
        }
        Ok(introduction)
    }

    /// Sends a request of the handshake and awaits its answer; `None` when the time is over.
    async fn ask(
        &mut self,
        request: &Json,
        id: &Json,
        deadline: Instant,
        window: &mut Window,
    ) -> Result<Option<Message>, Fault> {
        match timeout_at(deadline, self.send_json(request, window)).await {
            Ok(sent) => sent?,
            Err(_) => return Ok(None),
        }
        loop {
            let Some(incoming) = self.stdio.receive_by(deadline).await else { return Ok(None) };
            match incoming {
                Incoming::Message(message)
                    if message.id() == Some(id) && !matches!(message.kind, Kind::Request { .. }) =>
                {
                    return Ok(Some(message));
                }
                Incoming::Message(message) => {
                    let reply = match &message.kind {
                        Kind::Request { id, method } => Some(early_reply(id, method)),
                        _ => None,
                    };
                    window.received(Rc::new(message));
                    if let Some(reply) = reply
                        && timeout_at(deadline, self.send_json(&reply, window)).await.is_err()
                    {
                        return Ok(None);
                    }
                }
                other => self.note_start(other, window)?,
            }
        }
    }

    async fn send_json(&mut self, message: &Json, window: &mut Window) -> Result<(), Fault> {
        let line = format!("{message}\n");
        window.sent(line.as_str());
        match self.stdio.send(line.as_bytes()).await {
            Ok(()) => Ok(()),
            // The reason is how the process ended, which comes as an event of its own.
            Err(_) => Ok(()),
        }
    }

    fn note_start(&mut self, incoming: Incoming, window: &mut Window) -> Result<(), Fault> {
        match incoming {
            Incoming::Message(message) => window.received(Rc::new(message)),
            Incoming::Noise(line) => window.noise(line),
            Incoming::Oversize { head, bytes } => window.noise(format!("{head}… ({bytes} bytes)")),
            Incoming::Stderr(text) => window.stderr(&text),
            Incoming::StderrClosed | Incoming::StdoutClosed => {}
            Incoming::Exited(exit) => {
                self.exit = Some(exit);
                let message = format!("the server ended before it was ready ({exit})");
                return Err(Fault::new(Code::StartFailed, message));
            }
        }
        Ok(())
    }

    /// An id that no suite uses.
    pub(super) fn fresh_id(&mut self) -> Json {
        self.last_id += 1;
        Json::String(format!("mcptest-{}", self.last_id))
    }

    /// `${tmp}`.
    pub(super) fn tmp(&self) -> Rc<str> {
        self.tmp_text.clone()
    }

    /// The folder behind `${tmp}`.
    pub(super) fn tmp_folder(&self) -> &Path {
        self.tmp.path()
    }

    /// Whether steps can still be run in it.
    pub(super) fn is_alive(&self) -> bool {
        self.exit.is_none() && !self.broken
    }

    /// Ends the server: EOF, then SIGTERM, then SIGKILL.
    pub(super) async fn close(mut self, hurried: bool) -> Shutdown {
        let grace = self.server.shutdown_timeout;
        self.stdio.close(if hurried { grace.min(HURRIED) } else { grace }).await.shutdown
    }
}

/// Before the first step nothing is scripted: `ping` is answered, the rest is refused.
fn early_reply(id: &Json, method: &str) -> Json {
    match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}}),
    }
}

/// The command as a shell would take it.
fn command_line(server: &Server) -> String {
    let quoted = |word: &String| {
        let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+${}".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    std::iter::once(&server.command).chain(&server.args).map(quoted).collect::<Vec<_>>().join(" ")
}

/// `mcptest` as a server's command is this very program, wherever it is installed.
fn own_program(command: &str) -> String {
    if command != "mcptest" {
        return command.to_owned();
    }
    std::env::current_exe().map_or_else(|_| command.to_owned(), |path| path.to_string_lossy().into_owned())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            std::fs::create_dir(&target)?;
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// A duration in a message: `500ms`, `30s`.
pub(super) fn plain(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis >= 1000 && millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}
