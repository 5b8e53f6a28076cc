//! `$length` `$empty` `$type` `$exists` `$absent`.

use super::argument::Call;
use super::equality;
use super::found::Found;
use super::leaf::{Leaf, Rule, Verdict};
use super::mismatch::Rank;
use super::path::Path;
use super::tree::Tree;
use super::{Head, Matcher};
use crate::diagnostic::did_you_mean;
use crate::source::{Json, Kind};

/// The kinds of value that `$type` knows.
pub(super) const KINDS: [&str; 7] = ["string", "number", "integer", "boolean", "null", "array", "object"];

/// What other languages call them.
const OTHER_KINDS: [(&str, &str); 14] = [
    ("str", "string"),
    ("text", "string"),
    ("int", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("bool", "boolean"),
    ("list", "array"),
    ("tuple", "array"),
    ("dict", "object"),
    ("map", "object"),
    ("mapping", "object"),
    ("none", "null"),
    ("nil", "null"),
    ("undefined", "null"),
];

/// The kind that a wrong name probably means.
pub(super) fn near_kind(word: &str) -> Option<&'static str> {
    let word = word.trim().to_lowercase();
    let other = OTHER_KINDS.iter().find(|(other, _)| *other == word).map(|(_, kind)| *kind);
    other.or_else(|| did_you_mean(&word, KINDS))
}

#[derive(Debug)]
struct Length {
    is: Tree,
}

pub(super) fn length(mut call: Call<'_, '_>) -> Option<Tree> {
    match &call.node.kind {
        Kind::Map(entries) => {
            if let Some(plain) = entries.iter().find(|entry| !entry.key.starts_with('$')) {
                let called = format!("${}", plain.key);
                let near =
                    super::table::find(&called).map(|_| format!(": did you mean `{called}`?")).unwrap_or_default();
                let message = format!("`$length` takes a number or matchers, and `{}` is none{near}", plain.key);
                return call.bad(plain.key_span, message);
            }
        }
        _ => {
            let number = call.number()?;
            let whole = number.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0);
            if !whole {
                let message = format!("`$length` takes a whole number from 0 on, and this is {number}");
                return call.bad(call.node.span, message);
            }
        }
    }
    let is = call.tree(call.node);
    Some(Leaf::tree(call.head(), Length { is }))
}

/// The size of a value that has one; texts count characters.
pub(super) fn size(value: &Json) -> Option<usize> {
    match value {
        Json::String(text) => Some(text.chars().count()),
        Json::Array(items) => Some(items.len()),
        Json::Object(members) => Some(members.len()),
        _ => None,
    }
}

fn counted(value: &Json, size: usize) -> String {
    let unit = match value {
        Json::String(_) => "character",
        Json::Array(_) => "element",
        _ => "key",
    };
    format!("it has {size} {unit}{}", if size == 1 { "" } else { "s" })
}

impl Rule for Length {
    fn judge(&self, actual: &Json) -> Verdict {
        match size(actual) {
            Some(size) => self.is.holds(Some(&Json::from(size))).into(),
            None => Verdict::Needs("text, a list or an object"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        let expected = match &self.is {
            Tree::Value { value, .. } => format!(", expected {value}"),
            _ => String::new(),
        };
        format!("{}{expected}", counted(actual, size(actual).unwrap_or(0)))
    }
}

#[derive(Debug)]
struct Empty(bool);

pub(super) fn empty(mut call: Call<'_, '_>) -> Option<Tree> {
    let empty = call.boolean()?;
    Some(Leaf::tree(call.head(), Empty(empty)))
}

impl Rule for Empty {
    fn judge(&self, actual: &Json) -> Verdict {
        match size(actual) {
            Some(size) => ((size == 0) == self.0).into(),
            None => Verdict::Needs("text, a list or an object"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        if self.0 { counted(actual, size(actual).unwrap_or(0)) } else { "it is empty".into() }
    }
}

/// One or several kinds of value.
#[derive(Debug)]
pub(super) struct Type(pub(super) Vec<&'static str>);

pub(super) fn kind(mut call: Call<'_, '_>) -> Option<Tree> {
    let names = match &call.node.kind {
        Kind::List(items) => items.clone(),
        _ => vec![call.node.clone()],
    };
    if names.is_empty() {
        return call.bad(call.node.span, "`$type` of no type never holds");
    }
    let mut kinds = Vec::new();
    for name in names {
        // YAML reads an unquoted `null` as the value; here it can only mean its type.
        let word = if matches!(name.kind, Kind::Null) { Some("null") } else { name.as_str() };
        let Some(word) = word else { return call.wrong(&name, "the name of a type") };
        let Some(kind) = KINDS.iter().find(|kind| **kind == word) else {
            let near = near_kind(word).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
            return call.bad(name.span, format!("there is no type `{word}`; there are `{}`{near}", KINDS.join("`, `")));
        };
        kinds.push(*kind);
    }
    Some(Leaf::tree(call.head(), Type(kinds)))
}

/// Whether a value is of a named kind; `1.0` is an integer, as in JSON Schema.
pub(super) fn is_kind(kind: &str, value: &Json) -> bool {
    match value {
        Json::Null => kind == "null",
        Json::Bool(_) => kind == "boolean",
        Json::String(_) => kind == "string",
        Json::Array(_) => kind == "array",
        Json::Object(_) => kind == "object",
        Json::Number(number) => {
            kind == "number"
                || kind == "integer"
                    && (number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0))
        }
    }
}

impl Rule for Type {
    fn judge(&self, actual: &Json) -> Verdict {
        self.0.iter().any(|kind| is_kind(kind, actual)).into()
    }

    fn reason(&self, actual: &Json) -> String {
        let got = match actual {
            Json::Number(number) if self.0.contains(&"integer") => number.to_string(),
            other => equality::kind(other).to_owned(),
        };
        format!("expected {}, got {got}", self.0.join(" or "))
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        super::hint::of_kind(&self.0.join(" "), actual)
    }
}

/// `$exists` and `$absent`, the only matchers for which a missing value can be right.
#[derive(Debug)]
struct Presence {
    head: Head,
    present: bool,
}

pub(super) fn exists(call: Call<'_, '_>) -> Option<Tree> {
    presence(call, true)
}

pub(super) fn absent(call: Call<'_, '_>) -> Option<Tree> {
    presence(call, false)
}

fn presence(mut call: Call<'_, '_>, meaning: bool) -> Option<Tree> {
    let present = call.boolean()? == meaning;
    call.matcher(Presence { head: call.head(), present })
}

impl Matcher for Presence {
    fn head(&self) -> &Head {
        &self.head
    }

    fn judges_absence(&self) -> bool {
        true
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        if actual.is_some() == self.present {
            return;
        }
        found.add(|| {
            let (rank, message) = match actual {
                Some(_) => (Rank::Extra, "it is there, and must not be"),
                None => (Rank::Missing, "there is no value"),
            };
            self.head.mismatch(rank, path, message).actual(actual)
        });
    }
}
