//! Expected values, compiled once and judged often.
//!
//! A [`Compiler`] turns the spanned tree under an `expect` key into an [`Expected`]; every bad argument is a
//! diagnostic at its place, before any server starts. [`Expected::check`] then gives every [`Mismatch`], each with its
//! JSON path and the suite span it came from.

use crate::diagnostic::Diagnostics;
use crate::source::{Json, Node, Source, Span};
use std::sync::Arc;

/// One matcher with its argument compiled.
pub trait Matcher: Send + Sync + std::fmt::Debug {
    /// Its name as a report shows it: `$regex`, `match:contains`.
    fn name(&self) -> &str;
    /// Adds a mismatch for every way in which `actual` (`None`: there is no value) does not hold.
    fn check(&self, actual: Option<&Json>, path: &mut Path, found: &mut Vec<Mismatch>);
}

/// A JSON path under construction: `$.result.content[0].text`.
#[derive(Clone, Debug)]
pub struct Path(pub String);

/// One way in which a value is not what was expected.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The matcher that says so; `None` for plain equality.
    pub matcher: Option<String>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The JSON path in the outcome.
    pub path: String,
    /// What was expected; `None` where nothing was (an extra key).
    pub expected: Option<Json>,
    /// What came; `None` where nothing did (a missing key).
    pub actual: Option<Json>,
    /// The suite text that expected it.
    pub span: Span,
    /// What a known rule says about it.
    pub hints: Vec<String>,
}

/// Turns expected trees into [`Expected`] values.
pub struct Compiler<'a> {
    /// The suite that the nodes come from.
    pub source: &'a Arc<Source>,
    /// Where bad arguments go.
    pub diagnostics: &'a mut Diagnostics,
}

/// How plain values in an expected tree compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Deep equality: missing, extra and different are mismatches.
    Exact,
    /// Only what is written is compared.
    Partial,
}

/// A compiled expectation.
#[derive(Debug)]
pub struct Expected(Box<dyn Matcher>);

impl Compiler<'_> {
    /// Compiles `node`; problems go to the diagnostics, and the result is then of no use.
    pub fn compile(&mut self, node: &Node, mode: Mode) -> Expected {
        let _ = (node, mode);
        unreachable!("written by the matcher module")
    }
}

impl Expected {
    /// Every mismatch of `actual`, worst first; empty when it holds. `root` is the JSON path of `actual` itself.
    pub fn check(&self, actual: Option<&Json>, root: &str) -> Vec<Mismatch> {
        let mut found = Vec::new();
        self.0.check(actual, &mut Path(root.to_owned()), &mut found);
        found
    }
}
