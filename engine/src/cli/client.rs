//! One conversation with one server, for commands that run no suite: which server, what is seen of it, how it ends.

use super::{BAD_INPUT, FAILED, INTERRUPTED, SERVER, Talk, duration, screen};
use crate::config::{self, Config};
use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::discover::{Call, survey};
use crate::event::redact::Redactor;
use crate::mcp::connection::{Connection, Witness, plain};
use crate::mcp::era::{MODERN, Protocol};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::instance;
use crate::mcp::lifecycle::{self, Introduction, REVISIONS};
use crate::mcp::message::{Kind, Message};
use crate::reporter::text::shell;
use crate::reporter::visible::visible;
use crate::source::Json;
use crate::suite::Setting;
use crate::suite::environment::Environment;
use crate::suite::server::{Server, Tmp};
use clap::Args;
use serde_json::{Map, json};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How much of the server's stderr is shown after a failure: the end.
const MOST_STDERR: usize = 8 * 1024;
/// Names of environment variables whose values are taken for secrets end so.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"];

/// What a model says that is not there.
pub(super) const SAMPLED: &str = "an answer of mcptest";

/// Which server.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// The config file [default: as for `run`]
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which of the config's `servers`
    #[arg(long, short, value_name = "NAME")]
    server: Option<String>,
    /// The protocol: auto, legacy, modern or a revision [default: the config's, or legacy]
    #[arg(long, value_name = "WORD", value_parser = protocol)]
    protocol: Option<String>,
    /// How long the server may take to answer, and to start, if that is longer than its config says: 500ms, 30s, 2m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) timeout: Option<Duration>,
    /// How long it may take to start when the config does not say [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    startup_timeout: Option<Duration>,
    /// The URL of a running server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The server to start, when no config names one
    #[arg(last = true, value_name = "SERVER COMMAND")]
    command: Vec<String>,
}

/// A word that `protocol` takes in a config.
fn protocol(word: &str) -> Result<String, String> {
    let known = || ["auto", "legacy", "modern"].into_iter().chain(REVISIONS).chain(MODERN);
    match known().any(|known| known == word) {
        true => Ok(word.to_owned()),
        false => Err(format!("it is one of {}", known().collect::<Vec<_>>().join(", "))),
    }
}

/// The server that was meant, and where it came from.
pub(super) struct Chosen {
    pub(super) server: Arc<Server>,
    /// What stands for it in a suite: a name, a definition, or nothing when it is the config's only one.
    pub(super) written: Option<Json>,
    /// Hides what the config and the environment call secret.
    pub(super) redactor: Rc<Redactor>,
}

impl ServerArgs {
    /// The server, or the exit code after every problem was told.
    pub(super) fn choose(&self, talk: &Talk) -> Result<Chosen, u8> {
        let mut diagnostics = Diagnostics::default();
        let environment = Environment::of_process();
        let working_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let startup = self.startup_timeout;
        let setting = Setting { working_dir, environment: environment.clone(), startup, ..Setting::default() };
        let path = match &self.config {
            Some(path) => Some(path.clone()),
            None if !self.command.is_empty() || self.url.is_some() => None,
            None => config::file::discover(&setting.working_dir, &mut diagnostics),
        };
        let config = path.and_then(|path| config::file::load(&path, &setting, &mut diagnostics)).unwrap_or_default();
        let chosen = if diagnostics.has_errors() { None } else { self.pick(&config, &setting, &mut diagnostics) };
        screen::tell_problems(&diagnostics, talk);
        let Some((mut server, mut written)) = chosen else { return Err(BAD_INPUT) };
        let defined = written.as_mut().and_then(Json::as_object_mut);
        self.adjust(Arc::make_mut(&mut server), defined);
        let named = config.secrets.iter().filter_map(|name| environment.get(name).map(str::to_owned));
        let secret = |name: &str| SECRET_NAMES.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
        let looks_so = environment.names().filter(|name| secret(name)).filter_map(|name| environment.get(name));
        let looks_so: Vec<String> = looks_so.map(str::to_owned).collect();
        let redactor = Redactor::new(named.chain(server.secrets.iter().cloned()).chain(looks_so));
        Ok(Chosen { server, written, redactor: Rc::new(redactor) })
    }

    /// The command that runs a suite in which `written` stands for the server.
    pub(super) fn run_command(&self, file: &str, written: Option<&Json>) -> String {
        // A server that is written down whole needs no config.
        let config = self.config.as_deref().filter(|_| !written.is_some_and(Json::is_object));
        let config = config.map(|path| format!("--config {} ", shell(&path.to_string_lossy())));
        format!("mcptest run {}{}", config.unwrap_or_default(), shell(file))
    }

