//! A step's expectations, compiled: what `expect` says, field by field.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::matcher::{Compiler, Expected, Mode, Query};
use crate::source::quantity::{self, Bound, Comparison};
use crate::source::{Kind, Node, Source, Span};
use crate::suite::{Expectation, Field};
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
    /// `progress`: each higher than the one before, at least so many, and what else is said of the list.
    Progress {
        /// How many must have come.
        least: usize,
        /// What is expected of the list.
        expected: Option<Expected>,
    },
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
        query: Box<Query>,
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
            Field::Progress => self.progress(value),
            Field::Error | Field::Task => {
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
            Field::Http => {
                let expected = self.expected(&lower_case_headers(value), Mode::Partial);
                self.push(*field, value, Rule::Value(expected));
            }
            Field::Checks => value.items().unwrap_or_default().iter().for_each(|item| self.at(item)),
        }
    }

    fn push(&mut self, field: Field, value: &Node, rule: Rule) {
        self.checks.push(Check { field, span: value.span, rule });
    }

    fn expected(&mut self, node: &Node, mode: Mode) -> Expected {
        let Scope { library, lenient, .. } = self.scope;
        let (source, diagnostics) = (self.source, &mut *self.diagnostics);
        let mut compiler = Compiler::new(source, diagnostics);
        compiler.lenient = *lenient;
        compiler.library = Some(&**library);
        compiler.compile(node, mode)
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

    fn progress(&mut self, value: &Node) {
        let least = match &value.kind {
            Kind::Number(number) => number.as_u64().and_then(|least| usize::try_from(least).ok()),
            _ => None,
        };
        let rule = match least {
            Some(least) => Rule::Progress { least, expected: None },
            None => Rule::Progress { least: 0, expected: Some(self.expected(value, Mode::Exact)) },
        };
        self.push(Field::Progress, value, rule);
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
        match Query::parse(text.as_str().unwrap_or_default()) {
            Ok(query) => {
                let expected = self.expected(is, Mode::Exact);
                let message = item.get("message").map(crate::suite::template::text_of);
                let rule = Rule::At { query: Box::new(query), expected, message };
                self.push(Field::Checks, is, rule);
            }
            Err(why) => self.problem(at, &why),
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

/// Names of headers are compared in lower case, as they are found.
fn lower_case_headers(value: &Node) -> Node {
    let mut value = value.clone();
    if let Kind::Map(entries) = &mut value.kind
        && let Some(headers) = entries.iter_mut().find(|entry| entry.key == "headers")
        && let Kind::Map(headers) = &mut headers.value.kind
    {
        headers.iter_mut().filter(|entry| !is_matcher_key(&entry.key)).for_each(|entry| {
            entry.key = entry.key.to_ascii_lowercase();
        });
    }
    value
}

fn is_matcher_key(key: &str) -> bool {
    key.starts_with("match:") || (key.starts_with('$') && !key.starts_with("$$"))
}
