//! `$exactly` `$partial` `$literal` `$not` `$all` `$any` `$one`.

use super::argument::Call;
use super::found::Found;
use super::likeness;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::tree::{Manner, Tree};
use super::{Head, Matcher, aegis, shown};
use crate::source::{Json, Span};
use serde_json::Map;

pub(super) fn exactly(call: Call<'_, '_>) -> Option<Tree> {
    Some(call.compiler.tree(call.node, Manner::Exact))
}

pub(super) fn partial(call: Call<'_, '_>) -> Option<Tree> {
    Some(call.compiler.tree(call.node, Manner::Partial))
}

pub(super) fn literal(call: Call<'_, '_>) -> Option<Tree> {
    Some(plain(call.node))
}

/// A tree with nothing interpreted and every part at its own place.
fn plain(node: &crate::source::Node) -> Tree {
    use super::tree::Field;
    use crate::source::Kind;
    let (span, manner) = (node.span, Manner::Exact);
    match &node.kind {
        Kind::List(items) => Tree::List { items: items.iter().map(plain).collect(), span, manner },
        Kind::Map(entries) => {
            let fields = entries.iter().map(|entry| Field {
                key: entry.key.clone(),
                span: entry.key_span,
                tree: plain(&entry.value),
            });
            Tree::Map { fields: fields.collect(), span, manner }
        }
        _ => Tree::literal(&node.to_json(), span),
    }
}

pub(super) fn not(mut call: Call<'_, '_>) -> Option<Tree> {
    let (inner, sound) = call.negated();
    match sound {
        true => call.matcher(Not { head: call.head(), inner }),
        false => Some(aegis::never(call.head())),
    }
}

/// Holds where what is inside does not.
#[derive(Debug)]
pub(super) struct Not {
    pub(super) head: Head,
    pub(super) inner: Tree,
}

impl Matcher for Not {
    fn head(&self) -> &Head {
        &self.head
    }

    fn judges_absence(&self) -> bool {
        self.inner.judges_absence()
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        if actual.is_none() && !self.judges_absence() {
            return found.add(|| self.head.missing(path));
        }
        if self.inner.holds(actual) {
            found.add(|| self.head.mismatch(Rank::Different, path, "this is what it must not be").actual(actual));
        }
    }
}

/// All of several matchers that stand in one mapping; each speaks for itself.
pub(super) fn every(trees: Vec<Tree>, span: Span) -> Tree {
    Tree::Matcher(Box::new(All { head: Head::whole("$all", span, Json::Null), trees, beside: true }))
}

pub(super) fn all(mut call: Call<'_, '_>) -> Option<Tree> {
    let trees = call.items()?.iter().map(|node| call.tree(node)).collect();
    call.matcher(All { head: call.head(), trees, beside: false })
}

/// All of several hold, and each speaks for itself.
#[derive(Debug)]
struct All {
    head: Head,
    trees: Vec<Tree>,
    /// They stand beside each other in one mapping, and not in the list of an `$all`.
    beside: bool,
}

impl Matcher for All {
    fn head(&self) -> &Head {
        &self.head
    }

    fn expected(&self) -> Json {
        if !self.beside {
            return self.head.written();
        }
        let mut all = Map::new();
        for tree in &self.trees {
            match tree.written() {
                Json::Object(call) => all.extend(call),
                other => drop(all.insert("$exactly".into(), other)),
            }
        }
        Json::Object(all)
    }

    fn judges_absence(&self) -> bool {
        self.trees.iter().any(Tree::judges_absence)
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        for tree in &self.trees {
            tree.check(actual, path, found);
        }
    }
}

pub(super) fn any(call: Call<'_, '_>) -> Option<Tree> {
    choice(call, false)
}

pub(super) fn one(call: Call<'_, '_>) -> Option<Tree> {
    choice(call, true)
}

fn choice(mut call: Call<'_, '_>, only_one: bool) -> Option<Tree> {
    let items = call.items()?;
    if items.is_empty() {
        let message = format!("`{}` of nothing never holds", call.name());
        return call.bad(call.node.span, message);
    }
    let malformed = call.compiler.malformed;
    let trees = items.iter().map(|node| call.tree(node)).collect();
    // One alternative more that would hold changes the verdict of `$one`.
    if only_one && call.compiler.malformed > malformed {
        return Some(aegis::never(call.head()));
    }
    call.matcher(Choice { head: call.head(), trees, only_one })
}

/// At least one of several, or exactly one.
#[derive(Debug)]
struct Choice {
    head: Head,
    trees: Vec<Tree>,
    only_one: bool,
}

impl Matcher for Choice {
    fn head(&self) -> &Head {
        &self.head
    }

    fn judges_absence(&self) -> bool {
        self.trees.iter().any(Tree::judges_absence)
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let mut holding = (0..self.trees.len()).filter(|&at| self.trees[at].holds(actual));
        match (holding.next(), self.only_one) {
            (Some(_), false) => {}
            (Some(first), true) => {
                if let Some(second) = holding.next() {
                    let message = format!("alternatives {} and {} both hold", first + 1, second + 1);
                    found.add(|| self.mismatch(path, message, actual));
                }
            }
            (None, _) => found.add(|| {
                let message = format!("none of {} alternatives holds", self.trees.len());
                self.mismatch(path, message, actual).hints(self.nearest(actual, path))
            }),
        }
    }
}

impl Choice {
    fn mismatch(&self, path: &Path<'_>, message: String, actual: Option<&Json>) -> Mismatch {
        self.head.mismatch(Rank::Different, path, message).actual(actual)
    }

    /// What the alternative that came nearest says.
    fn nearest(&self, actual: Option<&Json>, path: &Path<'_>) -> Option<String> {
        let actual = actual?;
        let scored = self.trees.iter().map(|tree| likeness::of(tree, actual)).enumerate();
        let (at, _) = scored.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        let mut found = Found::all();
        self.trees[at].check(Some(actual), path, &mut found);
        let first = found.finish().into_iter().next()?;
        let unsaid = first.expected.filter(|_| !first.message.starts_with("expected "));
        let expected = unsaid.map(|value| format!(", expected {}", shown::inline(&value, 40))).unwrap_or_default();
        Some(format!("alternative {} is the nearest: {}{expected} at `{}`", at + 1, first.message, first.path))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use serde_json::json;

    #[test]
    fn the_nearest_alternative_says_once_what_was_expected() {
        let hint =
            |expected| check(&json!({"$any": [expected]}), Some(&json!({"n": 4}))).swap_remove(0).hints.join("; ");
        assert_eq!(hint(json!({"n": 3})), "alternative 1 is the nearest: expected 3, got 4 at `$.n`");
        assert_eq!(
            hint(json!({"n": {"$gt": 4}})),
            "alternative 1 is the nearest: 4 is not greater than 4, expected {\"$gt\":4} at `$.n`"
        );
    }
}
