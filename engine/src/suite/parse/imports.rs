//! `imports`: the extensions of one file.

use super::Parser;
use crate::schema::{IMPORTS, SUBPROCESS_MATCHER};
use crate::source::reader::Given;
use crate::source::{Entry, Kind, Span};
use crate::suite::{Command, Import, Imports, Program};
use std::path::Path;

impl Parser<'_> {
    pub(super) fn imports(&mut self, given: Option<Given>) -> Imports {
        let Some(mut fields) = given.and_then(|given| self.reader.fields(given.value, &IMPORTS)) else {
            return Imports::default();
        };
        let imports = Imports {
            matchers: self.files(fields.take("matchers")),
            transforms: self.files(fields.take("transforms")),
            programs: self.programs(fields.take("subprocess_matchers")),
        };
        self.reader.finish(fields);
        imports
    }

    /// Files, called as their stems; or names, each with its file or its command.
    fn programs(&mut self, given: Option<Given>) -> Vec<Program> {
        let Some(given) = given else { return Vec::new() };
        if let Kind::Map(entries) = given.value.kind {
            let entries = entries.into_iter().filter(|entry| !entry.key.starts_with("x-"));
            return entries.filter_map(|entry| self.program(entry)).collect();
        }
        let mut programs = Vec::new();
        for Import { reference, span } in self.files(Some(given)) {
            let stem = Path::new(&reference).file_stem().map_or("".into(), |stem| stem.to_string_lossy());
            if self.is_matcher(&stem, span) {
                let command = Command::File(reference);
                programs.push(Program { matcher: None, command, method: None, timeout: None, span });
            }
        }
        programs
    }

    fn program(&mut self, Entry { key, key_span: span, value }: Entry) -> Option<Program> {
        let named = self.is_matcher(&key, span);
        if let Kind::String(file) = value.kind {
            let command = Command::File(file);
            return named.then_some(Program { matcher: Some(key), command, method: None, timeout: None, span });
        }
        let mut fields = self.reader.fields(value, &SUBPROCESS_MATCHER)?;
        let argv = fields.take("command").map(|given| self.reader.texts(given));
        let method = fields.take("method").and_then(|given| self.reader.text(given));
        let timeout = fields.take("timeout").and_then(|given| self.reader.time_of_a_call(given));
        self.reader.finish(fields);
        let Some(argv) = argv.filter(|argv| argv.first().is_some_and(|program| !program.trim().is_empty())) else {
            let problem = self.reader.error(span, format!("the subprocess matcher `{key}` needs a `command`"));
            problem.hints.push(format!("for example `{}`", SUBPROCESS_MATCHER.example));
            return None;
        };
        let folder = self.reader.source.path.parent().map(Path::to_owned).unwrap_or_default();
        let named = self.reader.is_program(&argv, &folder, span) && named;
        named.then_some(Program { matcher: Some(key), command: Command::Argv(argv), method, timeout, span })
    }

    fn is_matcher(&mut self, name: &str, span: Span) -> bool {
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !good {
            let problem = self.reader.error(span, format!("`{name}` cannot name a matcher"));
            problem.label = Some("a name is a letter, then letters, digits, `-` and `_`".to_owned());
            problem.hints.push("for example `subprocess_matchers: {near: ./2-near.py}`".to_owned());
        }
        good
    }

    fn files(&mut self, given: Option<Given>) -> Vec<Import> {
        let Some(given) = given else { return Vec::new() };
        let mut imports = Vec::new();
        for node in self.reader.list(given) {
            match &node.kind {
                Kind::String(text) if !text.trim().is_empty() => {
                    imports.push(Import { reference: text.clone(), span: node.span });
                }
                _ => {
                    let message = format!("expected the file of an extension or its id, found {}", node.describe());
                    self.reader.error(node.span, message).hints.push("for example: `matchers: [./near.wasm]`".into());
                }
            }
        }
        imports
    }
}
