//! One process of a server under test, from spawn to exit.

use super::alarm::Alarm;
use super::fault::{Code, Fault};
use super::output_schema::Schemas;
use super::respond::{Scripts, Turns};
use super::stop::Listener;
use super::window::{Window, params};
use crate::mcp::cassette::Reel;
use crate::mcp::connection::{Connection, Witness};
use crate::mcp::lifecycle::{self, Introduction};
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::Closed;
use crate::plan::FilePlan;
use crate::plan::scope::Moment;
use crate::source::Json;
use crate::suite::Respond;
use crate::suite::server::{Server, Tmp};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// A live session.
#[derive(Debug)]
pub(super) struct Session {
    /// `name#n`.
    pub(super) name: Arc<str>,
    /// Its server.
    pub(super) server: Arc<Server>,
    /// What the client declared.
    pub(super) capabilities: Arc<Json>,
    /// The way to the server.
    pub(super) connection: Connection,
    /// What came between steps; it belongs to the next one.
    pub(super) between: Window,
    /// A line was written halfway, so nothing more can be sent.
    pub(super) broken: bool,
    /// How often each scripted answer of the server's definition was used.
    pub(super) turns: HashMap<String, usize>,
    /// The tools' output schemas, once they were asked for; or why they did not come.
    pub(super) output_schemas: Option<Result<Schemas, Fault>>,
    /// What crossed before the first step.
    pub(super) start: Window,
    /// Values that were fetched on the way, and that no report may show.
    pub(super) secrets: Vec<String>,
    /// Rings when a step has waited long enough.
    pub(super) alarm: Alarm,
    /// The revision that was agreed on.
    pub(super) revision: Option<String>,
    /// What was told of odd messages in steps that passed: once is enough.
    pub(super) told: HashSet<String>,
    /// The subscriptions of the modern era: to what, and under which id.
    pub(super) listening: Vec<(String, Json)>,
    tmp: Tmp,
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
    /// Records the conversation, or plays one.
    pub(super) reel: Option<&'a Reel>,
    /// The file it is opened for, whose scripts answer what the server asks at once.
    pub(super) file: Option<&'a FilePlan>,
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
        let (none, captures) = (Respond::default(), HashMap::new());
        let (tmp, meta) = (session.tmp(), session.meta());
        let moment = Moment { captures: &captures, tmp: &tmp, meta: &meta };
        let scripts = opening.file.map(|file| scripts(file, opening.server, opening.capabilities, &none, moment));
        let mut start = Start { window: &mut window, scripts, turns: Turns::default(), server_turns: HashMap::new() };
        let begun = tokio::select! {
            begun = session.connection.begin(opening.handshake, &mut start) => begun,
            () = listener.interrupted() => Err(Fault::new(Code::StartFailed, "interrupted while the server was starting")),
        };
        match begun {
            Ok(mut introduction) => {
                introduction.notes.append(&mut window.notes);
                session.revision.clone_from(&introduction.protocol_version);
                session.secrets = std::mem::take(&mut window.secrets);
                session.start = window;
                Ok((session, introduction))
            }
            Err(fault) => {
                let mut how = session.server.reached();
                let started = !session.server.command.is_empty();
                if started && std::env::current_dir().is_ok_and(|ours| ours != session.server.cwd) {
                    how.push_str(&format!(" in `{}`", session.server.cwd.display()));
                }
                window.unfinished = session.connection.transport.unfinished();
                // What was seen says more than what may be the case in general.
                let seen = unheard(&window).into_iter().chain(session.server.missing_script());
                let hints = seen.chain(fault.hints).chain([how]).collect();
                let fault = Fault { hints, ..fault };
                session.connection.close(true, &mut window).await;
                Err(Box::new(Failed { fault, window }))
            }
        }
    }

    fn start(opening: &Opening<'_>) -> Result<Session, Fault> {
        let tmp = Tmp::new(opening.server)?;
        let mut target = opening.server.target(&tmp, opening.capabilities, opening.environment)?;
        target.spool = opening.server.spool(&tmp, opening.reel);
        Ok(Session {
            name: opening.name.clone(),
            server: opening.server.clone(),
            capabilities: opening.capabilities.clone(),
            connection: Connection::start(target)?,
            between: Window::default(),
            broken: false,
            turns: HashMap::new(),
            output_schemas: None,
            start: Window::default(),
            secrets: Vec::new(),
            alarm: Alarm::default(),
            revision: None,
            told: HashSet::new(),
            listening: Vec::new(),
            tmp,
        })
    }

    /// Goes on after a pause, with the scripts of a file for what the server asks meanwhile.
    pub(super) async fn resume(&mut self, file: &FilePlan) -> Option<String> {
        let (none, captures) = (Respond::default(), HashMap::new());
        let (tmp, meta) = (self.tmp(), self.meta());
        let moment = Moment { captures: &captures, tmp: &tmp, meta: &meta };
        let scripts = scripts(file, &self.server, &self.capabilities, &none, moment);
        let mut window = Window::default();
        let (turns, server_turns) = (Turns::default(), HashMap::new());
        let mut start = Start { window: &mut window, scripts: Some(scripts), turns, server_turns };
        self.connection.resume(&mut start).await
    }

    /// `${tmp}`.
    pub(super) fn tmp(&self) -> Rc<str> {
        self.tmp.text().clone()
    }

    /// `${session:meta}`: the `_meta` of a request in the modern era; empty in the legacy one.
    pub(super) fn meta(&self) -> Json {
        Json::Object(self.connection.modern().map(|modern| modern.meta.clone()).unwrap_or_default())
    }

    /// The folder behind `${tmp}`.
    pub(super) fn tmp_folder(&self) -> &Path {
        self.tmp.path()
    }

    /// Whether steps can still be run in it.
    pub(super) fn is_alive(&self) -> bool {
        self.connection.exit.is_none() && !self.broken
    }

    /// Ends the server; `window` takes in what still crosses.
    pub(super) async fn close(mut self, hurried: bool, window: &mut Window) -> Closed {
        self.connection.close(hurried, window).await
    }
}

