//! `$each` `$some` `$none` `$unordered` `$contains`.

use super::argument::Call;
use super::equality::kind;
use super::found::Found;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::tree::{self, Manner, Tree};
use super::words::Words;
use super::{Head, Matcher, aegis, hint, text};
use crate::source::Json;

/// A matcher over the elements of a list.
#[derive(Debug)]
struct Elements {
    head: Head,
    how: How,
    item: Tree,
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

pub(super) fn none(mut call: Call<'_, '_>) -> Option<Tree> {
    let (item, sound) = call.negated();
    match sound {
        true => call.matcher(Elements { head: call.head(), how: How::None, item }),
        false => Some(aegis::never(call.head())),
    }
}

fn elements(mut call: Call<'_, '_>, how: How) -> Option<Tree> {
    let item = call.tree(call.node);
    call.matcher(Elements { head: call.head(), how, item })
}

/// Every element of a list, under another name.
pub(super) fn every_element(head: Head, item: Tree) -> Tree {
    Tree::Matcher(Box::new(Elements { head, how: How::Each, item }))
}

impl Matcher for Elements {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(Json::Array(items)) = actual else {
            return found.add(|| not_a_list(&self.head, actual, path));
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
            How::Some => found_in(&self.head, &self.item, items, path, found),
            How::None => {
                for (at, item) in items.iter().enumerate().filter(|(_, item)| self.item.holds(Some(item))) {
                    found.add(|| {
                        let message = "this element is one that must not be there";
                        self.head.mismatch(Rank::Different, &path.index(at), message).actual(Some(item))
                    });
                }
            }
        }
    }
}

fn not_a_list(head: &Head, actual: Option<&Json>, path: &Path<'_>) -> Mismatch {
    let (rank, message) = match actual {
        Some(actual) => (Rank::Kind, format!("`{}` needs a list, and this is {}", head.name(), kind(actual))),
        None => (Rank::Missing, "there is no value".to_owned()),
    };
    head.mismatch(rank, path, message)
        .actual(actual)
        .hints(actual.map(|actual| hint::of_kind("a list", actual)).unwrap_or_default())
}

/// An element that must be somewhere in the list; when it is not, the nearest one says why.
fn found_in(head: &Head, item: &Tree, items: &[Json], path: &Path<'_>, found: &mut Found) {
    if items.iter().any(|value| item.holds(Some(value))) {
        return;
    }
    if found.is_probe() || super::likeness::nearest(item, items).is_none() {
        return found.add(|| {
            let count = items.len();
            head.mismatch(Rank::Missing, path, format!("no element of {count} matches"))
                .actual(Some(&Json::Array(items.iter().take(50).cloned().collect())))
                .hints(hint::of_list(items))
        });
    }
    let mark = found.len();
    tree::some(item, 0, items, path, found);
    for mismatch in found.since(mark) {
        mismatch.matcher.get_or_insert_with(|| head.name().into());
    }
}

/// `$contains`: a part of a text, or an element of a list.
pub(super) fn contains(call: Call<'_, '_>) -> Option<Tree> {
    let text = Words::of(call.node).filter(|words| words.after("match:").is_none()).map(|words| words.plain());
    let item = call.compiler.tree(call.node, Manner::Partial);
    call.matcher(Contains { head: call.head(), text, item })
}

#[derive(Debug)]
struct Contains {
    head: Head,
    text: Option<String>,
    item: Tree,
}

impl Matcher for Contains {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let (rank, message, hints) = match (actual, &self.text) {
            (Some(Json::Array(items)), _) => return found_in(&self.head, &self.item, items, path, found),
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
        found.add(|| self.head.mismatch(rank, path, message).actual(actual).hints(hints));
    }
}
