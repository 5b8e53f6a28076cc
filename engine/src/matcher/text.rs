//! `$startsWith` `$endsWith` `$equalsIgnoreCase` `$containsIgnoreCase` `$distance`.

use super::argument::Call;
use super::leaf::{Leaf, Rule, Verdict};
use super::shown;
use super::tree::Tree;
use super::words::Words;
use crate::source::Json;

/// How a text relates to another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation {
    StartsWith,
    EndsWith,
    EqualsIgnoreCase,
    ContainsIgnoreCase,
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

pub(super) fn contains_ignore_case(call: Call<'_, '_>) -> Option<Tree> {
    related(call, Relation::ContainsIgnoreCase)
}

fn related(mut call: Call<'_, '_>, relation: Relation) -> Option<Tree> {
    let to = call.text()?;
    Some(Leaf::tree(call.head(), Related { to, relation }))
}

impl Rule for Related {
    fn judge(&self, actual: &Json) -> Verdict {
        let actual = match (actual, self.relation) {
            (Json::String(actual), _) => actual,
            (Json::Array(items), Relation::ContainsIgnoreCase) => {
                let folded = self.to.to_lowercase();
                return items.iter().any(|item| item.as_str().is_some_and(|it| it.to_lowercase() == folded)).into();
            }
            (_, Relation::ContainsIgnoreCase) => return Verdict::Needs("text or a list"),
            _ => return Verdict::Needs("text"),
        };
        Verdict::from(match self.relation {
            Relation::StartsWith => actual.starts_with(&self.to),
            Relation::EndsWith => actual.ends_with(&self.to),
            Relation::EqualsIgnoreCase => actual.to_lowercase() == self.to.to_lowercase(),
            Relation::ContainsIgnoreCase => actual.to_lowercase().contains(&self.to.to_lowercase()),
        })
    }

    fn reason(&self, actual: &Json) -> String {
        match self.relation {
            Relation::ContainsIgnoreCase if actual.is_array() => format!("no element is {:?} in any case", self.to),
            Relation::ContainsIgnoreCase => format!("the text does not contain {:?} in any case", self.to),
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
        let found = ::regex::RegexBuilder::new(&::regex::escape(part)).case_insensitive(true).build().ok();
        let found = found.and_then(|pattern| pattern.find(actual).map(|found| shown::cut(found.as_str(), 60)));
        let found = found.map(|found| format!(", as {}", shown::quote(&found))).unwrap_or_default();
        return vec![format!("it is there in another case{found}: `$containsIgnoreCase` ignores it")];
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeezed(actual).contains(&squeezed(part)) {
        return vec!["it is there with other white space".into()];
    }
    Vec::new()
}

#[derive(Debug)]
struct Distance {
    to: Vec<char>,
    max: usize,
}

pub(super) fn distance(mut call: Call<'_, '_>) -> Option<Tree> {
    let node = call.node;
    call.options(&["to", "max"])?;
    let (Some(to), Some(max)) = (node.get("to").and_then(Words::of), node.get("max")) else {
        return call.bad(node.span, "`$distance` takes `to`, a text, and `max`, a number of edits");
    };
    match call.number_at(max)?.as_u64() {
        Some(edits) if edits <= 1000 => {
            let rule = Distance { to: to.plain().chars().collect(), max: edits as usize };
            Some(Leaf::tree(call.head(), rule))
        }
        _ => call.bad(max.span, "`max` is a whole number from 0 to 1000"),
    }
}

impl Distance {
    /// The edit distance, or `None` when it is more than `max`: only the cells near the diagonal are computed.
    fn of(&self, actual: &str) -> Option<usize> {
        let actual: Vec<char> = actual.chars().take(self.to.len() + self.max + 1).collect();
        if actual.len().abs_diff(self.to.len()) > self.max {
            return None;
        }
        let far = self.max + 1;
        let mut row: Vec<usize> = (0..=actual.len()).map(|at| at.min(far)).collect();
        for (i, expected) in self.to.iter().enumerate() {
            let (low, high) = ((i + 1).saturating_sub(self.max), (i + 1 + self.max).min(actual.len()));
            let mut diagonal = row[low.saturating_sub(1)];
            let mut left = if low == 0 { (i + 1).min(far) } else { far };
            if low == 0 {
                diagonal = row[0];
                row[0] = left;
            } else {
                row[low - 1] = far;
            }
            for j in low.max(1)..=high {
                let above = if j < i + 1 + self.max { row[j] } else { far };
                let substituted = diagonal + usize::from(*expected != actual[j - 1]);
                diagonal = row[j];
                left = substituted.min(left + 1).min(above + 1).min(far);
                row[j] = left;
            }
        }
        row.last().copied().filter(|distance| *distance <= self.max)
    }
}

impl Rule for Distance {
    fn judge(&self, actual: &Json) -> Verdict {
        match actual {
            Json::String(text) => self.of(text).is_some().into(),
            _ => Verdict::Needs("text"),
        }
    }

    fn reason(&self, _actual: &Json) -> String {
        format!("the text is more than {} edits away", self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_band_agrees_with_the_whole_table(a in "[abc]{0,9}", b in "[abc]{0,9}", max in 0usize..6) {
            let whole = strsim::levenshtein(&a, &b);
            let banded = Distance { to: a.chars().collect(), max }.of(&b);
            proptest::prop_assert_eq!(banded, (whole <= max).then_some(whole));
        }
    }
}
