//! Which server a test runs against, and what the client declares to it.

use crate::config::{self, Config};
use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::source::{Json, Span};
use crate::suite::server::Server;
use crate::suite::{Case, ServerChoice, Suite};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which server a case runs against.
pub(super) struct Servers<'a> {
    pub(super) config: &'a Config,
    pub(super) command: Option<&'a Arc<Server>>,
    pub(super) suite: &'a Suite,
    /// Tests that name no server where there are several.
    pub(super) undecided: RefCell<Vec<Span>>,
}

impl Servers<'_> {
    pub(super) fn of(&self, case: &Case, diagnostics: &mut Diagnostics) -> Arc<Server> {
        match case.server.as_ref().or(self.suite.server.as_ref()) {
            Some(ServerChoice::Inline(server)) => server.clone(),
            Some(ServerChoice::Named(name, span)) => match self.named(name) {
                Some(server) => server.clone(),
                None => {
                    // What a broken config lacks is told by what is wrong with it.
                    if !self.config.broken {
                        diagnostics.push(self.unknown(name, *span));
                    }
                    self.placeholder()
                }
            },
            None => match self.default() {
                Some(server) => server.clone(),
                None => {
                    match self.config.servers.is_empty() {
                        true => diagnostics.push(self.none()),
                        false => self.undecided.borrow_mut().push(case.span),
                    }
                    self.placeholder()
                }
            },
        }
    }

    /// Tells once of all tests that could run against any of several servers.
    pub(super) fn tell_undecided(&self, diagnostics: &mut Diagnostics) {
        let undecided = self.undecided.borrow();
        let message = match undecided.len() {
            0 => return,
            1 => "several servers are defined, and this test names none".to_owned(),
            many => format!("several servers are defined, and {many} tests of this file name none, this one first"),
        };
        let hint =
            format!("add `server:` to the suite or the test; the config defines `{}`", self.known().join("`, `"));
        diagnostics.push(Diagnostic::error(message).at(&self.suite.source, undecided[0]).hint(hint));
    }

    fn known(&self) -> Vec<&str> {
        self.config.servers.iter().map(|server| &**server.key()).collect()
    }

    fn default(&self) -> Option<&Arc<Server>> {
        let sole = match self.config.servers.as_slice() {
            [sole] => Some(sole),
            _ => None,
        };
        self.command.or(self.config.server.as_ref()).or(sole)
    }

    fn named(&self, name: &str) -> Option<&Arc<Server>> {
        let all = self.config.servers.iter().chain(&self.config.server);
        all.into_iter().find(|server| &**server.key() == name)
    }

    pub(super) fn placeholder(&self) -> Arc<Server> {
        let known = self.default().or(self.config.servers.first()).cloned();
        known.unwrap_or_else(|| Arc::new(Server::from_command(&["none".to_owned()], ".".into())))
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let known = self.known();
        let diagnostic = Diagnostic::error(format!("no server is named `{name}`")).at(&self.suite.source, span);
        match did_you_mean(name, known.iter().copied()) {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None if known.is_empty() => diagnostic.hint("the config defines no `servers`"),
            None => diagnostic.hint(format!("the config defines `{}`", known.join("`, `"))),
        }
    }

    /// A config beside the suite, or above it.
    fn config_nearby(&self) -> Option<PathBuf> {
        let here = std::env::current_dir().ok()?;
        let folder = here.join(self.suite.source.path.parent()?);
        let folders = folder.ancestors().filter(|folder| **folder != here);
        let mut configs = folders.flat_map(|folder| config::file::NAMES.map(|name| folder.join(name)));
        let config = configs.find(|path| path.is_file())?;
        Some(config.strip_prefix(&here).map_or(config.clone(), Path::to_owned))
    }

    fn none(&self) -> Diagnostic {
        let problem = Diagnostic::error(format!("`{}` has no server to run against", self.suite.name()));
        match self.config_nearby() {
            Some(config) => problem.hint(format!(
                "a config is looked for where the command runs, and there is one elsewhere: `--config {}`",
                config.display()
            )),
            None => problem
                .hint("name one in `mcptest.yml`, pass `--config FILE`, or end the command with `-- node server.js`"),
        }
    }
}

/// What the client declares: what the server's definition and the suite say, and what `respond` implies.
pub(super) fn capabilities(server: &Server, suite: &Suite) -> Json {
    let mut declared = server.client.as_object().cloned().unwrap_or_default();
    declared.extend(suite.client.as_object().cloned().unwrap_or_default());
    for entry in server.respond.entries.iter().chain(&suite.respond.entries) {
        if let Some(capability) = capability_of(&entry.method) {
            declared.entry(capability).or_insert_with(|| Json::Object(Default::default()));
        }
    }
    Json::Object(declared)
}

/// The capability that a request of the server belongs to.
pub(super) fn capability_of(method: &str) -> Option<&'static str> {
    match method {
        "sampling/createMessage" => Some("sampling"),
        "elicitation/create" => Some("elicitation"),
        "roots/list" => Some("roots"),
        _ => None,
    }
}
