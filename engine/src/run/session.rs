//! One process of a server under test, from spawn to exit.

use super::alarm::Alarm;
use super::fault::{Code, Fault};
use super::stop::Listener;
use super::window::Window;
use crate::matcher::Expected;
use crate::mcp::connection::{Connection, Witness};
use crate::mcp::lifecycle::Introduction;
use crate::mcp::message::Message;
use crate::mcp::transport::Closed;
use crate::source::Json;
use crate::suite::server::{Server, Tmp};
use std::collections::HashMap;
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
    /// The way to the server.
    pub(super) connection: Connection,
    /// What came between steps; it belongs to the next one.
    pub(super) between: Window,
    /// A line was written halfway, so nothing more can be sent.
    pub(super) broken: bool,
    /// How often each scripted answer of the server's definition was used.
    pub(super) turns: HashMap<String, usize>,
    /// The tools' output schemas, once they were asked for.
    pub(super) output_schemas: Option<HashMap<String, Option<Expected>>>,
    /// Rings when a step has waited long enough.
    pub(super) alarm: Alarm,
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
            begun = session.connection.begin(opening.handshake, &mut window) => begun,
            () = listener.interrupted() => Err(Fault::new(Code::StartFailed, "interrupted while the server was starting")),
        };
        match begun {
            Ok(introduction) => Ok((session, introduction)),
            Err(fault) => {
                let mut how = format!("it was started with `{}`", session.server.command_line());
                if std::env::current_dir().is_ok_and(|ours| ours != session.server.cwd) {
                    how.push_str(&format!(" in `{}`", session.server.cwd.display()));
                }
                let fault = fault.hint(how);
                session.connection.close(true, &mut window).await;
                Err(Box::new(Failed { fault, window }))
            }
        }
    }

    fn start(opening: &Opening<'_>) -> Result<Session, Fault> {
        let tmp = Tmp::new(opening.server)?;
        let target = opening.server.target(&tmp, opening.capabilities, opening.environment);
        Ok(Session {
            name: opening.name.clone(),
            server: opening.server.clone(),
            connection: Connection::start(target)?,
            between: Window::default(),
            broken: false,
            turns: HashMap::new(),
            output_schemas: None,
            alarm: Alarm::default(),
            tmp,
        })
    }

    /// `${tmp}`.
    pub(super) fn tmp(&self) -> Rc<str> {
        self.tmp.text().clone()
    }

    /// The folder behind `${tmp}`.
    pub(super) fn tmp_folder(&self) -> &Path {
        self.tmp.path()
    }

    /// Whether steps can still be run in it.
    pub(super) fn is_alive(&self) -> bool {
        self.connection.exit.is_none() && !self.broken
    }

    /// Ends the server.
    pub(super) async fn close(mut self, hurried: bool) -> Closed {
        self.connection.close(hurried, &mut ()).await
    }
}

/// Before the first step nothing is scripted, and everything belongs to the start.
impl Witness for Window {
    fn sent(&mut self, line: &str) {
        Window::sent(self, line);
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
}
