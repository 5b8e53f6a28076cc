//! A place for a session: opened when the first step needs it, opened anew after it ended.

use super::Shared;
use super::early::First;
use super::evidence;
use super::fault::Fault;
use super::session::{Failed, Opening, Session};
use super::stop::Listener;
use super::window::Window;
use crate::event::{Body, Log, LogFrom, SessionClosed, SessionOpened, Test, What};
use crate::mcp::cassette::Reel;
use crate::mcp::era::Era;
use crate::mcp::lifecycle::Introduction;
use crate::plan::FilePlan;
use crate::source::Json;
use crate::suite::server::Server;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What a worker needs to tell what happens.
pub(super) struct Desk<'a> {
    pub(super) shared: &'a Shared,
    pub(super) listener: Listener,
    /// The file that is being run.
    pub(super) file: Option<usize>,
}

impl Desk<'_> {
    pub(super) fn post(&self, body: Body) {
        self.shared.outbox.post(self.file, What::Event(body));
    }

    /// Values that no report may show from here on.
    pub(super) fn keep_secret(&self, values: &[String]) {
        if values.is_empty() {
            return;
        }
        self.shared.hide(values);
        for value in values {
            self.shared.outbox.post(self.file, What::Secret(value.clone()));
        }
    }

    /// Something worth knowing that is no failure.
    pub(super) fn note(&self, session: Option<&Arc<str>>, text: String) {
        self.post(Body::Log(Log { from: LogFrom::Engine, session: session.cloned(), step: None, text }));
    }
}

/// A place for one session of a server.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) server: Arc<Server>,
    pub(super) capabilities: Arc<Json>,
    pub(super) handshake: bool,
    pub(super) session: Option<Session>,
    /// The test that uses it.
    test: Option<Arc<Test>>,
    /// A start that failed is not tried again in this place; what the server said is told once.
    pub(super) failed: Option<(Fault, Window)>,
    /// The test in which the server died: the rest of the file has no server.
    pub(super) lost_in: Option<String>,
}

/// What an attempt to open a session came to.
struct Opened {
    result: Result<(Session, Introduction), Box<Failed>>,
    took: Duration,
}

/// A session that was opened before there was anybody to tell.
pub(super) struct Ahead {
    slot: Slot,
    opened: Opened,
}

impl Ahead {
    pub(super) async fn open(
        first: &First,
        name: Arc<str>,
        environment: &[(String, String)],
        listener: &mut Listener,
    ) -> Ahead {
        let slot = Slot::new(&first.server, &first.capabilities, true);
        let opened = slot.attempt(name, environment, None, Some(&first.file), listener).await;
        Ahead { slot, opened }
    }

    /// What the server said while it waited belongs to no step.
    pub(super) async fn resume(&mut self, first: &First) {
        if let Ok((session, introduction)) = &mut self.opened.result {
            introduction.notes.extend(session.resume(&first.file).await);
        }
    }

    /// Ends the server again: nobody needs it.
    pub(super) async fn abandon(&mut self) {
        if let Ok((session, _)) = &mut self.opened.result {
            session.connection.close(true, &mut ()).await;
        }
    }

    /// Tells what happened, and hands the place over.
    pub(super) fn arrive(self, desk: &Desk<'_>) -> Slot {
        let Ahead { mut slot, opened } = self;
        slot.arrive(opened, desk);
        slot
    }
}

impl Slot {
    pub(super) fn new(server: &Arc<Server>, capabilities: &Arc<Json>, handshake: bool) -> Slot {
        Slot {
            server: server.clone(),
            capabilities: capabilities.clone(),
            handshake,
            session: None,
            test: None,
            failed: None,
            lost_in: None,
        }
    }

    /// The session, started if there is none.
    pub(super) async fn ready(&mut self, desk: &mut Desk<'_>) -> Result<&mut Session, Box<Failed>> {
        if self.session.as_ref().is_some_and(|session| !session.is_alive()) {
            self.close(desk).await;
        }
        if self.session.is_none() {
            if self.failed.is_none() {
                self.open(desk).await;
            }
            if let Some((fault, window)) = &mut self.failed {
                return Err(Box::new(Failed { fault: fault.clone(), window: std::mem::take(window) }));
            }
        }
        match &mut self.session {
            Some(session) => Ok(session),
            None => unreachable!("a session was opened above"),
        }
    }

    /// What is asked from here on, this test asks.
    pub(super) fn concerns(&mut self, test: &Arc<Test>) {
        self.test = Some(test.clone());
        self.tell_session();
    }

    fn tell_session(&mut self) {
        if let (Some(session), Some(test)) = (&mut self.session, &self.test) {
            session.connection.concerns(&test.file, test.id.strip_prefix(&*test.file).unwrap_or(&test.id));
        }
    }

    /// Opens the session if there is none; what goes wrong is told to the first step that needs it.
    pub(super) async fn warm_up(&mut self, desk: &mut Desk<'_>) {
        if self.failed.is_none() && !self.session.as_ref().is_some_and(Session::is_alive) {
            self.close(desk).await;
            self.open(desk).await;
        }
    }

    async fn open(&mut self, desk: &mut Desk<'_>) {
        let number = desk.shared.next_session.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{}#{number}", self.server.name).into();
        let file = desk.file.and_then(|at| desk.shared.plan.files.get(at));
        let super::Options { environment, reel, .. } = &desk.shared.options;
        let opened = self.attempt(name, environment, reel.as_ref(), file, &mut desk.listener).await;
        self.arrive(opened, desk);
    }

    async fn attempt(
        &self,
        name: Arc<str>,
        environment: &[(String, String)],
        reel: Option<&Reel>,
        file: Option<&FilePlan>,
        listener: &mut Listener,
    ) -> Opened {
        let begun = Instant::now();
        let (server, capabilities, handshake) = (&self.server, &self.capabilities, self.handshake);
        let opening = Opening { name, server, capabilities, environment, handshake, reel, file };
        let result = Session::open(opening, listener).await;
        Opened { result, took: begun.elapsed() }
    }

    /// Takes what an attempt came to, and tells it.
    fn arrive(&mut self, opened: Opened, desk: &Desk<'_>) {
        match opened.result {
            Ok((mut session, introduction)) => {
                desk.keep_secret(&session.secrets);
                evidence::post_frames(desk, &session.name, &std::mem::take(&mut session.start));
                desk.post(Body::SessionOpened(SessionOpened {
                    session: session.name.clone(),
                    server: self.server.name.clone(),
                    server_info: introduction.server_info,
                    era: introduction.era.map(Era::name),
                    protocol_version: introduction.protocol_version,
                    duration_ms: opened.took.as_secs_f64() * 1000.0,
                }));
                for note in introduction.notes {
                    desk.note(Some(&session.name), note);
                }
                self.session = Some(session);
                self.tell_session();
            }
            Err(failed) => {
                desk.keep_secret(&failed.window.secrets);
                self.failed = Some((failed.fault, failed.window));
            }
        }
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&mut self, desk: &Desk<'_>) {
        let Some(session) = self.session.take() else { return };
        let (name, server) = (session.name.clone(), self.server.name.clone());
        let mut rest = Window::default();
        let closed = session.close(desk.shared.stop.interrupted(), &mut rest).await;
        evidence::post_frames(desk, &name, &rest);
        desk.post(Body::SessionClosed(SessionClosed {
            session: name,
            server,
            exit: closed.exit.map_or_else(|| "the connection was closed".to_owned(), |exit| exit.to_string()),
            by: closed.by,
            duration_ms: closed.took.as_secs_f64() * 1000.0,
        }));
    }
}
