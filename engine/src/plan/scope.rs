//! The names that a suite's text can use, innermost first: the row of `each`, the file's captures, `variables`, `--var`;
//! and `${env:NAME}`, `${tmp}` and `${session:meta}` everywhere.

use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::extension::library::Library;
use crate::source::{Json, Kind, Node, Piece, Span};
use crate::suite::environment::Environment;
use crate::suite::template::{Filler, Found};
use crate::suite::{Row, Suite};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How much variables may expand to: names that stand for others twice double with each.
const MOST_BYTES: usize = 1024 * 1024;

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

/// One name on its way to what it stands for.
struct Way<'a> {
    row: Option<&'a Row>,
    moment: Option<&'a Moment<'a>>,
    /// What names on the way came to.
    known: HashMap<String, Found>,
    /// More than [`MOST_BYTES`] came together.
    overgrown: bool,
}

/// The names that led to a name.
struct Chain<'a> {
    name: &'a str,
    before: Option<&'a Chain<'a>>,
}

impl Chain<'_> {
    fn holds(&self, name: &str) -> bool {
        self.name == name || self.before.is_some_and(|before| before.holds(name))
    }
}

impl Scope {
    /// What `name` stands for.
    pub fn lookup(&self, name: &str, row: Option<&Row>, moment: Option<&Moment<'_>>) -> Found {
        let mut way = Way { row, moment, known: HashMap::new(), overgrown: false };
        self.lookup_after(name, None, &mut way)
    }

    fn lookup_after(&self, name: &str, before: Option<&Chain<'_>>, way: &mut Way<'_>) -> Found {
        let (row, moment) = (way.row, way.moment);
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
            return self.resolve(value, Chain { name, before }, way);
        }
        if self.captured.contains(name) {
            return match moment {
                None => Found::Later,
                Some(moment) => moment.captures.get(name).map_or(Found::Unknown, |value| Found::Literal(value.clone())),
            };
        }
        if let Some(variable) = self.suite.variables.iter().find(|variable| variable.name == name) {
            return self.resolve(&variable.value, Chain { name, before }, way);
        }
        if let Some((_, value)) = self.vars.iter().find(|(key, _)| key == name) {
            return Found::Written(value.clone());
        }
        if self.lenient { Found::Verbatim } else { Found::Unknown }
    }

    /// A value that may hold names of its own.
    fn resolve(&self, value: &Node, chain: Chain<'_>, way: &mut Way<'_>) -> Found {
        if let Some(found) = way.known.get(chain.name) {
            return found.clone();
        }
        // Of a circle nothing comes, and one unknown name is enough to know that.
        if chain.before.is_some_and(|before| before.holds(chain.name)) {
            return Found::Unknown;
        }
        let (mut unknown, mut bytes) = (false, 0);
        let mut inner = |name: &str, _: Span| {
            if unknown {
                return Found::Unknown;
            }
            let found = self.lookup_after(name, Some(&chain), way);
            if let Found::Written(node) = &found {
                bytes += size(node);
                way.overgrown |= bytes > MOST_BYTES;
            }
            unknown |= matches!(found, Found::Unknown) || way.overgrown;
            if unknown { Found::Unknown } else { found }
        };
        let mut filler = Filler::new(&mut inner);
        let filled = filler.fill(value);
        let later = filler.later;
        let found = match filled {
            _ if later && !unknown => Found::Later,
            _ if unknown => return Found::Unknown,
            None => return Found::Written(value.clone()),
            // A variable that is exactly a capture stays as literal as the capture itself.
            Some(Node { kind: Kind::Literal(value), .. }) => Found::Literal(value),
            Some(node) => Found::Written(node),
        };
        way.known.insert(chain.name.to_owned(), found.clone());
        found
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
            None if self.overgrows(name, row) => {
                Diagnostic::error(format!("with `{name}`, variables expand to more than 1 MiB")).at(source, place)
            }
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

    fn overgrows(&self, name: &str, row: Option<&Row>) -> bool {
        let mut way = Way { row, moment: None, known: HashMap::new(), overgrown: false };
        self.lookup_after(name, None, &mut way);
        way.overgrown
    }

    fn known<'a>(&'a self, row: Option<&'a Row>) -> Vec<&'a str> {
        let row = row.into_iter().flat_map(|row| row.values.iter().map(|(name, _)| name.as_str()));
        let variables = self.suite.variables.iter().map(|variable| variable.name.as_str());
        let vars = self.vars.iter().map(|(name, _)| name.as_str());
        let captured = self.captured.iter().map(String::as_str);
        row.chain(captured).chain(variables).chain(vars).chain(["tmp", "session:meta"]).collect()
    }
}

/// About how many bytes a value has.
fn size(node: &Node) -> usize {
    let node_alone = size_of::<Node>();
    node_alone
        + match &node.kind {
            Kind::String(text) => text.len(),
            Kind::Mixed(pieces) => {
                let length = |piece: &Piece| match piece {
                    Piece::Written(text) | Piece::Inserted(text) => text.len(),
                };
                pieces.iter().map(length).sum()
            }
            Kind::List(items) => items.iter().map(size).sum(),
            Kind::Map(entries) => entries.iter().map(|entry| entry.key.len() + size(&entry.value)).sum(),
            _ => 0,
        }
}

/// Where `${name}` stands in the written text.
fn narrow(text: &str, name: &str) -> Option<(usize, usize)> {
    let written = format!("${{{name}}}");
    text.find(&written).map(|start| (start, start + written.len()))
}
