//! `${variables}` in text.
//!
//! A text that is exactly `${x}` becomes x's value with its type; elsewhere x is inserted as text. What came from a
//! capture or the environment stays literal: it is kept apart as [`Piece::Inserted`] or [`Kind::Literal`], so that no
//! matcher ever reads it as a pattern. `$${` is a literal `${`.

use crate::source::{Entry, Json, Kind, Node, Piece, Span};

/// What a scope knows about a name.
#[derive(Debug, Clone)]
pub enum Found {
    /// A value that the user wrote; it may hold matchers.
    Written(Node),
    /// A captured or environment value; nothing in it is interpreted.
    Literal(Json),
    /// Known only when the step is about to run.
    Later,
    /// No such name; the scope has reported it.
    Unknown,
    /// No such name, and the text stays as it is written.
    Verbatim,
}

/// Looks a name up; the span is that of the text it stands in.
pub type Scope<'a> = dyn FnMut(&str, Span) -> Found + 'a;

/// A part of a text: what stands there, or a name to look up.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Text(&'a str),
    Name { name: &'a str, whole: &'a str },
}

/// Fills in one tree.
pub struct Filler<'a> {
    scope: &'a mut Scope<'a>,
    /// Whether a name was met that is known only later; the filled tree is then of no use yet.
    pub later: bool,
}

impl<'a> Filler<'a> {
    /// A filler that asks `scope` for every name.
    pub fn new(scope: &'a mut Scope<'a>) -> Filler<'a> {
        Filler { scope, later: false }
    }

    /// The tree with its variables filled in; `None` when it holds none, so that nothing is copied.
    pub fn fill(&mut self, node: &Node) -> Option<Node> {
        match &node.kind {
            Kind::String(text) => self.fill_text(text, node.span).map(|kind| Node::new(kind, node.span)),
            Kind::List(items) => {
                replaced(items, |item| self.fill(item)).map(|items| Node::new(Kind::List(items), node.span))
            }
            Kind::Map(entries) => replaced(entries, |entry| self.fill_entry(entry))
                .map(|entries| Node::new(Kind::Map(entries), node.span)),
            _ => None,
        }
    }

    fn fill_entry(&mut self, entry: &Entry) -> Option<Entry> {
        let key = self.fill_text(&entry.key, entry.key_span).map(|kind| text_of(&Node::new(kind, entry.key_span)));
        let value = self.fill(&entry.value);
        if key.is_none() && value.is_none() {
            return None;
        }
        Some(Entry {
            key: key.unwrap_or_else(|| entry.key.clone()),
            key_span: entry.key_span,
            value: value.unwrap_or_else(|| entry.value.clone()),
        })
    }

    fn fill_text(&mut self, text: &str, span: Span) -> Option<Kind> {
        if !has_variables(text) {
            return None;
        }
        let parts = parts(text);
        if let [Part::Name { name, whole }] = parts.as_slice() {
            return Some(match (self.scope)(name, span) {
                Found::Written(node) => node.kind,
                Found::Literal(value) => Kind::Literal(value),
                Found::Later => {
                    self.later = true;
                    Kind::Null
                }
                Found::Unknown => Kind::Null,
                Found::Verbatim => Kind::String((*whole).to_owned()),
            });
        }
        let mut pieces = Pieces::default();
        for part in parts {
            match part {
                Part::Text(text) => pieces.written(text),
                Part::Name { name, whole } => match (self.scope)(name, span) {
                    Found::Written(node) => pieces.node(&node),
                    Found::Literal(value) => pieces.inserted(plain_text(&value)),
                    Found::Later => self.later = true,
                    Found::Unknown => {}
                    Found::Verbatim => pieces.written(whole),
                },
            }
        }
        Some(pieces.finish())
    }
}

/// Whether `${` stands in a text; most have not even a `$`.
fn has_variables(text: &str) -> bool {
    memchr::memchr(b'$', text.as_bytes()).is_some_and(|at| text[at..].contains("${"))
}

/// The items, with the new ones in their places; `None` when all stay as they are.
fn replaced<T: Clone>(items: &[T], mut new: impl FnMut(&T) -> Option<T>) -> Option<Vec<T>> {
    let mut all: Option<Vec<T>> = None;
    for (at, item) in items.iter().enumerate() {
        match (new(item), &mut all) {
            (Some(new), Some(all)) => all.push(new),
            (Some(new), none) => {
                let mut list = Vec::with_capacity(items.len());
                list.extend_from_slice(&items[..at]);
                list.push(new);
                *none = Some(list);
            }
            (None, Some(all)) => all.push(item.clone()),
            (None, None) => {}
        }
    }
    all
}

