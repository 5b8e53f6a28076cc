//! The names that a suite's text can use, innermost first: the row of `each`, the file's captures, `variables`, `--var`;
//! and `${env:NAME}`, `${tmp}` and `${session:meta}` everywhere.

use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::extension::library::Library;
use crate::source::{Json, Node, Span};
use crate::suite::environment::Environment;
use crate::suite::template::{Filler, Found};
use crate::suite::{Row, Suite};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How deep variables may refer to variables: deeper is a circle.
const VARIABLE_DEPTH: u32 = 32;

/// A suite's names.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The suite.
    pub suite: Arc<Suite>,
    /// `--var`.
    pub vars: Arc<Vec<(String, Node)>>,
    /// For `${env:NAME}`.
    pub environment: Environment,
    /// Names that some step of the file captures.
    pub captured: Arc<HashSet<String>>,
    /// Unknown names stay as they are written.
    pub lenient: bool,
    /// Matchers beside the built-in ones.
    pub library: Arc<Library>,
}

/// What is known only while a step is about to run.
#[derive(Debug)]
pub struct Moment<'a> {
    /// What was captured so far.
    pub captures: &'a HashMap<String, Json>,
    /// The session's `${tmp}`.
    pub tmp: &'a str,
    /// The session's `${session:meta}`.
    pub meta: &'a Json,
}

impl Scope {
    /// What `name` stands for.
    pub fn lookup(&self, name: &str, row: Option<&Row>, moment: Option<&Moment<'_>>) -> Found {
        self.lookup_at(name, row, moment, 0)
    }

    fn lookup_at(&self, name: &str, row: Option<&Row>, moment: Option<&Moment<'_>>, depth: u32) -> Found {
        if let Some(reference) = name.strip_prefix("env:") {
            return self.environment_value(reference);
        }
        if name == "tmp" {
            return moment.map_or(Found::Later, |moment| Found::Literal(moment.tmp.into()));
        }
        if let Some(part) = name.strip_prefix("session:") {
            return match (part, moment) {
                ("meta", Some(moment)) => Found::Literal(moment.meta.clone()),
                ("meta", None) => Found::Later,
                _ => Found::Unknown,
            };
        }
        if let Some((_, value)) = row.and_then(|row| row.values.iter().find(|(key, _)| key == name)) {
            return self.resolve(value, row, moment, depth);
        }
        if self.captured.contains(name) {
            return match moment {
                None => Found::Later,
                Some(moment) => moment.captures.get(name).map_or(Found::Unknown, |value| Found::Literal(value.clone())),
            };
        }
        if let Some(variable) = self.suite.variables.iter().find(|variable| variable.name == name) {
            return self.resolve(&variable.value, row, moment, depth);
        }
        if let Some((_, value)) = self.vars.iter().find(|(key, _)| key == name) {
            return Found::Written(value.clone());
        }
        if self.lenient { Found::Verbatim } else { Found::Unknown }
    }

    /// A value that may hold names of its own.
    fn resolve(&self, value: &Node, row: Option<&Row>, moment: Option<&Moment<'_>>, depth: u32) -> Found {
        if depth >= VARIABLE_DEPTH {
            return Found::Unknown;
        }
        let mut unknown = false;
        let mut inner = |name: &str, _: Span| {
            let found = self.lookup_at(name, row, moment, depth + 1);
            unknown |= matches!(found, Found::Unknown);
            found
        };
        let mut filler = Filler::new(&mut inner);
        let filled = filler.fill(value);
        let later = filler.later;
        match filled {
            _ if later => Found::Later,
            _ if unknown => Found::Unknown,
            None => Found::Written(value.clone()),
            // A variable that is exactly a capture stays as literal as the capture itself.
            Some(Node { kind: crate::source::Kind::Literal(value), .. }) => Found::Literal(value),
            Some(node) => Found::Written(node),
        }
    }

    fn environment_value(&self, reference: &str) -> Found {
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        match self.environment.get(name).or(default) {
            Some(value) => Found::Literal(value.into()),
            None => Found::Unknown,
        }
    }

    /// Reports a name that nothing defines.
    pub fn report_unknown(&self, name: &str, span: Span, row: Option<&Row>, diagnostics: &mut Diagnostics) {
        let source = &self.suite.source;
        let place = narrow(source.slice(span), name)
            .map_or(span, |(start, end)| Span::new(span.start as usize + start, span.start as usize + end));
        let diagnostic = match name.strip_prefix("env:") {
            Some(variable) => Diagnostic::error(format!("the environment variable `{variable}` is not set"))
                .at(source, place)
                .hint(format!("set it, pass `--env-file`, or give a default: `${{env:{variable}:-value}}`")),
            None if self.suite.variables.iter().any(|variable| variable.name == name) => {
                Diagnostic::error(format!("the variable `{name}` cannot be resolved"))
                    .at(source, place)
                    .hint("it refers to itself, or to a name that nothing defines")
            }
            None => {
                let known: Vec<&str> = self.known(row);
                let mut diagnostic = Diagnostic::error(format!("nothing defines `{name}`")).at(source, place);
                if let Some(near) = did_you_mean(name, known.iter().copied()) {
                    diagnostic = diagnostic.hint(format!("did you mean `${{{near}}}`?"));
                } else if self.environment.get(name).is_some() {
                    diagnostic = diagnostic.hint(format!("an environment variable is written `${{env:{name}}}`"));
                } else {
                    diagnostic = diagnostic.hint(format!(
                        "define it under `variables`, capture it in an earlier step, or pass `--var {name}=VALUE`"
                    ));
                }
                diagnostic.hint(format!("a literal `${{{name}}}` is written `$${{{name}}}`"))
            }
        };
        diagnostics.push(diagnostic);
    }

    fn known<'a>(&'a self, row: Option<&'a Row>) -> Vec<&'a str> {
        let row = row.into_iter().flat_map(|row| row.values.iter().map(|(name, _)| name.as_str()));
        let variables = self.suite.variables.iter().map(|variable| variable.name.as_str());
        let vars = self.vars.iter().map(|(name, _)| name.as_str());
        let captured = self.captured.iter().map(String::as_str);
        row.chain(captured).chain(variables).chain(vars).chain(["tmp", "session:meta"]).collect()
    }
}

/// Where `${name}` stands in the written text.
fn narrow(text: &str, name: &str) -> Option<(usize, usize)> {
    let written = format!("${{{name}}}");
    text.find(&written).map(|start| (start, start + written.len()))
}
