//! Typed values from a spanned tree: each wrong one is a diagnostic at its place, and reading goes on.
//!
//! A mapping becomes [`Fields`] of a [`Table`]; what is [taken](Fields::take) from it arrives as a [`Given`] that knows its
//! key, and what is left over at the end is unknown.

mod value;

use super::{Entry, Kind, Node, Source, Span};
use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::schema::{Key, Table};
use std::sync::Arc;

/// Reads typed values and reports what is wrong with them.
pub struct Reader<'a> {
    /// The text that the nodes come from.
    pub source: &'a Arc<Source>,
    /// Where problems go.
    pub diagnostics: &'a mut Diagnostics,
    /// Unknown keys are warnings, not errors.
    pub lenient: bool,
}

/// What other tools call a key, or how it is called one level away, and what to write instead.
const SYNONYMS: &[(&str, &str)] = &[
    ("arguments", "args"),
    ("parameters", "args"),
    ("input", "args"),
    ("assert", "expect"),
    ("asserts", "expect"),
    ("assertions", "expect"),
    ("description", "it"),
    ("title", "it"),
    ("resource", "uri"),
    ("structuredContent", "structured"),
    ("mcpServers", "servers"),
    ("environment", "env"),
    ("workingDirectory", "cwd"),
    ("test", "tests"),
    ("tool", "tools"),
    ("resource", "resources"),
    ("prompt", "prompts"),
    ("path", "at"),
    ("equals", "is"),
];

/// A mapping that is being read.
pub struct Fields {
    /// What it should be.
    pub table: &'static Table,
    /// Where it stands.
    pub span: Span,
    entries: Vec<Entry>,
}

/// A key of a table with the value it was given.
pub struct Given {
    /// What the table says of it.
    pub key: &'static Key,
    /// The key's place.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Fields {
    /// Takes the value of a key out.
    pub fn take(&mut self, name: &str) -> Option<Given> {
        debug_assert!(self.table.key(name).is_some(), "`{name}` is no key of the table `{}`", self.table.name);
        // Most keys of a table are not written, so that the table is asked last.
        let at = self.entries.iter().position(|entry| entry.key == name)?;
        let key = self.table.key(name)?;
        let Entry { key_span, value, .. } = self.entries.remove(at);
        Some(Given { key, key_span, value })
    }

    /// The place of a key that has not been taken yet.
    pub fn place_of(&self, name: &str) -> Option<Span> {
        self.entries.iter().find(|entry| entry.key == name).map(|entry| entry.key_span)
    }

    /// Whether a key that the table does not know is nearly one of these names, so that it explains their absence.
    pub fn has_near(&self, names: &[&str]) -> bool {
        let unknown = self.entries.iter().filter(|entry| self.table.key(&entry.key).is_none());
        unknown.filter_map(|entry| did_you_mean(&entry.key, names.iter().copied())).next().is_some()
    }

    /// A place for what is missing: the first key, or the whole mapping.
    pub fn head(&self) -> Span {
        self.entries.first().map_or(self.span, |entry| entry.key_span)
    }
}

impl Reader<'_> {
    /// Reports an error at a place.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.push(Diagnostic::error(message).at(self.source, span))
    }

    /// Reports a warning at a place.
    pub fn warn(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.push(Diagnostic::warning(message).at(self.source, span))
    }

    fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        self.diagnostics.list.push(diagnostic);
        let last = self.diagnostics.list.len() - 1;
        &mut self.diagnostics.list[last]
    }

    /// The fields of a mapping; anything else is reported.
    pub fn fields(&mut self, node: Node, table: &'static Table) -> Option<Fields> {
        let found = node.describe();
        match node.kind {
            Kind::Map(entries) => Some(Fields { table, span: node.span, entries }),
            _ => {
                self.error(node.span, format!("{} is a mapping, found {found}", table.title))
                    .hints
                    .push(format!("for example `{}`", table.example));
                None
            }
        }
    }

    /// Reports every key that was not taken.
    pub fn finish(&mut self, fields: Fields) {
        for entry in fields.entries {
            if entry.key.starts_with("x-") {
                continue;
            }
            debug_assert!(fields.table.key(&entry.key).is_none(), "`{}` is in the table and was not read", entry.key);
            if let Some(later) = fields.table.later.iter().find(|later| later.name == entry.key) {
                self.error(entry.key_span, format!("`{}` is not supported in this version", later.name)).label =
                    Some(later.waits_for.to_owned());
                continue;
            }
            self.unknown(fields.table, &entry.key, entry.key_span);
        }
    }

    fn unknown(&mut self, table: &'static Table, key: &str, span: Span) {
        let lenient = self.lenient;
        let diagnostic = match lenient {
            true => self.warn(span, format!("unknown key `{key}` in {}, ignored", table.title)),
            false => self.error(span, format!("unknown key `{key}` in {}", table.title)),
        };
        let synonym = SYNONYMS.iter().find(|(other, name)| *other == key && table.key(name).is_some());
        if let Some((_, name)) = synonym {
            diagnostic.label = Some(format!("this is called `{name}` here"));
            return;
        }
        if matches!(key, "method" | "params") && table.key("request").is_some() {
            diagnostic.label = Some("this belongs under `request`".into());
            diagnostic
                .hints
                .push("for example `request: {method: tools/list, params: {}}`; a tool's are `args`".into());
            return;
        }
        let elsewhere = table
            .elsewhere
            .iter()
            .find(|(groups, _)| groups.iter().any(|group| group.iter().any(|other| other.name == key)));
        if let Some((_, place)) = elsewhere {
            diagnostic.label = Some(format!("`{key}` {place}"));
            return;
        }
        if let Some(near) = did_you_mean(key, table.keys().map(|key| key.name)) {
            diagnostic.label = Some(format!("did you mean `{near}`?"));
        } else if !lenient {
            let known = table.keys().map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(", ");
            diagnostic.hints.push(format!("{} takes {known}; keys that begin with `x-` are free", table.title));
        }
    }
}
