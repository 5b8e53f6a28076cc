//! `expect`: which fields, and the forms that are not matchers.
//!
//! Matchers are compiled at plan time from the nodes kept here; what is checked now is what no matcher sees: names of
//! fields, bounds of durations, the JSONPath of every check.

use super::Parser;
use crate::schema::{CHECK, EXPECT, PERFORMANCE};
use crate::source::reader::Given;
use crate::source::{Kind, Node, quantity};
use crate::suite::{Expectation, Field};

impl Parser<'_> {
    pub(super) fn expect(&mut self, given: Given) -> Vec<Expectation> {
        if let Kind::Null = given.value.kind {
            let message = "`expect` is empty";
            self.reader
                .error(given.key_span, message)
                .hints
                .push("remove it, or say what is expected: `expect: {text: hello}`".into());
            return Vec::new();
        }
        let Some(mut fields) = self.reader.fields(given.value, &EXPECT) else { return Vec::new() };
        let mut expectations = Vec::new();
        for key in EXPECT.keys() {
            let Some(given) = fields.take(key.name) else { continue };
            let Some(field) = Field::from_key(key.name) else { continue };
            self.validate(field, &given);
            expectations.push(Expectation { field, key_span: given.key_span, value: given.value });
        }
        expectations.sort_by_key(|expectation| expectation.key_span.start);
        self.no_contradiction(&expectations);
        self.reader.finish(fields);
        expectations
    }

    fn validate(&mut self, field: Field, given: &Given) {
        match field {
            Field::NoResponse => {
                self.reader.only_true(given);
            }
            Field::Notifications | Field::Requests | Field::Files | Field::Http if given.value.entries().is_none() => {
                self.reader.wrong_type(given);
            }
            Field::Duration => self.duration_bound(given),
            Field::Progress if matches!(given.value.kind, Kind::Bool(_) | Kind::Null) => {
                let message =
                    format!("`progress` takes a number, or a matcher over a list, found {}", given.value.describe());
                self.reader.error(given.value.span, message).hints.push(
                    "`progress: 1` wants at least one progress notification; `progress: []` wants none".to_owned(),
                );
            }
            Field::Performance => self.performance(given),
            Field::Checks => self.checks(given),
            Field::ExitCode if matches!(given.value.kind, Kind::Bool(_) | Kind::List(_)) => {
                self.reader.error(
                    given.value.span,
                    format!("`exitCode` takes a number or a matcher, found {}", given.value.describe()),
                );
            }
            _ => {}
        }
    }

    fn duration_bound(&mut self, given: &Given) {
        let text = match &given.value.kind {
            Kind::Map(_) => return,
            Kind::String(text) if text.starts_with("match:") => return,
            Kind::String(text) => text,
            _ => return self.reader.wrong_type(given),
        };
        if let Err(problem) = quantity::bound(text) {
            let diagnostic = self.reader.error(given.value.span, format!("`duration`: `{text}` {problem}"));
            diagnostic.hints.push("for example `duration: \"<500ms\"`".to_owned());
        }
    }

    fn performance(&mut self, given: &Given) {
        let Some(mut fields) = self.reader.fields(given.value.clone(), &PERFORMANCE) else { return };
        let mut bounds = 0;
        for bound in PERFORMANCE.keys().filter_map(|key| fields.take(key.name)).collect::<Vec<_>>() {
            self.reader.duration(bound);
            bounds += 1;
        }
        if bounds == 0 {
            let diagnostic =
                self.reader.error(given.key_span, "`performance` needs `maxResponseTime` or `minResponseTime`");
            diagnostic.hints.push(format!("for example `performance: {}`", PERFORMANCE.example));
        }
        self.reader.finish(fields);
    }

    fn checks(&mut self, given: &Given) {
        let Some(items) = given.value.items() else { return self.reader.wrong_type(given) };
        for item in items {
            self.check(item);
        }
    }

    fn check(&mut self, item: &Node) {
        let Some(mut fields) = self.reader.fields(item.clone(), &CHECK) else { return };
        let head = fields.head();
        let (at, is) = (fields.take("at"), fields.take("is"));
        if let Some(message) = fields.take("message") {
            self.reader.text(message);
        }
        if let Some(at) = &at {
            self.reader.path("at", &at.value);
        }
        if at.is_none() || is.is_none() {
            let missing = if at.is_none() { "at" } else { "is" };
            let diagnostic = self.reader.error(head, format!("a check needs `{missing}`"));
            diagnostic.hints.push(format!("for example `{}`", CHECK.example));
        }
        self.reader.finish(fields);
    }

    /// No answer can be expected and judged at once.
    fn no_contradiction(&mut self, expectations: &[Expectation]) {
        let Some(none) = expectations.iter().find(|one| one.field == Field::NoResponse) else { return };
        let judged = |field| {
            matches!(
                field,
                Field::Response
                    | Field::Result
                    | Field::Error
                    | Field::IsError
                    | Field::Text
                    | Field::Structured
                    | Field::Content
            )
        };
        if let Some(other) = expectations.iter().find(|one| judged(one.field)) {
            let name = self.reader.source.slice(other.key_span).to_owned();
            let diagnostic =
                self.reader.error(none.key_span, format!("`no-response` and `{name}` contradict each other"));
            diagnostic.also.push((other.key_span, "this needs an answer".to_owned()));
        }
    }
}
