//! Which test needs which: a test that uses a capture needs the test that makes it.

use super::fill::trees;
use crate::suite::template::names_in;
use crate::suite::{Case, Suite};
use std::collections::{HashMap, HashSet};

/// Every name that some step of the suite captures.
pub(super) fn captured(suite: &Suite) -> HashSet<String> {
    let cases = suite.before.iter().chain(&suite.cases).chain(&suite.after);
    let steps = cases.flat_map(|case| case.body.steps());
    steps.flat_map(|step| &step.captures).map(|capture| capture.name.clone()).collect()
}

/// Every captured name that a case uses and does not capture itself in an earlier step.
pub(super) fn wanted(suite: &Suite, case: &Case, captured: &HashSet<String>) -> Vec<(String, crate::source::Span)> {
    if captured.is_empty() {
        return Vec::new();
    }
    let variables: HashMap<&str, &crate::source::Node> =
        suite.variables.iter().map(|variable| (variable.name.as_str(), &variable.value)).collect();
    let mut own: HashSet<&str> = HashSet::new();
    let mut wanted = Vec::new();
    for step in case.body.steps() {
        let mut seen = HashSet::new();
        trees(step, &mut |tree| {
            collect(tree, &variables, &mut seen, &mut |name, span| {
                if captured.contains(name) && !own.contains(name) {
                    wanted.push((name.to_owned(), span));
                }
            });
        });
        own.extend(step.captures.iter().map(|capture| capture.name.as_str()));
    }
    wanted
}

/// Names in a tree, and in the variables that it uses.
fn collect<'a>(
    tree: &'a crate::source::Node,
    variables: &HashMap<&str, &'a crate::source::Node>,
    seen: &mut HashSet<String>,
    each: &mut dyn FnMut(&str, crate::source::Span),
) {
    let mut inner = Vec::new();
    names_in(tree, &mut |name, span| {
        each(name, span);
        if let Some(value) = variables.get(name).filter(|_| seen.insert(name.to_owned())) {
            inner.push((*value, span));
        }
    });
    for (value, span) in inner {
        // What a variable uses is reported where the variable is used.
        collect(value, variables, seen, &mut |name, _| each(name, span));
    }
}
