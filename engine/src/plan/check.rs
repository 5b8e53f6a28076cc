//! A step's expectations, compiled: what `expect` says, field by field.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::matcher::{Compiler, Expected, Mode};
use crate::source::quantity::{self, Bound, Comparison};
use crate::source::{Kind, Node, Source, Span, path};
use crate::suite::{Expectation, Field};
use serde_json_path::JsonPath;
use std::sync::Arc;

/// One expectation, ready to be judged.
#[derive(Debug)]
pub struct Check {
    /// The field of `expect` that it came from.
    pub field: Field,
    /// Where it is written.
    pub span: Span,
    /// What must hold.
    pub rule: Rule,
}

/// What must hold.
#[derive(Debug)]
pub enum Rule {
    /// The field, as one value.
    Value(Expected),
    /// The whole envelope; `jsonrpc` and `id` are compared only when they are written.
    Envelope {
        /// What is expected of it.
        expected: Expected,
        /// Keys of the answer that the suite leaves out.
        leave_out: Vec<&'static str>,
    },
    /// `stderr: toBeEmpty`, `stdout: clean`.
    Empty,
    /// Text, compared without the white space around it.
    Trimmed(Expected),
    /// `notifications`, `requests`: for each method a list of params.
    Methods(Vec<(String, Expected)>),
    /// A limit on how long the answer took.
    Time(Bound),
    /// Milliseconds, under a matcher.
    Milliseconds(Expected),
    /// `no-response: true`.
    Silence,
    /// Files below `${tmp}`.
    Files(Vec<(String, Span, Expected)>),
    /// `checks: [{at, is}]`.
    At {
        /// Where in the outcome.
        path: Box<JsonPath>,
        /// The same as it is written.
        text: String,
        /// Whether the path can give one node only.
        singular: bool,
        /// What is expected there.
        expected: Expected,
        /// What the author says about it.
        message: Option<String>,
    },
}

/// Compiles a step's expectations; problems go to the diagnostics.
pub fn compile(expect: &[Expectation], scope: &Scope, diagnostics: &mut Diagnostics) -> Vec<Check> {
    let mut build = Build { scope, source: &scope.suite.source, diagnostics, checks: Vec::with_capacity(expect.len()) };
    for expectation in expect {
        build.expectation(expectation);
    }
    build.checks
}

struct Build<'a> {
    scope: &'a Scope,
    source: &'a Arc<Source>,
    diagnostics: &'a mut Diagnostics,
    checks: Vec<Check>,
}

