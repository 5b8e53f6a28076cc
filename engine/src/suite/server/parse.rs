//! A server definition to a [`Server`].

use super::{Restart, Server, name_of, variables};
use crate::child::Grace;
use crate::diagnostic::did_you_mean;
use crate::mcp::cassette::{Cassette, Deck};
use crate::mcp::era::Protocol;
use crate::schema::{CLIENT, SERVER, SHUTDOWN, Takes};
use crate::source::reader::{Fields, Given, Reader};
use crate::source::{Entry, Json, Kind, Node, Span};
use crate::suite::Setting;
use crate::suite::parse::respond;
use std::path::{Path, PathBuf};

/// Values shorter than this are not redacted.
const SECRET_LENGTH: usize = 6;
const RESTARTS: [Restart; 3] = [Restart::Run, Restart::File, Restart::Test];

/// Reads a definition; `name` is its key in `servers`, if it has one.
pub(crate) fn parse(reader: &mut Reader<'_>, node: Node, name: Option<&str>, setting: &Setting) -> Option<Server> {
    let mut fields = reader.fields(node, &SERVER)?;
    let server = server(reader, &mut fields, name, setting);
    reader.finish(fields);
    server.map(|server| Server { key: name.map(Into::into), ..server })
}

/// Reads the keys of a server out of `fields`, of a definition or a whole config.
pub(crate) fn server(
    reader: &mut Reader<'_>,
    fields: &mut Fields,
    name: Option<&str>,
    setting: &Setting,
) -> Option<Server> {
    let origin = (reader.source.clone(), fields.head());
    let has_url = fields.place_of("url").is_some();
    let command_place = fields.place_of("command").unwrap_or(origin.1);
    let mut definition = Definition { reader, setting, played: setting.played, secrets: Vec::new() };
    let cassette = definition.cassette(fields);
    definition.played |= cassette.is_some();
    let (command, args) = match definition.command(fields) {
        Some(argv) => argv,
        None if cassette.is_some() => ("cassette".into(), Vec::new()),
        None if has_url => (String::new(), Vec::new()),
        None => {
            let missing = definition.reader.error(origin.1, "a server needs a `command` or a `url`");
            missing.hints.push(format!("for example `{}`", SERVER.example));
            (String::new(), Vec::new())
        }
    };
    let written = definition.take(fields, "name").and_then(|given| definition.reader.text(given));
    let name = written.or_else(|| name.map(str::to_owned)).unwrap_or_else(|| match command.is_empty() {
        true => "server".to_owned(),
        false => name_of(&command).to_owned(),
    });
    let cwd = definition.cwd(fields, &command, &args);
    let mut server = Server::new(name, command, args, cwd).started_within(setting.startup);
    server.origin = Some(origin);
    server.cassette = cassette.flatten();
    definition.process(fields, &mut server);
    definition.conversation(fields, &mut server);
    definition.remote(fields, &mut server);
    server.secrets = definition.secrets;
    one_program(definition.reader, &server, command_place);
    Some(server)
}

pub(super) struct Definition<'r, 'a> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) setting: &'r Setting,
    /// Nothing is started: what only a start needs may be missing.
    pub(super) played: bool,
    secrets: Vec<String>,
}

impl Definition<'_, '_> {
    /// Takes a key out, with environment variables filled in.
    pub(super) fn take(&mut self, fields: &mut Fields, name: &str) -> Option<Given> {
        let mut given = fields.take(name)?;
        let secret = matches!(name, "env" | "headers" | "url");
        let only_to_start = secret || matches!(name, "args" | "tokenUrl" | "scope" | "resource");
        self.fill(&mut given.value, secret, self.played && only_to_start);
        Some(given)
    }

    /// A value that no report shows; a short one would black out half of every report.
    pub(super) fn secret(&mut self, value: &str) {
        if value.chars().count() >= SECRET_LENGTH {
            self.secrets.push(value.to_owned());
        }
    }

    fn fill(&mut self, node: &mut Node, secret: bool, may_lack: bool) {
        match &mut node.kind {
            Kind::List(items) => items.iter_mut().for_each(|item| self.fill(item, secret, may_lack)),
            Kind::Map(entries) => entries.iter_mut().for_each(|entry| self.fill(&mut entry.value, secret, may_lack)),
            Kind::String(text) if text.contains("${") => {
                let text = text.clone();
                let filled = variables::fill(&text, &self.setting.environment, may_lack);
                for problem in filled.problems {
                    self.unset(node, &text, problem);
                }
                if secret {
                    filled.inserted.iter().for_each(|value| self.secret(value));
                }
                node.kind = Kind::String(filled.text);
            }
            _ => {}
        }
    }

