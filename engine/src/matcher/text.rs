//! `$startsWith` `$endsWith` `$equalsIgnoreCase` `$containsIgnoreCase` `$distance`.

use super::argument::Call;
use super::leaf::{Leaf, Rule, Verdict};
use super::tree::Tree;
use crate::source::Json;

/// How a text relates to another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation {
    StartsWith,
    EndsWith,
    EqualsIgnoreCase,
}

/// A text and how the actual one must relate to it.
#[derive(Debug)]
pub(super) struct Related {
    pub(super) to: String,
    pub(super) relation: Relation,
}

pub(super) fn starts_with(call: Call<'_, '_>) -> Option<Tree> {
    related(call, Relation::StartsWith)
}

pub(super) fn ends_with(call: Call<'_, '_>) -> Option<Tree> {
    related(call, Relation::EndsWith)
}

pub(super) fn equals_ignore_case(call: Call<'_, '_>) -> Option<Tree> {
    related(call, Relation::EqualsIgnoreCase)
}

fn related(mut call: Call<'_, '_>, relation: Relation) -> Option<Tree> {
    let to = call.text()?;
    Some(Leaf::tree(call.name(), call.span(), call.written(), Related { to, relation }))
}

impl Rule for Related {
    fn judge(&self, actual: &Json) -> Verdict {
        let Json::String(actual) = actual else { return Verdict::Needs("text") };
        Verdict::from(match self.relation {
            Relation::StartsWith => actual.starts_with(&self.to),
            Relation::EndsWith => actual.ends_with(&self.to),
            Relation::EqualsIgnoreCase => actual.to_lowercase() == self.to.to_lowercase(),
        })
    }

    fn reason(&self, _actual: &Json) -> String {
        match self.relation {
            Relation::StartsWith => format!("the text does not start with {:?}", self.to),
            Relation::EndsWith => format!("the text does not end with {:?}", self.to),
            Relation::EqualsIgnoreCase => format!("the text is not {:?} in any case", self.to),
        }
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        let Json::String(actual) = actual else { return Vec::new() };
        let trimmed = Related { to: self.to.clone(), relation: self.relation };
        if trimmed.judge(&Json::String(actual.trim().to_owned())) == Verdict::Holds {
            return vec!["it would, without the white space around it".into()];
        }
        match self.relation {
            Relation::EqualsIgnoreCase => Vec::new(),
            _ => part_hints(actual, &self.to),
        }
    }
}

/// Rules over a text that does not have an expected part.
pub(super) fn part_hints(actual: &str, part: &str) -> Vec<String> {
    if !part.is_empty() && actual.contains(part) {
        return vec!["it is there, at another place".into()];
    }
    if actual.to_lowercase().contains(&part.to_lowercase()) {
        return vec!["it is there in another case: `$containsIgnoreCase` ignores it".into()];
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeezed(actual).contains(&squeezed(part)) {
        return vec!["it is there with other white space".into()];
    }
    Vec::new()
}