/// Sees the start of a session, and answers what the server asks before the first step.
struct Start<'a> {
    window: &'a mut Window,
    scripts: Option<Scripts<'a>>,
    turns: Turns,
    server_turns: HashMap<String, usize>,
}

impl Witness for Start<'_> {
    fn sent(&mut self, line: &str) {
        self.window.sent(line);
    }

    fn received(&mut self, message: Message) {
        if let Kind::Response { id, .. } = &message.kind {
            self.window.stray.get_or_insert_with(|| id.clone());
        }
        self.window.received(Rc::new(message));
    }

    fn answered(&mut self, answer: &Message) {
        self.window.received(Rc::new(answer.clone()));
    }

    fn noise(&mut self, line: String) {
        self.window.noise(line);
    }

    fn stderr(&mut self, text: &str) {
        self.window.stderr(text);
    }

    fn traffic(&mut self, line: String) {
        self.window.traffic(line);
    }

    fn note(&mut self, note: String) {
        self.window.note(note);
    }

    fn secret(&mut self, value: String) {
        self.window.secrets.push(value);
    }

    /// The turns of a list of answers belong to the steps: here they begin anew.
    fn answer(&mut self, id: &Json, method: &str, request: &Message) -> Option<Json> {
        let Some(scripts) = &self.scripts else { return Some(lifecycle::refusal(id, method)) };
        let told = scripts.answer(method, &params(request), &mut self.turns, &mut self.server_turns);
        told.map(|told| told.envelope(id))
    }
}

/// What comes while a session ends belongs to nothing that is judged.
impl Witness for Window {
    fn sent(&mut self, line: &str) {
        Window::sent(self, line);
    }

    fn answered(&mut self, answer: &Message) {
        Window::received(self, Rc::new(answer.clone()));
    }

    fn received(&mut self, message: Message) {
        Window::received(self, Rc::new(message));
    }

    fn noise(&mut self, line: String) {
        Window::noise(self, line);
    }

    fn stderr(&mut self, text: &str) {
        Window::stderr(self, text);
    }

    fn traffic(&mut self, line: String) {
        Window::traffic(self, line);
    }

    fn note(&mut self, note: String) {
        Window::note(self, note);
    }

    fn secret(&mut self, value: String) {
        self.secrets.push(value);
    }
}

/// What came instead of the answer to the handshake, and may have been meant as it.
fn unheard(window: &Window) -> Option<String> {
    let nameless = || {
        Some(format!("the server sent an error that names no request: {}", window.received_errors_without_id().next()?))
    };
    let stray = || {
        let id = window.stray.as_ref()?;
        Some(format!(
            "an answer came to id {id}, which nobody asked with: ids may be text, and an answer has that of its request"
        ))
    };
    window.suspicion().or_else(nameless).or_else(stray)
}

/// What answers a server while it starts.
fn scripts<'a>(
    file: &'a FilePlan,
    server: &'a Server,
    capabilities: &'a Json,
    none: &'a Respond,
    moment: Moment<'a>,
) -> Scripts<'a> {
    let (suite, server) = (&file.suite.respond, &server.respond);
    Scripts { step: none, suite, server, capabilities, scope: &file.scope, row: None, moment }
}