    /// What held for this command, and is not written into a suite in which `written` stands for the server.
    pub(super) fn unwritten(&self, written: Option<&Json>) -> String {
        let word = self.protocol.as_deref().filter(|_| !written.is_some_and(Json::is_object));
        word.map_or_else(String::new, |word| {
            format!("`--protocol` held for this once: the suite needs `protocol: {word}` in the server's config\n")
        })
    }

    /// Puts the options over what the server says of itself, and into what is written of one that no config defines.
    fn adjust(&self, server: &mut Server, defined: Option<&mut Map<String, Json>>) {
        let mut further = Map::new();
        if let Some(word) = &self.protocol {
            server.protocol = Protocol::of(word);
            further.insert("protocol".to_owned(), json!(word));
        }
        let longer = self.timeout.filter(|timeout| *timeout > server.startup_timeout);
        server.startup_timeout = longer.unwrap_or(server.startup_timeout);
        if longer.or(self.startup_timeout).is_some() {
            further.insert("startupTimeout".to_owned(), json!(plain(server.startup_timeout)));
        }
        if let Some(defined) = defined {
            defined.extend(further);
        }
    }

    fn pick(
        &self,
        config: &Config,
        setting: &Setting,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Arc<Server>, Option<Json>)> {
        if let Some(url) = &self.url {
            let server = super::load::from_url(url, setting, diagnostics);
            return (!diagnostics.has_errors()).then(|| (Arc::new(server), Some(json!({"url": url}))));
        }
        if !self.command.is_empty() {
            let server = Server::from_command(&self.command, setting.working_dir.clone());
            let server = server.started_within(setting.startup);
            return Some((Arc::new(server), Some(json!({"command": self.command}))));
        }
        let known: Vec<&str> = config.servers.iter().map(|server| &**server.key()).collect();
        let named = |name: &str| config.servers.iter().find(|server| &**server.key() == name).cloned();
        match (&self.server, &config.server, config.servers.as_slice()) {
            (Some(name), _, _) => match named(name) {
                Some(server) => Some((server, Some(json!(name)))),
                None => {
                    let problem = Diagnostic::error(format!("no server is named `{name}`"));
                    diagnostics.push(match did_you_mean(name, known.iter().copied()) {
                        Some(near) => problem.hint(format!("did you mean `{near}`?")),
                        None if known.is_empty() => problem.hint("the config defines no `servers`"),
                        None => problem.hint(format!("the config defines `{}`", known.join("`, `"))),
                    });
                    None
                }
            },
            (None, Some(server), _) => Some((server.clone(), None)),
            (None, None, [sole]) => Some((sole.clone(), None)),
            (None, None, []) => {
                let hint = "end the command with `-- node server.js`, pass `--url`, or name a server in `mcptest.yml`";
                diagnostics.push(Diagnostic::error("there is no server to speak to").hint(hint));
                None
            }
            (None, None, _) => {
                let hint = format!("choose one with `--server`: `{}`", known.join("`, `"));
                diagnostics.push(Diagnostic::error("the config defines several servers").hint(hint));
                None
            }
        }
    }
}

/// What is seen of a conversation, and what the server is told when it asks.
pub(super) struct Seen {
    /// Messages and the server's words are told as they come.
    verbose: bool,
    /// What the server asks is answered, not refused.
    answers: bool,
    stderr: String,
    pub(super) redactor: Rc<Redactor>,
}

impl Seen {
    pub(super) fn new(verbose: bool, answers: bool, redactor: Rc<Redactor>) -> Seen {
        Seen { verbose, answers, stderr: String::new(), redactor }
    }

    /// The capabilities that go with the answers.
    pub(super) fn capabilities(&self, server: &Server) -> Json {
        let mut declared = server.client.clone();
        if let Some(members) = declared.as_object_mut().filter(|_| self.answers) {
            for name in ["roots", "sampling", "elicitation"] {
                members.entry(name).or_insert_with(|| json!({}));
            }
        }
        declared
    }

    fn line(&self, sign: &str, text: &str) {
        if self.verbose {
            screen::tell(&format!("{sign} {}\n", visible(&self.redactor.text(text.trim_end()))));
        }
    }

    /// Tells a fault, with the end of what the server wrote to stderr.
    pub(super) fn tell(&self, fault: &Fault) {
        let shown = |text: &str| visible(&self.redactor.text(text)).into_owned();
        let mut text = format!("error: {}\n", shown(&fault.message));
        fault.hints.iter().for_each(|hint| text.push_str(&format!("hint: {}\n", shown(hint))));
        let said = self.stderr.trim();
        if !said.is_empty() && !self.verbose {
            let from = said.ceil_char_boundary(said.len().saturating_sub(MOST_STDERR));
            text.push_str("the server's stderr:\n");
            said[from..].lines().for_each(|line| text.push_str(&format!("  {}\n", shown(line))));
        }
        screen::tell(&text);
    }
}

