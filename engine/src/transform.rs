//! Suites pass through their transforms, and what comes out is read like a file.
//!
//! A transform gets the suite as JSON text, keys as written, variables not filled in, and returns the suite to use in
//! its place. Places in that text are what diagnostics and failures then point at: the file as it was written does not
//! have them. The tests keep the name of the file they came from.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::extension::Reach;
use crate::extension::fault::plain;
use crate::source::{Json, Node, Source, yaml};
use crate::suite::{Import, Origin, Setting, Suite, parse};
use std::sync::Arc;

/// A file on its way to a suite.
#[derive(Debug)]
pub enum Draft {
    /// No transform holds for it.
    Suite(Arc<Suite>),
    /// What it holds is for the transforms to say.
    Waiting {
        /// The file.
        source: Arc<Source>,
        /// Its tree.
        root: Node,
        /// Its own transforms.
        imports: Vec<Import>,
    },
}

/// Reads a file as far as no extension is needed, and begins to load those that it imports; every problem goes into
/// `diagnostics`.
pub fn begin(
    source: &Arc<Source>,
    setting: &Setting,
    reach: &mut Reach,
    diagnostics: &mut Diagnostics,
) -> Option<Draft> {
    let root = yaml::parse(source, diagnostics)?;
    let imports = imported(&root);
    if imports.is_empty() && !reach.transforms_all() {
        let suite = parse::parse_tree(root, source, setting, diagnostics)?;
        reach.begin_imports(source, &suite.imports.matchers);
        return Some(Draft::Suite(Arc::new(suite)));
    }
    reach.begin_imports(source, &imports);
    Some(Draft::Waiting { source: source.clone(), root, imports })
}

impl Draft {
    /// The suite, through its own transforms and those of the run.
    pub fn finish(self, setting: &Setting, reach: &mut Reach, diagnostics: &mut Diagnostics) -> Option<Arc<Suite>> {
        match self {
            Draft::Suite(suite) => Some(suite),
            Draft::Waiting { source, root, imports } => {
                transformed(&source, &root, &imports, setting, reach, diagnostics).map(Arc::new)
            }
        }
    }
}

fn transformed(
    source: &Arc<Source>,
    root: &Node,
    imports: &[Import],
    setting: &Setting,
    reach: &mut Reach,
    diagnostics: &mut Diagnostics,
) -> Option<Suite> {
    let mut rewritten = root.to_json();
    let mut names: Vec<String> = Vec::new();
    for live in reach.transforms(source, imports) {
        let live = live?;
        names.push(format!("`{}`", live.id));
        rewritten = match live.extension.transform(&rewritten.to_string()) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(suite) => suite,
                Err(error) => {
                    // What it returned is of no use to the next one either.
                    diagnostics.push(no_json(source, &live.id, &text, &error));
                    return None;
                }
            },
            Err(fault) => {
                let problem = Diagnostic::error(format!("{} ({})", fault.message, fault.code.name())).by_extension();
                let problem = problem.hint(format!("it was to rewrite `{}`", source.name));
                diagnostics.push(fault.all_hints().into_iter().fold(problem, Diagnostic::hint));
                return None;
            }
        };
    }
    let produced = produced(source, &names, &rewritten);
    let before = diagnostics.list.len();
    let suite =
        yaml::parse(&produced, diagnostics).and_then(|root| parse::parse_tree(root, &produced, setting, diagnostics));
    for problem in &mut diagnostics.list[before..] {
        problem.hints.push(format!("this text was produced by {}, from `{}`", names.join(", then "), source.name));
    }
    let mut suite = suite?;
    suite.origin = Some(Origin::new(source, root));
    Some(suite)
}

/// What a transform returns is JSON before it is a suite.
fn no_json(source: &Source, id: &str, text: &str, why: &serde_json::Error) -> Diagnostic {
    let problem = Diagnostic::error(format!("extension `{id}` did not return JSON: {why}")).by_extension();
    let problem = problem.hint(format!("it was to rewrite `{}`", source.name));
    match text.trim().is_empty() {
        true => problem.hint("it returned nothing: a suite that needs no change is returned as it is"),
        false => problem.hint(format!("it returned: {}", plain(text))),
    }
}

/// The suite that came out as text, laid out so that a line says something.
fn produced(source: &Source, names: &[String], suite: &Json) -> Arc<Source> {
    let name = format!("{} (after {})", source.name, names.join(", "));
    Source::new(name, source.path.clone(), format!("{suite:#}"))
}

/// `imports.transforms`, before anything else is looked at: what else the file holds is for the transforms to say.
fn imported(root: &Node) -> Vec<Import> {
    let items = root.get("imports").and_then(|imports| imports.get("transforms")).and_then(Node::items);
    let texts = items.unwrap_or_default().iter().filter_map(|node| Some((node.as_str()?.to_owned(), node.span)));
    texts.map(|(reference, span)| Import { reference, span }).collect()
}
