//! The argument of a `$` matcher while it is compiled: what it must be, and what is said when it is not.

use super::table::Entry;
use super::tree::{Manner, Tree};
use super::words::Words;
use super::{Compiler, Head, Matcher};
use crate::diagnostic::Diagnostic;
use crate::source::{Json, Kind, Node, Span};
use serde_json::Number;

/// One `$name: argument`, being compiled.
pub(super) struct Call<'a, 'c> {
    pub(super) compiler: &'a mut Compiler<'c>,
    pub(super) entry: &'static Entry,
    pub(super) node: &'a Node,
    pub(super) key_span: Span,
    pub(super) manner: Manner,
}

impl Call<'_, '_> {
    pub(super) fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The place of the whole call.
    pub(super) fn span(&self) -> Span {
        Span { start: self.key_span.start, end: self.node.span.end.max(self.key_span.end) }
    }

    /// The name, the place and the text of the call.
    pub(super) fn head(&self) -> Head {
        Head::call(self.entry.name, self.span(), self.node.to_json())
    }

    pub(super) fn matcher(&self, matcher: impl Matcher + 'static) -> Option<Tree> {
        Some(Tree::Matcher(Box::new(matcher)))
    }

    /// Compiles a value to compare, in the manner of its surroundings.
    pub(super) fn tree(&mut self, node: &Node) -> Tree {
        self.compiler.tree(node, self.manner)
    }

    /// Compiles the argument to negate it, and says whether that makes sense: not with a malformed pattern inside.
    pub(super) fn negated(&mut self) -> (Tree, bool) {
        let malformed = self.compiler.malformed;
        let tree = self.tree(self.node);
        (tree, self.compiler.malformed == malformed)
    }

    /// Reports a bad argument, with an example of a good one.
    pub(super) fn bad<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        let hint = format!("for example: `{}: {}`", self.entry.name, self.entry.example);
        self.compiler.diagnostics.push(Diagnostic::error(message).at(self.compiler.source, span).hint(hint));
        None
    }

    /// Reports that the argument is not what the matcher takes.
    pub(super) fn wrong<T>(&mut self, node: &Node, takes: &str) -> Option<T> {
        let message = format!("`{}` takes {takes}, and this is {}", self.entry.name, node.describe());
        self.bad(node.span, message)
    }

    pub(super) fn words(&mut self) -> Option<Words> {
        match Words::of(self.node) {
            Some(words) => Some(words),
            None => self.wrong(self.node, "text"),
        }
    }

    pub(super) fn text(&mut self) -> Option<String> {
        self.words().map(|words| words.plain())
    }

    pub(super) fn number_at(&mut self, node: &Node) -> Option<Number> {
        match node.to_json() {
            Json::Number(number) => Some(number),
            _ => self.wrong(node, "a number"),
        }
    }

    pub(super) fn number(&mut self) -> Option<Number> {
        self.number_at(self.node)
    }

    pub(super) fn boolean(&mut self) -> Option<bool> {
        match self.node.to_json() {
            Json::Bool(value) => Some(value),
            _ => self.wrong(self.node, "`true` or `false`"),
        }
    }

    /// The elements of the argument; a captured list counts.
    pub(super) fn items(&mut self) -> Option<Vec<Node>> {
        match items(self.node) {
            Some(items) => Some(items),
            None => self.wrong(self.node, "a list"),
        }
    }

    /// Exactly two elements.
    pub(super) fn pair(&mut self, takes: &str) -> Option<[Node; 2]> {
        let items = items(self.node).and_then(|items| <[Node; 2]>::try_from(items).ok());
        match items {
            Some(pair) => Some(pair),
            None => {
                let message = format!("`{}` takes {takes}", self.entry.name);
                self.bad(self.node.span, message)
            }
        }
    }

    /// The argument as a mapping whose keys are all known.
    pub(super) fn options(&mut self, known: &[&str]) -> Option<()> {
        for entry in self.node.entries().unwrap_or_default() {
            if !known.contains(&entry.key.as_str()) {
                let message =
                    format!("`{}` has no option `{}`; it has `{}`", self.name(), entry.key, known.join("`, `"));
                return self.bad(entry.key_span, message);
            }
        }
        Some(())
    }
}

fn items(node: &Node) -> Option<Vec<Node>> {
    match &node.kind {
        Kind::List(items) => Some(items.clone()),
        Kind::Literal(Json::Array(items)) => {
            Some(items.iter().map(|item| Node::new(Kind::Literal(item.clone()), node.span)).collect())
        }
        _ => None,
    }
}