impl Witness for Seen {
    fn sent(&mut self, line: &str) {
        self.line("→", line);
    }

    fn received(&mut self, message: Message) {
        self.line("←", &message.raw);
    }

    fn answered(&mut self, answer: &Message) {
        self.line("←", &answer.raw);
    }

    fn noise(&mut self, line: String) {
        self.line("?", &line);
    }

    fn traffic(&mut self, line: String) {
        self.line("·", &line);
    }

    fn note(&mut self, note: String) {
        screen::tell(&format!("note: {}\n", visible(&self.redactor.text(&note))));
    }

    fn secret(&mut self, value: String) {
        self.redactor = Rc::new(self.redactor.with(&value));
    }

    fn stderr(&mut self, text: &str) {
        self.line("|", text);
        self.stderr.push_str(text);
        if self.stderr.len() > 4 * MOST_STDERR {
            let from = self.stderr.ceil_char_boundary(self.stderr.len() - MOST_STDERR);
            self.stderr.drain(..from);
        }
    }

    fn answer(&mut self, id: &Json, method: &str, request: &Message) -> Option<Json> {
        let result = match method {
            "roots/list" if self.answers => json!({"roots": []}),
            "sampling/createMessage" if self.answers => {
                let content = json!({"type": "text", "text": SAMPLED});
                json!({"role": "assistant", "content": content, "model": "mcptest", "stopReason": "endTurn"})
            }
            "elicitation/create" if self.answers => {
                let request = request.value().unwrap_or_default();
                instance::accepted(&request["params"])
            }
            _ => return Some(lifecycle::refusal(id, method)),
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }
}

/// An open conversation.
pub(super) struct Conversation {
    pub(super) connection: Connection,
    pub(super) introduction: Introduction,
    pub(super) seen: Seen,
    pub(super) timeout: Duration,
    tmp: Tmp,
}

/// Opens a conversation and has it, to its exit code; a signal ends it, and the server with it.
pub(super) fn converse<F>(server: &Arc<Server>, seen: Seen, timeout: Option<Duration>, speak: F) -> u8
where
    F: AsyncFnOnce(&mut Conversation) -> Result<u8, Fault>,
{
    crate::child::become_subreaper();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return FAILED };
    runtime.block_on(async {
        let interrupted = async {
            let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
            let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = signals else {
                return std::future::pending().await;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
        };
        tokio::select! {
            code = have(server, seen, timeout, speak) => code,
            () = interrupted => {
                crate::child::kill_everything();
                INTERRUPTED
            }
        }
    })
}

async fn have<F>(server: &Arc<Server>, mut seen: Seen, timeout: Option<Duration>, speak: F) -> u8
where
    F: AsyncFnOnce(&mut Conversation) -> Result<u8, Fault>,
{
    let prepared = Tmp::new(server).and_then(|tmp| {
        let target = server.target(&tmp, &Arc::new(seen.capabilities(server)), &[])?;
        Ok((tmp, target))
    });
    let (tmp, target) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => {
            seen.tell(&fault);
            return SERVER;
        }
    };
    let (connection, introduction) = match Connection::open(target, &mut seen).await {
        Ok(opened) => opened,
        Err(fault) => {
            seen.tell(&fault);
            return SERVER;
        }
    };
    let timeout = timeout.unwrap_or(server.timeout);
    let mut conversation = Conversation { connection, introduction, seen, timeout, tmp };
    let code = speak(&mut conversation).await;
    let Conversation { connection, seen, .. } = &mut conversation;
    connection.close(false, seen).await;
    match code {
        Ok(code) => code,
        Err(fault) => {
            seen.tell(&fault);
            if matches!(fault.code, Code::StartFailed | Code::HandshakeFailed) { SERVER } else { FAILED }
        }
    }
}

impl Conversation {
    /// Ends the session and opens another one, with a `${tmp}` of its own.
    pub(super) async fn open_again(&mut self, server: &Arc<Server>) -> Result<(), Fault> {
        self.connection.close(false, &mut self.seen).await;
        let tmp = Tmp::new(server)?;
        let target = server.target(&tmp, &Arc::new(self.seen.capabilities(server)), &[])?;
        (self.connection, self.introduction) = Connection::open(target, &mut self.seen).await?;
        self.tmp = tmp;
        Ok(())
    }

    /// How this session is surveyed.
    pub(super) fn survey_options(&self, call: Call) -> survey::Options {
        survey::Options { call, timeout: self.timeout, tmp: self.tmp.text().to_string() }
    }

    /// A result, or an error of the server.
    pub(super) async fn ask(&mut self, method: &str, params: Option<Json>) -> Result<(Message, bool), Fault> {
        let answer = self.connection.request(method, params, self.timeout, &mut self.seen).await?;
        let is_error = matches!(answer.kind, Kind::Response { is_error: true, .. });
        Ok((answer, is_error))
    }
}
