//! `$each` `$some` `$none` `$unordered` `$contains`.

use super::argument::Call;
use super::equality::kind;
use super::found::Found;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::tree::{self, Manner, Tree};
use super::words::Words;
use super::{Matcher, hint, text};
use crate::source::{Json, Span};

/// A matcher over the elements of a list.
#[derive(Debug)]
struct Elements {
    name: &'static str,
    how: How,
    item: Tree,
    span: Span,
    written: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Each,
    Some,
    None,
}

pub(super) fn each(call: Call<'_, '_>) -> Option<Tree> {
    elements(call, How::Each)
}

pub(super) fn some(call: Call<'_, '_>) -> Option<Tree> {
    elements(call, How::Some)
}

pub(super) fn none(call: Call<'_, '_>) -> Option<Tree> {
    elements(call, How::None)
}

fn elements(mut call: Call<'_, '_>, how: How) -> Option<Tree> {
    let item = call.tree(call.node);
    call.matcher(Elements { name: call.name(), how, item, span: call.span(), written: call.written() })
}

/// Every element of a list, under another name.
pub(super) fn every_element(name: &'static str, item: Tree, span: Span, written: Json) -> Tree {
    Tree::Matcher(Box::new(Elements { name, how: How::Each, item, span, written }))
}

impl Matcher for Elements {
    fn name(&self) -> &str {
        self.name
    }

    fn expected(&self) -> Json {
        self.written.clone()
    }

    fn span(&self) -> Span {
        self.span
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(Json::Array(items)) = actual else {
            return found.add(|| not_a_list(self, actual, path));
        };
        match self.how {
            How::Each => {
                for (at, item) in items.iter().enumerate() {
                    self.item.check(Some(item), &path.index(at), found);
                    if found.is_full() {
                        return;
                    }
                }
            }
            How::Some => found_in(self, &self.item, items, path, found),
            How::None => {
                for (at, item) in items.iter().enumerate().filter(|(_, item)| self.item.holds(Some(item))) {
                    found.add(|| {
                        let message = "this element is one that must not be there";
                        Mismatch::new(Rank::Different, &path.index(at), self.span, message)
                            .by(self.name)
                            .expected(&self.written)
                            .actual(Some(item))
                    });
                }
            }
        }
    }
}

fn not_a_list(matcher: &dyn Matcher, actual: Option<&Json>, path: &Path<'_>) -> Mismatch {
    let (rank, message) = match actual {
        Some(actual) => (Rank::Kind, format!("`{}` needs a list, and this is {}", matcher.name(), kind(actual))),
        None => (Rank::Missing, "there is no value".to_owned()),
    };
    Mismatch::new(rank, path, matcher.span(), message)
        .by(matcher.name())
        .expected(&matcher.expected())
        .actual(actual)
        .hints(actual.map(|actual| hint::of_kind("a list", actual)).unwrap_or_default())
}

/// An element that must be somewhere in the list; when it is not, the nearest one says why.
fn found_in(matcher: &dyn Matcher, item: &Tree, items: &[Json], path: &Path<'_>, found: &mut Found) {
    if items.iter().any(|value| item.holds(Some(value))) {
        return;
    }
    if found.is_probe() || super::likeness::nearest(item, items).is_none() {
        return found.add(|| {
            let count = items.len();
            Mismatch::new(Rank::Missing, path, matcher.span(), format!("no element of {count} matches"))
                .by(matcher.name())
                .expected(&matcher.expected())
                .actual(Some(&Json::Array(items.iter().take(50).cloned().collect())))
                .hints(hint::of_list(items))
        });
    }
    let mark = found.len();
    tree::some(item, 0, items, path, found);
    for mismatch in found.since(mark) {
        mismatch.matcher.get_or_insert_with(|| matcher.name().into());
    }
}

/// `$contains`: a part of a text, or an element of a list.
pub(super) fn contains(call: Call<'_, '_>) -> Option<Tree> {
    let text = Words::of(call.node).filter(|words| words.after("match:").is_none()).map(|words| words.plain());
    let item = call.compiler.tree(call.node, Manner::Partial);
    call.matcher(Contains { text, item, span: call.span(), written: call.written() })
}

#[derive(Debug)]
struct Contains {
    text: Option<String>,
    item: Tree,
    span: Span,
    written: Json,
}

impl Matcher for Contains {
    fn name(&self) -> &str {
        "$contains"
    }

    fn expected(&self) -> Json {
        self.written.clone()
    }

    fn span(&self) -> Span {
        self.span
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let (rank, message, hints) = match (actual, &self.text) {
            (Some(Json::Array(items)), _) => return found_in(self, &self.item, items, path, found),
            (Some(Json::String(actual)), Some(part)) if actual.contains(part.as_str()) => return,
            _ if found.is_probe() => (Rank::Different, String::new(), Vec::new()),
            (Some(Json::String(actual)), Some(part)) => {
                (Rank::Different, format!("the text does not contain {part:?}"), text::part_hints(actual, part))
            }
            (Some(actual), text) => {
                let needs = if text.is_some() { "text or a list" } else { "a list" };
                (
                    Rank::Kind,
                    format!("`$contains` needs {needs}, and this is {}", kind(actual)),
                    hint::of_kind(needs, actual),
                )
            }
            (None, _) => (Rank::Missing, "there is no value".to_owned(), Vec::new()),
        };
        found.add(|| {
            Mismatch::new(rank, path, self.span, message)
                .by("$contains")
                .expected(&self.written)
                .actual(actual)
                .hints(hints)
        });
    }
}
