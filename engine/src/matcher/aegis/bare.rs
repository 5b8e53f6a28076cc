//! Bare text after `match:`, and `match:regex:`.

use super::{Malformed, malformed};
use crate::matcher::Head;
use crate::matcher::leaf::{Leaf, Rule, Verdict};
use crate::matcher::regex::Pattern;
use crate::matcher::text;
use crate::matcher::tree::Tree;
use crate::matcher::words::Words;
use crate::source::{Json, Span};
use std::borrow::Cow;

/// What is searched for in a value's text.
#[derive(Debug)]
pub(super) enum Search {
    Part(String),
    Pattern(Pattern),
}

pub(super) fn compile(words: &Words, span: Span, written: Json) -> Result<Tree, Malformed> {
    let search = if words.written(is_pattern) {
        match Pattern::new(&words.pattern(), "") {
            Ok(pattern) => Search::Pattern(pattern),
            Err(problem) => return malformed(format!("not a pattern: {problem}"), "match:^[a-z]+$"),
        }
    } else {
        Search::Part(words.plain())
    };
    Ok(Leaf::tree(Head::whole("match", span, written), search))
}

/// Whether text holds anything that only a regular expression would.
fn is_pattern(text: &str) -> bool {
    // mcp-aegis does not mind a backslash before the backslash.
    if [r"\d", r"\w", r"\s", r"\b"].iter().any(|escape| text.contains(escape)) {
        return true;
    }
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let next = characters.peek().copied();
        let meta = match c {
            '^' | '$' | '[' | '(' | '|' | '?' | '*' | '+' | '{' => true,
            '\\' => next.is_some_and(|next| "dDwWsSbB".contains(next) || next.is_ascii_punctuation() && next != '\\'),
            _ => false,
        };
        if meta {
            return true;
        }
        if c == '\\' {
            characters.next();
        }
    }
    false
}

/// The text of a value, as JavaScript's `String()` gives it; objects and null have none worth searching.
pub(super) fn text_of(value: &Json) -> Option<Cow<'_, str>> {
    match value {
        Json::String(text) => Some(Cow::Borrowed(text)),
        Json::Bool(value) => Some(Cow::Owned(value.to_string())),
        Json::Number(number) => Some(Cow::Owned(match number.as_f64() {
            Some(float) if number.is_f64() && (float == 0.0 || (1e-6..1e21).contains(&float.abs())) => {
                format!("{}", float + 0.0)
            }
            Some(_) if number.is_f64() => with_sign(&number.to_string()),
            _ => number.to_string(),
        })),
        Json::Array(items) => {
            let text = |item| match item {
                &Json::Object(_) => Cow::Borrowed("[object Object]"),
                item => text_of(item).unwrap_or_default(),
            };
            let texts: Vec<_> = items.iter().map(text).collect();
            Some(Cow::Owned(texts.join(",")))
        }
        Json::Null | Json::Object(_) => None,
    }
}

/// JavaScript writes `1e+21` where JSON has `1e21`.
fn with_sign(number: &str) -> String {
    match number.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with(['-', '+']) => format!("{digits}e+{exponent}"),
        _ => number.to_owned(),
    }
}

impl Rule for Search {
    fn judge(&self, actual: &Json) -> Verdict {
        let Some(actual) = text_of(actual) else { return Verdict::Needs("text") };
        match self {
            Search::Part(part) => actual.contains(part.as_str()).into(),
            Search::Pattern(pattern) => (pattern.matches(&actual) == Some(true)).into(),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        match self {
            Search::Part(part) => format!("the text does not contain {part:?}"),
            Search::Pattern(pattern) => pattern.reason(&text_of(actual).unwrap_or_default()),
        }
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        let actual = text_of(actual).unwrap_or_default();
        match self {
            Search::Part(part) => text::part_hints(&actual, part),
            Search::Pattern(pattern) => pattern.hints(&actual),
        }
    }
}