/// Every name that a text asks for.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    let parts = if has_variables(text) { parts(text) } else { Vec::new() };
    parts.into_iter().filter_map(|part| match part {
        Part::Name { name, .. } => Some(name),
        Part::Text(_) => None,
    })
}

/// Calls `each` for every name that any text in the tree asks for, keys included.
pub fn names_in(node: &Node, each: &mut dyn FnMut(&str, Span)) {
    match &node.kind {
        Kind::String(text) => names(text).for_each(|name| each(name, node.span)),
        Kind::List(items) => items.iter().for_each(|item| names_in(item, each)),
        Kind::Map(entries) => {
            for entry in entries {
                names(&entry.key).for_each(|name| each(name, entry.key_span));
                names_in(&entry.value, each);
            }
        }
        _ => {}
    }
}

/// A value as it is inserted into text: text as it is, everything else as compact JSON.
pub fn plain_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The text of a filled node.
pub fn text_of(node: &Node) -> String {
    plain_text(&node.to_json())
}

/// Splits at `${name}`; a `${` that is never closed, or closed with nothing inside, is text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let escaped = rest[..at].ends_with('$');
        let plain = &rest[..if escaped { at - 1 } else { at }];
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        let Some(end) = rest[at..].find('}').filter(|_| !escaped) else {
            parts.push(Part::Text("${"));
            rest = &rest[at + 2..];
            continue;
        };
        let name = &rest[at + 2..at + end];
        let whole = &rest[at..=at + end];
        parts.push(if is_name(name) { Part::Name { name, whole } } else { Part::Text(whole) });
        rest = &rest[at + end + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

fn is_name(name: &str) -> bool {
    let head = name.split(":-").next().unwrap_or(name);
    !head.is_empty() && head.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn written(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Written(before)) => before.push_str(text),
            _ => self.0.push(Piece::Written(text.to_owned())),
        }
    }

    fn inserted(&mut self, text: String) {
        self.0.push(Piece::Inserted(text));
    }

    fn node(&mut self, node: &Node) {
        match &node.kind {
            Kind::Literal(value) => self.inserted(plain_text(value)),
            Kind::Mixed(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Written(text) => self.written(text),
                        Piece::Inserted(text) => self.inserted(text.clone()),
                    }
                }
            }
            _ => self.written(&text_of(node)),
        }
    }

    fn finish(mut self) -> Kind {
        match self.0.as_mut_slice() {
            [] => Kind::String(String::new()),
            [Piece::Written(text)] => Kind::String(std::mem::take(text)),
            _ => Kind::Mixed(self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Json {
        let mut scope = |name: &str, _: Span| match name {
            "n" => Found::Written(Node::new(Kind::Number(3.into()), Span::default())),
            "who" => Found::Written(Node::new(Kind::String("Ada".into()), Span::default())),
            "got" => Found::Literal(serde_json::json!({"a": 1})),
            "stay" => Found::Verbatim,
            _ => Found::Unknown,
        };
        let node = Node::new(Kind::String(text.into()), Span::default());
        Filler::new(&mut scope).fill(&node).unwrap_or(node).to_json()
    }

    #[test]
    fn a_text_that_is_exactly_a_name_keeps_the_type() {
        assert_eq!(fill("${n}"), serde_json::json!(3));
        assert_eq!(fill("${got}"), serde_json::json!({"a": 1}));
    }

    #[test]
    fn elsewhere_values_are_inserted_as_text() {
        assert_eq!(fill("hi ${who}, ${n} times"), serde_json::json!("hi Ada, 3 times"));
        assert_eq!(fill("got ${got}"), serde_json::json!("got {\"a\":1}"));
    }

    #[test]
    fn escapes_and_odd_text_stay_as_they_are() {
        assert_eq!(fill("$${who}"), serde_json::json!("${who}"));
        assert_eq!(fill("a $${who} ${who}"), serde_json::json!("a ${who} Ada"));
        assert_eq!(fill("${"), serde_json::json!("${"));
        assert_eq!(fill("${}"), serde_json::json!("${}"));
        assert_eq!(fill("${a + b}"), serde_json::json!("${a + b}"));
        assert_eq!(fill("`${stay}`"), serde_json::json!("`${stay}`"));
    }

    #[test]
    fn inserted_captures_stay_apart_from_written_text() {
        let mut scope = |_: &str, _: Span| Found::Literal("match:.*".into());
        let node = Node::new(Kind::String("is ${x}".into()), Span::default());
        let filled = Filler::new(&mut scope).fill(&node).map(|node| node.kind);
        let Some(Kind::Mixed(pieces)) = filled else { panic!("not mixed: {filled:?}") };
        assert_eq!(pieces, [Piece::Written("is ".into()), Piece::Inserted("match:.*".into())]);
    }
}
