//! Patterns in `match:` texts.

use super::Compiler;
use super::leaf::{Leaf, Rule, Verdict};
use super::regex::Pattern;
use super::tree::Tree;
use super::words::Words;
use crate::diagnostic::Diagnostic;
use crate::source::{Json, Span};

#[derive(Debug)]
struct Bare(Pattern);

impl Rule for Bare {
    fn judge(&self, actual: &Json) -> Verdict {
        match actual {
            Json::String(text) => (self.0.matches(text) == Some(true)).into(),
            Json::Number(_) | Json::Bool(_) => (self.0.matches(&actual.to_string()) == Some(true)).into(),
            _ => Verdict::Needs("text"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        self.0.reason(actual.as_str().unwrap_or_default())
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        self.0.hints(actual.as_str().unwrap_or_default())
    }
}

impl Compiler<'_> {
    /// Compiles what follows `match:` in a text.
    pub(super) fn pattern(&mut self, words: &Words, span: Span) -> Tree {
        let written = Json::String(format!("match:{}", words.plain()));
        match Pattern::new(&words.pattern(), "") {
            Ok(pattern) => Leaf::tree("match", span, written, Bare(pattern)),
            Err(problem) => {
                self.diagnostics.push(Diagnostic::error(format!("not a pattern: {problem}")).at(self.source, span));
                Tree::Value { value: written, span }
            }
        }
    }
}
