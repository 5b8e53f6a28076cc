//! How the tests of this module write expected values: as JSON, every part at a place of its own.

use super::{Compiler, Expected, Mismatch, Mode};
use crate::diagnostic::Diagnostics;
use crate::source::{Entry, Json, Kind, Node, Source, Span};

/// A node as a suite would have it.
pub(super) fn node(value: &Json) -> Node {
    let kind = match value {
        Json::Null => Kind::Null,
        Json::Bool(value) => Kind::Bool(*value),
        Json::Number(number) => Kind::Number(number.clone()),
        Json::String(text) => Kind::String(text.clone()),
        Json::Array(items) => Kind::List(items.iter().map(node).collect()),
        Json::Object(members) => {
            let entry = |(key, value): (&String, &Json)| Entry {
                key: key.clone(),
                key_span: Span::default(),
                value: node(value),
            };
            Kind::Map(members.iter().map(entry).collect())
        }
    };
    Node::new(kind, Span::default())
}

/// Compiles; what was reported stands beside it.
pub(super) fn compile(expected: &Node) -> (Expected, Diagnostics) {
    let source = Source::new("suite.yml", "suite.yml", String::new());
    let mut diagnostics = Diagnostics::default();
    let compiled = Compiler::new(&source, &mut diagnostics).compile(expected, Mode::Exact);
    (compiled, diagnostics)
}

/// The mismatches of `actual`; the expected value must be a good one.
pub(super) fn check(expected: &Json, actual: Option<&Json>) -> Vec<Mismatch> {
    let (compiled, diagnostics) = compile(&node(expected));
    assert!(diagnostics.list.is_empty(), "{expected}: {:?}", diagnostics.list);
    compiled.check(actual, "$")
}

/// The paths and messages of the mismatches.
pub(super) fn say(expected: Json, actual: Json) -> Vec<String> {
    check(&expected, Some(&actual)).into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}