    fn unset(&mut self, node: &Node, text: &str, problem: variables::Problem) {
        let place = self.reader.within(node, text, problem.range.clone());
        let written = &text[problem.range];
        let (message, hint) = match problem.name {
            Some(name) => (
                format!("the environment variable `{name}` is not set"),
                match did_you_mean(&name, self.setting.environment.names()) {
                    Some(near) => format!("`{near}` is set; did you mean `${{{near}}}`?"),
                    None => format!("set it, or give it a default: `${{{name}:-default}}`"),
                },
            ),
            None => (
                format!("`{written}` names no environment variable"),
                "write `${NAME}` or `${NAME:-default}`; a literal `${` is written `$${`".to_owned(),
            ),
        };
        match self.reader.lenient {
            true => self.reader.warn(place, format!("{message}, so the text stays as it is")),
            false => self.reader.error(place, message),
        }
        .hints
        .push(hint);
    }

    /// The recording to play, if one is named; nothing in it when it cannot be read.
    fn cassette(&mut self, fields: &mut Fields) -> Option<Option<Deck>> {
        let given = self.take(fields, "cassette")?;
        let text = self.reader.text(given)?;
        let path = self.setting.working_dir.join(self.reader.source.folder()).join(variables::fill_tmp(&text, ""));
        let shown = path.strip_prefix(&self.setting.working_dir).unwrap_or(&path);
        Some(match Cassette::load(shown) {
            Ok(cassette) => Some(Deck::new(shown, cassette)),
            Err(problem) => {
                self.reader.diagnostics.push(*problem);
                None
            }
        })
    }

    fn command(&mut self, fields: &mut Fields) -> Option<(String, Vec<String>)> {
        let args = self.take(fields, "args");
        let command = self.take(fields, "command");
        let args = args.map(|given| self.words(given)).unwrap_or_default();
        let given = command?;
        if let Kind::String(text) = &given.value.kind {
            if text.trim().is_empty() {
                self.reader.error(given.value.span, "`command` is empty");
            }
            return Some((text.clone(), args));
        }
        if given.value.items().is_none() {
            self.reader.wrong_type(&given);
            return Some((String::new(), args));
        }
        let mut argv = self.words(given);
        let program = if argv.is_empty() { String::new() } else { argv.remove(0) };
        argv.extend(args);
        Some((program, argv))
    }

    /// A list of scalars as text.
    fn words(&mut self, given: Given) -> Vec<String> {
        let key = given.key.name;
        let items = self.reader.list(given);
        items.into_iter().filter_map(|item| self.scalar(key, item)).collect()
    }

    pub(super) fn scalar(&mut self, key: &str, node: Node) -> Option<String> {
        let found = node.describe();
        match node.kind {
            Kind::String(text) => Some(text),
            Kind::Number(number) => Some(number.to_string()),
            Kind::Bool(value) => Some(value.to_string()),
            _ => {
                let message = format!("`{key}` takes text, numbers and booleans, found {found}");
                let diagnostic = self.reader.error(node.span, message);
                if matches!(node.kind, Kind::Null) {
                    diagnostic.hints.push("empty text is written `\"\"`".to_owned());
                }
                None
            }
        }
    }

    /// This file's folder, unless the command line names a file that only the working directory has: configs are also
    /// written for the folder they are used from.
    fn default_cwd(&self, command: &str, args: &[String]) -> PathBuf {
        let folder = self.setting.working_dir.join(self.reader.source.folder());
        let elsewhere = |word: &str| {
            !word.starts_with('-') && self.setting.working_dir.join(word).is_file() && !folder.join(word).exists()
        };
        match elsewhere(command) || args.iter().any(|word| elsewhere(word)) {
            true => self.setting.working_dir.clone(),
            false => folder,
        }
    }

    fn cwd(&mut self, fields: &mut Fields, command: &str, args: &[String]) -> PathBuf {
        let Some(given) = self.take(fields, "cwd") else { return self.default_cwd(command, args) };
        let folder = self.setting.working_dir.join(self.reader.source.folder());
        let span = given.value.span;
        let Some(text) = self.reader.text(given) else { return folder };
        self.folder(&text, span, "cwd", &[&folder, &self.setting.working_dir]).unwrap_or(folder)
    }

    /// An existing folder, taken against the first of `bases` that has it; `${tmp}` is not there yet.
    fn folder(&mut self, text: &str, span: Span, key: &str, bases: &[&Path]) -> Option<PathBuf> {
        if text.contains("${tmp}") {
            return Some(PathBuf::from(text));
        }
        let path = variables::fill_tmp(text, "");
        let found = bases.iter().map(|base| base.join(&path)).find(|path| path.is_dir());
        if found.is_none() {
            let file = bases.iter().any(|base| base.join(&path).exists());
            let problem = if file { "is not a folder" } else { "does not exist" };
            let diagnostic = self.reader.error(span, format!("`{key}`: `{path}` {problem}"));
            diagnostic.hints.push(match bases.len() {
                1 => "it is taken against this file's folder".to_owned(),
                _ => "it is taken against this file's folder, or the folder the command runs in".to_owned(),
            });
        }
        // The folder is exact from here on; only `${tmp}` would be filled in later.
        found.map(|path| PathBuf::from(variables::escape(&path.to_string_lossy())))
    }