impl Build<'_> {
    fn expectation(&mut self, expectation: &Expectation) {
        let Expectation { field, value, .. } = expectation;
        match field {
            Field::Response => {
                let rule = self.envelope(value);
                self.push(*field, value, rule);
            }
            Field::Result | Field::IsError | Field::Text | Field::Structured | Field::Content | Field::ExitCode => {
                let expected = self.expected(value, Mode::Exact);
                self.push(*field, value, Rule::Value(expected));
            }
            Field::Error => {
                let expected = self.expected(value, Mode::Partial);
                self.push(*field, value, Rule::Value(expected));
            }
            Field::Stderr | Field::Stdout => self.text(*field, value),
            Field::Notifications | Field::Requests => self.methods(*field, value),
            Field::Duration => self.duration(*field, value),
            Field::Performance => self.performance(value),
            Field::NoResponse if matches!(value.kind, Kind::Bool(false)) => {}
            Field::NoResponse => self.push(*field, value, Rule::Silence),
            Field::Files => self.files(*field, value),
            Field::Checks => value.items().unwrap_or_default().iter().for_each(|item| self.at(item)),
        }
    }

    fn push(&mut self, field: Field, value: &Node, rule: Rule) {
        self.checks.push(Check { field, span: value.span, rule });
    }

    fn expected(&mut self, node: &Node, mode: Mode) -> Expected {
        let Scope { library, lenient, .. } = self.scope;
        let (source, diagnostics) = (self.source, &mut *self.diagnostics);
        Compiler { source, diagnostics, lenient: *lenient, library: Some(&**library) }.compile(node, mode)
    }

    fn envelope(&mut self, value: &Node) -> Rule {
        let expected = self.expected(value, Mode::Exact);
        let plain = value.entries().filter(|entries| !entries.iter().any(|entry| is_matcher_key(&entry.key)));
        let leave_out = plain.map_or_else(Vec::new, |entries| {
            let absent = |key: &&&str| !entries.iter().any(|entry| entry.key == **key);
            ["jsonrpc", "id"].iter().filter(absent).copied().collect()
        });
        Rule::Envelope { expected, leave_out }
    }

    fn text(&mut self, field: Field, value: &Node) {
        let rule = match value.as_str() {
            Some("toBeEmpty") if field == Field::Stderr => Rule::Empty,
            Some("clean") if field == Field::Stdout => Rule::Empty,
            _ => Rule::Trimmed(self.expected(value, Mode::Exact)),
        };
        self.push(field, value, rule);
    }

    fn methods(&mut self, field: Field, value: &Node) {
        let Some(entries) = value.entries() else {
            return self.problem(value, "expected a mapping from method to what is expected of its params");
        };
        let methods =
            entries.iter().map(|entry| (entry.key.clone(), self.expected(&entry.value, Mode::Exact))).collect();
        self.push(field, value, Rule::Methods(methods));
    }

    fn duration(&mut self, field: Field, value: &Node) {
        if value.entries().is_some() {
            let expected = self.expected(value, Mode::Exact);
            return self.push(field, value, Rule::Milliseconds(expected));
        }
        let text = value.to_json();
        match quantity::bound(text.as_str().unwrap_or_default()) {
            Ok(bound) => self.push(field, value, Rule::Time(bound)),
            Err(why) => self.problem(value, &format!("the limit {why}, as in `\"<500ms\"`")),
        }
    }

    fn performance(&mut self, value: &Node) {
        let limits = [("maxResponseTime", Comparison::LessOrEqual), ("minResponseTime", Comparison::GreaterOrEqual)];
        for (key, comparison) in limits {
            let Some(node) = value.get(key) else { continue };
            match quantity::duration_of(node) {
                Ok(limit) => self.push(Field::Performance, node, Rule::Time(Bound { comparison, limit })),
                Err(why) => self.problem(node, &format!("the limit {why}, as in `500` (milliseconds) or `2s`")),
            }
        }
    }

    fn files(&mut self, field: Field, value: &Node) {
        let Some(entries) = value.entries() else {
            return self
                .problem(value, "expected a mapping from path (below `${tmp}`) to what is expected of the file");
        };
        let files = entries
            .iter()
            .map(|entry| (entry.key.clone(), entry.key_span, self.expected(&entry.value, Mode::Exact)))
            .collect();
        self.push(field, value, Rule::Files(files));
    }

    fn at(&mut self, item: &Node) {
        let Some((at, is)) = item.get("at").zip(item.get("is")) else { return };
        let text = at.to_json();
        match path::parse(text.as_str().unwrap_or_default()) {
            Ok(path) => {
                let expected = self.expected(is, Mode::Exact);
                let message = item.get("message").map(crate::suite::template::text_of);
                let text = text.as_str().unwrap_or_default().to_owned();
                let singular = is_singular(&text);
                let rule = Rule::At { path: Box::new(path), text, singular, expected, message };
                self.push(Field::Checks, is, rule);
            }
            Err(error) => self.problem(at, &format!("not a JSONPath: {}", error.message)),
        }
    }

    /// Reports a problem, unless the parser reported one at this place already.
    fn problem(&mut self, node: &Node, message: &str) {
        let inside = |span: Span| node.span.start <= span.start && span.end <= node.span.end;
        let same = |source: &Arc<Source>| Arc::ptr_eq(source, self.source);
        let mut places = self.diagnostics.list.iter().filter_map(|problem| problem.place.as_ref());
        if places.any(|(source, span)| same(source) && inside(*span)) {
            return;
        }
        self.diagnostics.push(Diagnostic::error(message).at(self.source, node.span));
    }
}

fn is_matcher_key(key: &str) -> bool {
    key.starts_with("match:") || (key.starts_with('$') && !key.starts_with("$$"))
}

/// A singular query (RFC 9535 §2.3.5.1) names its steps one by one: no wildcard, slice, filter, union or descent.
pub fn is_singular(path: &str) -> bool {
    let mut rest = path.trim().strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() {
        rest = match rest.strip_prefix('[') {
            Some(inner) => match bracket(inner) {
                Some(after) => after,
                None => return false,
            },
            None => {
                let Some(name) = rest.strip_prefix('.') else { return false };
                let end = name.find(['.', '[']).unwrap_or(name.len());
                if end == 0 || name[..end].contains('*') {
                    return false;
                }
                &name[end..]
            }
        };
    }
    true
}

/// What follows a bracket that holds one index or one quoted name.
fn bracket(inner: &str) -> Option<&str> {
    let inner = inner.trim_start();
    if let Some(quote) = inner.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let mut escaped = false;
        for (at, c) in inner.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == quote => return inner[at + 1..].trim_start().strip_prefix(']'),
                _ => {}
            }
        }
        return None;
    }
    let end = inner.find(']')?;
    let index = inner[..end].trim();
    (!index.is_empty() && index.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit())).then(|| &inner[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::is_singular;

    #[test]
    fn singular_queries_are_told_apart() {
        for path in ["$", "$.a", "$.a.b[0]", "$['a b'][-1]", "$.result.tools[0].name", "$[\"x]\"].y"] {
            assert!(is_singular(path), "{path}");
        }
        for path in ["$..a", "$.*", "$[*]", "$[0,1]", "$[1:2]", "$[?@.a]", "$['a','b']", "$.a[*].b"] {
            assert!(!is_singular(path), "{path}");
        }
    }
}
