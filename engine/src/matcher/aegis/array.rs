//! `contains`, `containsIgnoreCase` and `arrayContains`.

use super::bare::text_of;
use super::field::Steps;
use crate::matcher::leaf::{Rule, Verdict};
use crate::matcher::{hint, text};
use crate::source::Json;

/// A part of a text, or of the text of an element.
#[derive(Debug)]
pub(super) struct Contains {
    pub(super) part: String,
    pub(super) ignore_case: bool,
}

impl Contains {
    fn within(&self, text: &str) -> bool {
        match self.ignore_case {
            true => text.to_lowercase().contains(&self.part.to_lowercase()),
            false => text.contains(&self.part),
        }
    }
}

impl Rule for Contains {
    fn judge(&self, actual: &Json) -> Verdict {
        match actual {
            Json::String(text) => self.within(text).into(),
            Json::Array(items) => items.iter().filter_map(text_of).any(|text| self.within(&text)).into(),
            _ => Verdict::Needs("text or a list"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        match actual {
            Json::Array(_) => format!("no element contains {:?}", self.part),
            _ => format!("the text does not contain {:?}", self.part),
        }
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        match actual {
            Json::String(actual) if !self.ignore_case => text::part_hints(actual, &self.part),
            Json::Array(items) => hint::of_list(items),
            _ => Vec::new(),
        }
    }
}

/// An element that is a value, or an object with a value in a field.
#[derive(Debug)]
pub(super) struct ArrayContains {
    whole: String,
    field: Option<(Steps, String)>,
}

impl ArrayContains {
    pub(super) fn new(whole: String) -> ArrayContains {
        let field = whole.split_once(':').map(|(path, value)| (Steps::dotted(path), value.to_owned()));
        ArrayContains { whole, field }
    }

    fn is(&self, item: &Json) -> bool {
        if text_of(item).is_some_and(|text| text == self.whole) || item.is_null() && self.whole == "null" {
            return true;
        }
        let Some((path, value)) = &self.field else { return false };
        path.get(item).is_some_and(|found| {
            text_of(&found).is_some_and(|text| text == *value) || found.is_null() && value == "null"
        })
    }
}

impl Rule for ArrayContains {
    fn judge(&self, actual: &Json) -> Verdict {
        match actual {
            Json::Array(items) => items.iter().any(|item| self.is(item)).into(),
            _ => Verdict::Needs("a list"),
        }
    }

    fn reason(&self, _actual: &Json) -> String {
        match self.whole.split_once(':') {
            Some((field, value)) => format!("no element has `{field}` = {value:?}"),
            None => format!("no element is {:?}", self.whole),
        }
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        actual.as_array().map(|items| hint::of_list(items)).unwrap_or_default()
    }
}
