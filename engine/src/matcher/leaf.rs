//! Matchers that judge one value by one rule, and say in a sentence why it does not hold.

use super::equality::kind;
use super::found::Found;
use super::mismatch::Rank;
use super::path::Path;
use super::tree::Tree;
use super::{Head, Matcher, hint};
use crate::source::Json;

/// What a rule says about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It needs another kind of value: `text`, `a list`.
    Needs(&'static str),
}

/// One rule over one value.
pub(super) trait Rule: Send + Sync + std::fmt::Debug + 'static {
    /// The verdict, without words.
    fn judge(&self, actual: &Json) -> Verdict;
    /// Why the value fails, in one sentence.
    fn reason(&self, actual: &Json) -> String;
    /// What a known rule says about the failure.
    fn hints(&self, _actual: &Json) -> Vec<String> {
        Vec::new()
    }
}

/// A rule with its name and place.
#[derive(Debug)]
pub(super) struct Leaf<R> {
    head: Head,
    rule: R,
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}

impl<R: Rule> Leaf<R> {
    pub(super) fn tree(head: Head, rule: R) -> Tree {
        Tree::Matcher(Box::new(Leaf { head, rule }))
    }
}

impl<R: Rule> Matcher for Leaf<R> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let verdict = actual.map(|actual| self.rule.judge(actual));
        if !matches!(verdict, Some(Verdict::Holds)) {
            self.explain(verdict, actual, path, found);
        }
    }
}

impl<R: Rule> Leaf<R> {
    /// Why a value does not hold; apart, so that what holds is known soon.
    #[cold]
    fn explain(&self, verdict: Option<Verdict>, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let (rank, message, hints) = match (verdict, actual) {
            _ if found.is_probe() => (Rank::Different, String::new(), Vec::new()),
            (Some(Verdict::Needs(needs)), Some(actual)) => {
                let message = format!("`{}` needs {needs}, and this is {}", self.head.name(), kind(actual));
                (Rank::Kind, message, hint::of_kind(needs, actual))
            }
            (Some(_), Some(actual)) => (Rank::Different, self.rule.reason(actual), self.rule.hints(actual)),
            _ => (Rank::Missing, "there is no value".to_owned(), Vec::new()),
        };
        found.add(|| self.head.mismatch(rank, path, message).actual(actual).hints(hints));
    }
}
