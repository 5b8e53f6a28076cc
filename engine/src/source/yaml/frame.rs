//! Collections under construction: entries, duplicate keys and merge keys.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Entry, Kind, Node, Source, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Mappings with more keys than this look duplicates up in a table.
const LINEAR_KEYS: usize = 16;

/// A node that an anchor names.
pub(super) struct Anchored {
    pub(super) node: Node,
    /// How many nodes it has, itself included.
    pub(super) size: usize,
    /// How many collections nest in it, itself included.
    pub(super) height: usize,
}

/// A collection whose end has not come yet.
pub(super) struct Frame {
    pub(super) span: Span,
    pub(super) anchor: usize,
    pub(super) size: usize,
    pub(super) height: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<Key>, merges: Vec<(Span, Node)>, index: HashMap<String, usize> },
}

struct Key {
    text: String,
    span: Span,
    merge: bool,
}

impl Frame {
    pub(super) fn list(span: Span, anchor: usize) -> Frame {
        Frame::new(span, anchor, Content::List(Vec::new()))
    }

    pub(super) fn map(span: Span, anchor: usize) -> Frame {
        let content = Content::Map { entries: Vec::new(), key: None, merges: Vec::new(), index: HashMap::new() };
        Frame::new(span, anchor, content)
    }

    fn new(span: Span, anchor: usize, content: Content) -> Frame {
        Frame { span, anchor, size: 1, height: 0, content }
    }

    /// Whether the next node is a key.
    pub(super) fn wants_key(&self) -> bool {
        matches!(self.content, Content::Map { key: None, .. })
    }

    /// The place of the key whose value comes next.
    pub(super) fn pending_key(&self) -> Option<Span> {
        match &self.content {
            Content::Map { key: Some(key), .. } => Some(key.span),
            _ => None,
        }
    }

    /// The key of the next value; a plain `<<` merges.
    pub(super) fn key(&mut self, text: String, span: Span, plain: bool) {
        if let Content::Map { key, .. } = &mut self.content {
            *key = Some(Key { merge: plain && text == "<<", text, span });
        }
    }

    /// The next value; the first of two equal keys stays.
    pub(super) fn value(&mut self, node: Node, source: &Arc<Source>, diagnostics: &mut Diagnostics) {
        match &mut self.content {
            Content::List(items) => items.push(node),
            Content::Map { entries, key, merges, index } => {
                let Some(key) = key.take() else { return };
                if key.merge {
                    merges.push((key.span, node));
                    return;
                }
                if let Some(first) = find(entries, index, &key.text) {
                    diagnostics.push(
                        Diagnostic::error(format!("duplicate key `{}`", key.text))
                            .at(source, key.span)
                            .label("written again here")
                            .also(entries[first].key_span, "first written here"),
                    );
                    return;
                }
                push(entries, index, Entry { key: key.text, key_span: key.span, value: node });
            }
        }
    }

    /// The node, with merge keys merged; `end` is the place of its closing bracket, if it has one.
    pub(super) fn finish(self, end: Span, source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Node {
        let Frame { span, content, .. } = self;
        let (kind, last) = match content {
            Content::List(items) => {
                let last = items.last().map(|node| node.span.end);
                (Kind::List(items), last)
            }
            Content::Map { mut entries, merges, mut index, .. } => {
                let last = entries.last().map(|entry| entry.value.span.end.max(entry.key_span.end));
                for (place, node) in merges {
                    merge(&mut entries, &mut index, node, place, source, diagnostics);
                }
                (Kind::Map(entries), last)
            }
        };
        let end = if end.end > end.start { end.end } else { last.unwrap_or(span.end) };
        Node::new(kind, Span { start: span.start, end: end.max(span.start) })
    }
}

fn find(entries: &[Entry], index: &HashMap<String, usize>, key: &str) -> Option<usize> {
    match index.is_empty() {
        true => entries.iter().position(|entry| entry.key == key),
        false => index.get(key).copied(),
    }
}

fn push(entries: &mut Vec<Entry>, index: &mut HashMap<String, usize>, entry: Entry) {
    if !index.is_empty() {
        index.insert(entry.key.clone(), entries.len());
    }
    entries.push(entry);
    if index.is_empty() && entries.len() > LINEAR_KEYS {
        index.extend(entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)));
    }
}

/// Adds what `entries` does not have yet: what is written in the mapping itself wins, then the first of several merges.
fn merge(
    entries: &mut Vec<Entry>,
    index: &mut HashMap<String, usize>,
    node: Node,
    place: Span,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) {
    match node.kind {
        Kind::Map(merged) => {
            for entry in merged {
                if find(entries, index, &entry.key).is_none() {
                    push(entries, index, entry);
                }
            }
        }
        Kind::List(items) if items.iter().all(|item| item.entries().is_some()) => {
            for item in items {
                merge(entries, index, item, place, source, diagnostics);
            }
        }
        _ => diagnostics.push(
            Diagnostic::error(format!("`<<` merges a mapping or a list of mappings, found {}", node.describe()))
                .at(source, place)
                .hint("a key that is really called `<<` is written in quotes"),
        ),
    }
}
