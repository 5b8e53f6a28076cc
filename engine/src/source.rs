//! Text, places in it, and the spanned tree that a YAML or JSON file becomes.
//!
//! Everything a user writes is kept as a [`Node`] with its [`Span`] until the very end, so that a mismatch found at
//! run time can still point at the suite line it came from.

pub mod json;
mod load;
pub mod path;
pub mod quantity;
pub mod reader;
pub mod visible;
pub mod yaml;

pub use load::{MAX_FILE, load};

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A JSON value, as everywhere in the engine.
pub type Json = serde_json::Value;

/// One text that the user wrote: a config, a suite, or a command line.
#[derive(Debug)]
pub struct Source {
    /// How messages call it: the path as the user would type it.
    pub name: Arc<str>,
    /// Where it lies on disk; relative paths inside it are taken against this file's folder.
    pub path: PathBuf,
    /// The whole text, without a byte order mark.
    pub text: String,
    lines: OnceLock<Vec<u32>>,
}

/// A range of bytes in a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a [`Node`] is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `null`, `~`, or nothing.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number; integers stay exact within 64 bits.
    Number(serde_json::Number),
    /// Text as it was written.
    String(String),
    /// Text in which variables were filled in: what was written and what was inserted stay apart, because inserted
    /// captures and environment values are always literal.
    Mixed(Vec<Piece>),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in document order; keys are unique.
    Map(Vec<Entry>),
    /// A value that came from a capture or the environment: nothing in it is interpreted.
    Literal(Json),
}

/// A part of a [`Kind::Mixed`] text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Written in the suite.
    Written(String),
    /// Inserted from a capture or the environment.
    Inserted(String),
}

/// One key and its value in a mapping.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// The key's place.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Source {
    /// A source from text that is already decoded.
    pub fn new(name: impl Into<Arc<str>>, path: impl Into<PathBuf>, text: String) -> Arc<Source> {
        Arc::new(Source { name: name.into(), path: path.into(), text, lines: OnceLock::new() })
    }

    /// The folder that relative paths in this source are taken against.
    pub fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// Line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let line = starts.partition_point(|&start| start <= offset).max(1);
        let start = starts[line - 1] as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        let column = self.text.get(start..end).map_or(end - start, |text| text.chars().count());
        Position { line: line as u32, column: column as u32 + 1 }
    }

    /// The text of a line (from 1) without its line end.
    pub fn line(&self, line: u32) -> &str {
        let starts = self.line_starts();
        let Some(&start) = starts.get(line as usize - 1) else { return "" };
        let end = starts.get(line as usize).map_or(self.text.len(), |&next| next as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect()
        })
    }
}

impl Span {
    /// A span from byte offsets.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }
}

impl Node {
    /// A node of this kind at this place.
    pub fn new(kind: Kind, span: Span) -> Node {
        Node { span, kind }
    }

    /// The value under `key`, when this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The entries, when this is a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The elements, when this is a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text, when this is plain text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            Kind::Literal(Json::String(text)) => Some(text),
            _ => None,
        }
    }

    /// What a person would call this kind of value: `text`, `a number`, `a list`, …
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "nothing (null)",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) | Kind::Mixed(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
            Kind::Literal(_) => "a captured value",
        }
    }

    /// The value as JSON, with nothing interpreted.
    pub fn to_json(&self) -> Json {
        match &self.kind {
            Kind::Null => Json::Null,
            Kind::Bool(value) => Json::Bool(*value),
            Kind::Number(number) => Json::Number(number.clone()),
            Kind::String(text) => Json::String(text.clone()),
            Kind::Mixed(pieces) => Json::String(pieces.iter().map(Piece::text).collect()),
            Kind::List(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Kind::Map(entries) => {
                Json::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect())
            }
            Kind::Literal(value) => value.clone(),
        }
    }
}

impl serde::Serialize for Node {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool(value) => serializer.serialize_bool(*value),
            Kind::Number(number) => number.serialize(serializer),
            Kind::String(text) => serializer.serialize_str(text),
            Kind::Mixed(pieces) => serializer.collect_str(&pieces.iter().map(Piece::text).collect::<String>()),
            Kind::List(items) => serializer.collect_seq(items),
            Kind::Map(entries) => serializer.collect_map(entries.iter().map(|entry| (&entry.key, &entry.value))),
            Kind::Literal(value) => value.serialize(serializer),
        }
    }
}

impl Piece {
    /// The text of the piece.
    pub fn text(&self) -> &str {
        match self {
            Piece::Written(text) | Piece::Inserted(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = Source::new("a.yml", "a.yml", "äb: 1\r\ncd: 2\n".into());
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(3), Position { line: 1, column: 3 });
        assert_eq!(source.position(8), Position { line: 2, column: 1 });
        assert_eq!(source.line(1), "äb: 1");
        assert_eq!(source.line(2), "cd: 2");
    }
}
