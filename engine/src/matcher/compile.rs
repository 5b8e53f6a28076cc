//! From a spanned tree to a compiled one: which mappings call matchers, and which are plain.

use super::aegis::object;
use super::argument::Call;
use super::logic;
use super::table;
use super::tree::{Field, Manner, Tree};
use super::words::Words;
use super::{Compiler, Library};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::source::{Entry, Json, Kind, Node, Span};

/// Keys of JSON Schema that begin with `$` and are always plain keys.
const SCHEMA_KEYWORDS: [&str; 9] =
    ["$schema", "$ref", "$id", "$defs", "$comment", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary"];

/// What other tools call a matcher.
const SYNONYMS: &[(&str, &str)] = &[
    ("$match", "$regex"),
    ("$matches", "$regex"),
    ("$pattern", "$regex"),
    ("$like", "$partial"),
    ("$subset", "$partial"),
    ("$eq", "$exactly"),
    ("$equals", "$exactly"),
    ("$is", "$exactly"),
    ("$ne", "$not"),
    ("$and", "$all"),
    ("$or", "$any"),
    ("$in", "$any"),
    ("$includes", "$contains"),
    ("$include", "$contains"),
    ("$has", "$contains"),
    ("$every", "$each"),
    ("$elemMatch", "$some"),
    ("$size", "$length"),
    ("$count", "$length"),
    ("$len", "$length"),
    ("$min", "$gte"),
    ("$max", "$lte"),
    ("$typeof", "$type"),
];

impl Compiler<'_> {
    /// Compiles a node in which `match:` texts and `$` mappings are matchers.
    pub(super) fn tree(&mut self, node: &Node, manner: Manner) -> Tree {
        let span = node.span;
        match &node.kind {
            Kind::Literal(value) => Tree::literal(value, span),
            Kind::String(_) | Kind::Mixed(_) => self.words(node),
            Kind::List(items) => {
                Tree::List { items: items.iter().map(|item| self.tree(item, manner)).collect(), span, manner }
            }
            Kind::Map(entries) => self.mapping(entries, span, manner),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) => Tree::Value { value: node.to_json(), span },
        }
    }

    fn words(&mut self, node: &Node) -> Tree {
        match Words::of(node).and_then(|words| words.after("match:")) {
            Some(pattern) => match self.foreign_pattern(&pattern, node.span) {
                Some(foreign) => foreign,
                None => self.pattern(&pattern, node.span),
            },
            None => Tree::Value { value: node.to_json(), span: node.span },
        }
    }

    fn mapping(&mut self, entries: &[Entry], span: Span, manner: Manner) -> Tree {
        let calls = entries.iter().filter(|entry| is_call(&entry.key)).count();
        if calls > 0 && self.lenient && !entries.iter().all(|entry| self.knows(&entry.key)) {
            self.taken_as_keys(entries);
        } else if calls > 0 && calls == entries.len() {
            return self.calls(entries, span, manner);
        } else if calls > 0 {
            self.mixed(entries);
        }
        if object::is_one(entries) {
            return self.object(entries, span, manner);
        }
        let mut fields = Vec::with_capacity(entries.len());
        for entry in entries {
            self.stray_key(entry);
            let key = match entry.key.strip_prefix("$$") {
                Some(rest) => format!("${rest}"),
                None => entry.key.clone(),
            };
            fields.push(Field { key, span: entry.key_span, tree: self.tree(&entry.value, manner) });
        }
        Tree::Map { fields, span, manner }
    }

    fn calls(&mut self, entries: &[Entry], span: Span, manner: Manner) -> Tree {
        let mut trees: Vec<Tree> = entries.iter().filter_map(|entry| self.call(entry, manner)).collect();
        match trees.pop() {
            Some(only) if trees.is_empty() => only,
            Some(last) => {
                trees.push(last);
                logic::every(trees, span)
            }
            None => Tree::Value { value: Json::Null, span },
        }
    }

    fn call(&mut self, entry: &Entry, manner: Manner) -> Option<Tree> {
        if let Some(foreign) = self.foreign_call(entry) {
            return Some(foreign);
        }
        let Some(known) = table::find(&entry.key) else {
            let mut names: Vec<&str> = table::names().collect();
            if let Some(library) = self.library {
                names.extend(library.names());
                if library.is_incomplete() {
                    return None;
                }
            }
            let mut problem =
                Diagnostic::error(format!("there is no matcher `{}`", entry.key)).at(self.source, entry.key_span);
            problem = match synonym(&entry.key).or_else(|| did_you_mean(&entry.key, names)) {
                Some(near) => problem.hint(format!("did you mean `{near}`?")),
                None => problem.hint("one of an extension is there with `--matcher FILE.wasm`, or with `imports: { matchers: [FILE.wasm] }` in the suite"),
            };
            self.diagnostics.push(problem.hint(format!("a key that begins with `$` is written `${}`", entry.key)));
            return None;
        };
        let call = Call { compiler: self, entry: known, node: &entry.value, key_span: entry.key_span, manner };
        (known.build)(call)
    }

    /// Whether a key calls a matcher that there is, or may be.
    fn knows(&self, key: &str) -> bool {
        let foreign = |library: &dyn Library| library.is_incomplete() || library.names().contains(&key);
        is_call(key) && (table::find(key).is_some() || self.library.is_some_and(foreign))
    }

    /// A mapping of a suite that is read leniently, and knows of no matchers such as ours: `{$oid: …}`.
    fn taken_as_keys(&mut self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| is_call(&entry.key)) {
            let warning = Diagnostic::warning(format!("`{}` is taken as a key of the answer", entry.key))
                .at(self.source, entry.key_span);
            let near = synonym(&entry.key).or_else(|| did_you_mean(&entry.key, table::names()));
            self.diagnostics.push(match near.filter(|_| !self.knows(&entry.key)) {
                Some(near) => warning.hint(format!("did you mean the matcher `{near}`?")),
                None => warning.hint("a matcher stands alone in its mapping, or beside other matchers"),
            });
        }
    }

    /// Matchers beside plain keys: it cannot be both.
    fn mixed(&mut self, entries: &[Entry]) {
        let plain = entries.iter().find(|entry| !is_call(&entry.key)).map_or("", |entry| &entry.key);
        for entry in entries.iter().filter(|entry| is_call(&entry.key)) {
            let message = format!("the matcher `{}` stands beside the plain key `{plain}`", entry.key);
            let problem = Diagnostic::error(message)
                .at(self.source, entry.key_span)
                .hint(format!("if it is a key of the answer, write `${}`", entry.key))
                .hint("if it is a matcher, let it stand alone, or combine with `$all: [{…}, {…}]`");
            self.diagnostics.push(problem);
        }
    }
}

fn synonym(key: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(other, _)| *other == key).map(|(_, name)| *name)
}

/// Whether a key calls a matcher: `$` and a letter, and no keyword of JSON Schema.
fn is_call(key: &str) -> bool {
    key.strip_prefix('$').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()))
        && !SCHEMA_KEYWORDS.contains(&key)
}
