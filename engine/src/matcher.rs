//! Expected values, compiled once and judged often.
//!
//! A [`Compiler`] turns the spanned tree under an `expect` key into an [`Expected`]; every bad argument is a
//! diagnostic at its place, before any server starts. [`Expected::check`] then gives every [`Mismatch`], each with its
//! JSON path and the suite span it came from.
//!
//! A check first runs as a *probe*, which stops at the first difference and allocates nothing; only a value that does
//! not hold is walked again to say why.

mod aegis;
mod align;
mod alike;
mod argument;
mod array;
#[cfg(test)]
mod cases;
mod compare;
mod compile;
mod date;
mod diff;
#[cfg(test)]
mod docs;
mod equality;
mod foreign;
mod found;
mod head;
mod hint;
mod inside;
mod judgement;
mod leaf;
mod likeness;
mod logic;
mod mismatch;
mod number;
mod path;
mod patience;
#[cfg(test)]
mod properties;
mod query;
mod regex;
mod schema;
mod shown;
mod size;
mod table;
#[cfg(test)]
mod testing;
mod text;
mod tree;
mod unordered;
mod words;

pub use foreign::{Broken, Foreign, Library, Objection, Question, replaces_built_in};
pub use found::Found;
pub use head::Head;
pub use judgement::Scope;
pub use mismatch::{Mismatch, Rank};
pub use path::Path;
pub use query::Query;
pub(crate) use shown::{bounded, inline};

use crate::diagnostic::Diagnostics;
use crate::source::{Json, Node, Source};
use std::sync::Arc;
use tree::Tree;

/// One matcher with its argument compiled.
pub trait Matcher: Send + Sync + std::fmt::Debug {
    /// Its name, its place, and what was written.
    fn head(&self) -> &Head;
    /// What it expects, as it was written: `{"$regex": "^a"}`.
    fn expected(&self) -> Json {
        self.head().written()
    }
    /// Whether a missing value can be right or wrong for it, and is not just missing.
    fn judges_absence(&self) -> bool {
        false
    }
    /// Adds a mismatch for every way in which `actual` (`None`: there is no value) does not hold.
    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found);
}

/// Turns expected trees into [`Expected`] values.
pub struct Compiler<'a> {
    /// The suite that the nodes come from.
    pub source: &'a Arc<Source>,
    /// Where bad arguments go.
    pub diagnostics: &'a mut Diagnostics,
    /// Whether a malformed `match:` pattern is a warning and a check that never holds, as mcp-aegis has it, and not an
    /// error.
    pub lenient: bool,
    /// Matchers beside the built-in ones.
    pub library: Option<&'a dyn Library>,
    /// How many malformed patterns were read leniently: what negates one must not hold for ever.
    malformed: usize,
    /// How many calls of matchers from the library were compiled.
    imported: usize,
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
pub struct Expected {
    tree: Tree,
    /// Whether a matcher from a library is called in it, which is told where its value stands.
    imports: bool,
}

impl<'a> Compiler<'a> {
    /// A compiler for nodes of `source`.
    pub fn new(source: &'a Arc<Source>, diagnostics: &'a mut Diagnostics) -> Compiler<'a> {
        Compiler { source, diagnostics, lenient: false, library: None, malformed: 0, imported: 0 }
    }

    /// Compiles `node`; problems go to the diagnostics, and the result is then of no use.
    pub fn compile(&mut self, node: &Node, mode: Mode) -> Expected {
        let imported = self.imported;
        let tree = self.tree(node, mode.into());
        Expected { tree, imports: self.imported > imported }
    }
}

impl Expected {
    /// Every mismatch of `actual`, worst first; empty when it holds. `root` is the JSON path of `actual` itself.
    ///
    /// However large the values are, there are at most [`Found::LIMIT`] mismatches, and each is small.
    pub fn check(&self, actual: Option<&Json>, root: &str) -> Vec<Mismatch> {
        // Only matchers from a library are told where they are, remember what they said, or end a check.
        if !self.imports {
            return if self.tree.holds(actual) { Vec::new() } else { self.mismatches(actual, root) };
        }
        judgement::begin_check(root);
        let mut probe = Found::probe();
        self.tree.check(actual, &Path::root(root), &mut probe);
        match judgement::take_fault() {
            Some(fault) => vec![fault],
            None if probe.is_empty() => Vec::new(),
            None => self.mismatches(actual, root),
        }
    }

    #[cold]
    fn mismatches(&self, actual: Option<&Json>, root: &str) -> Vec<Mismatch> {
        likeness::begin_check();
        let mut found = Found::all();
        self.tree.check(actual, &Path::root(root), &mut found);
        if self.imports
            && let Some(fault) = judgement::take_fault()
        {
            return vec![fault];
        }
        let mut found = found.finish();
        let diff = diff::of(&found, actual, root);
        if let Some(first) = found.first_mut() {
            first.diff = diff;
        }
        found
    }

    /// Whether `actual` holds, without saying why not.
    pub fn holds(&self, actual: Option<&Json>) -> bool {
        self.tree.holds(actual)
    }

    /// What is expected, as it was written.
    pub fn written(&self) -> Json {
        self.tree.written()
    }
}