    /// What the process is started with and how long it may take.
    fn process(&mut self, fields: &mut Fields, server: &mut Server) {
        if let Some(given) = self.take(fields, "env") {
            server.env = self.reader.entries(given).into_iter().filter_map(|entry| self.variable(entry)).collect();
        }
        if let Some(timeout) = self.take(fields, "startupTimeout").and_then(|given| self.reader.duration(given)) {
            server.startup_timeout = timeout;
        }
        if let Some(timeout) = self.take(fields, "timeout").and_then(|given| self.reader.duration(given)) {
            server.timeout = timeout;
        }
        server.shutdown = match self.take(fields, "shutdownTimeout") {
            Some(given) => self.shutdown(given),
            None => self.setting.shutdown,
        };
        if let Some(mut given) = self.take(fields, "readyPattern") {
            if let Kind::String(text) = &mut given.value.kind {
                *text = text.replace("$${", "${");
            }
            server.ready_pattern = self.reader.regex(given);
        }
        if let Some(given) = self.take(fields, "fixture") {
            let folder = self.setting.working_dir.join(self.reader.source.folder());
            let span = given.value.span;
            let text = self.reader.text(given);
            server.fixture = text.and_then(|text| self.folder(&text, span, "fixture", &[&folder]));
        }
    }

    /// One duration for both stages, or one for each; a stage that is left out keeps its default.
    fn shutdown(&mut self, given: Given) -> Grace {
        let mut grace = self.setting.shutdown;
        if !matches!(given.value.kind, Kind::Map(_)) {
            return self.reader.duration(given).map_or(grace, Grace::each);
        }
        let Some(mut fields) = self.reader.fields(given.value, &SHUTDOWN) else { return grace };
        for (name, stage) in [("stdin", &mut grace.stdin), ("term", &mut grace.term)] {
            if let Some(duration) = fields.take(name).and_then(|given| self.reader.duration(given)) {
                *stage = duration;
            }
        }
        self.reader.finish(fields);
        grace
    }

    fn variable(&mut self, Entry { key, key_span, value }: Entry) -> Option<(String, String)> {
        if key.is_empty() || key.contains(['=', '\0']) {
            self.reader.error(key_span, format!("`{key}` cannot name an environment variable"));
            return None;
        }
        self.scalar(&format!("env.{key}"), value).map(|value| (key, value))
    }

    /// How it is spoken to.
    fn conversation(&mut self, fields: &mut Fields, server: &mut Server) {
        if let Some(restart) = self.take(fields, "restart").and_then(|given| self.reader.choice(given)) {
            server.restart = RESTARTS[restart];
        }
        if let Some(given) = self.take(fields, "protocol") {
            server.protocol = self.protocol(given).unwrap_or_default();
        }
        if let Some(given) = self.take(fields, "client") {
            server.client = client(self.reader, given);
        }
        if let Some(given) = self.take(fields, "respond") {
            server.respond = respond(self.reader, given);
        }
        if let Some(barrier) = self.take(fields, "barrier").and_then(|given| self.reader.boolean(given)) {
            server.barrier = barrier;
        }
        if let Some(size) = self.take(fields, "maxLine").and_then(|given| self.reader.size(given)) {
            server.max_line = size;
        }
    }

    fn protocol(&mut self, given: Given) -> Option<Protocol> {
        let Takes::Choice(words) = given.key.takes else { return None };
        self.reader.choice(given).map(|word| Protocol::of(words[word]))
    }
}

/// Capabilities that the client declares, of a server or a suite.
pub(crate) fn client(reader: &mut Reader<'_>, given: Given) -> Json {
    let mut capabilities = serde_json::Map::new();
    let Some(mut fields) = reader.fields(given.value, &CLIENT) else { return Json::Object(capabilities) };
    for key in CLIENT.keys() {
        let Some(given) = fields.take(key.name) else { continue };
        let capability = match &given.value.kind {
            Kind::Bool(false) => continue,
            Kind::Bool(true) => Json::Object(serde_json::Map::new()),
            Kind::Map(_) => given.value.to_json(),
            _ => {
                reader.wrong_type(&given);
                continue;
            }
        };
        capabilities.insert(key.name.to_owned(), capability);
    }
    reader.finish(fields);
    Json::Object(capabilities)
}

/// A command line in `command` would be looked for as one program, and never found.
fn one_program(reader: &mut Reader<'_>, server: &Server, place: Span) {
    let words: Vec<&str> = server.command.split_whitespace().collect();
    let exists = || server.cwd.join(&server.command).exists();
    if words.len() < 2 || server.command.contains("${") || exists() {
        return;
    }
    reader
        .error(place, format!("`{}` is a command line, and `command` takes one program", server.command))
        .hints
        .push(format!("write it as a list: `command: [{}]`", words.join(", ")));
}
