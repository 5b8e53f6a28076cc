//! The JSON path of a value while it is judged: a chain on the stack, written out only for a mismatch.

use super::shown;
use std::fmt::{self, Write};

/// A JSON path under construction: `$.result.content[0].text`.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root(&'a str),
    Key(&'a str),
    Index(usize),
    /// Into the JSON that a text holds.
    Json,
    /// A JSONPath without its `$`, whose result is a list.
    Query(&'a str),
}

/// One step of a path below its root, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Key(String),
    Index(usize),
    /// A step that cannot be followed in the actual value.
    Other,
}

impl<'a> Path<'a> {
    /// The path of the whole value.
    pub fn root(root: &'a str) -> Path<'a> {
        Path { parent: None, step: Step::Root(root) }
    }

    /// The path of the value under a key.
    pub fn key(&'a self, key: &'a str) -> Path<'a> {
        Path { parent: Some(self), step: Step::Key(key) }
    }

    /// The path of an element.
    pub fn index(&'a self, index: usize) -> Path<'a> {
        Path { parent: Some(self), step: Step::Index(index) }
    }

    pub(super) fn json(&'a self) -> Path<'a> {
        Path { parent: Some(self), step: Step::Json }
    }

    pub(super) fn query(&'a self, query: &'a str) -> Path<'a> {
        Path { parent: Some(self), step: Step::Query(query) }
    }

    pub(super) fn segments(&self) -> Vec<Segment> {
        let mut segments = self.parent.map(Path::segments).unwrap_or_default();
        match self.step {
            Step::Root(_) => {}
            Step::Key(key) => segments.push(Segment::Key(key.to_owned())),
            Step::Index(index) => segments.push(Segment::Index(index)),
            Step::Json | Step::Query(_) => segments.push(Segment::Other),
        }
        segments
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root(root) => f.write_str(root),
            Step::Key(key) => write_key(f, key),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Json => f.write_str(" (as JSON) $"),
            Step::Query(query) => f.write_str(query),
        }
    }
}

/// Characters of one key that a path shows.
const KEY: usize = 200;

/// Writes `.key`, or `['key']` where the short form would be ambiguous.
pub(super) fn write_key(out: &mut impl Write, key: &str) -> fmt::Result {
    let cut;
    let key = match key.len() > KEY {
        true => {
            cut = shown::cut(key, KEY);
            &cut
        }
        false => key,
    };
    let mut characters = key.chars();
    let plain = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_');
    if plain {
        return write!(out, ".{key}");
    }
    out.write_str("['")?;
    for character in key.chars() {
        match character {
            '\'' | '\\' => write!(out, "\\{character}")?,
            c if c.is_control() => write!(out, "{}", c.escape_unicode())?,
            c => out.write_char(c)?,
        }
    }
    out.write_str("']")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_quoted_where_the_short_form_would_lie() {
        let root = Path::root("$");
        let a = root.key("a.b");
        let b = a.index(3);
        let c = b.key("né_1");
        let d = c.key("it's\n");
        assert_eq!(d.to_string(), "$['a.b'][3].né_1['it\\'s\\u{a}']");
        assert_eq!(root.key("").to_string(), "$['']");
        assert_eq!(root.key(&"k".repeat(200)).to_string(), format!("$.{}", "k".repeat(200)));
        let long = root.key(&"k".repeat(5000)).to_string();
        assert_eq!(long, format!("$['{}… (4800 more characters)']", "k".repeat(200)));
    }
}
