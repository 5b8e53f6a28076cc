//! How much a value looks like an expected one, to find the element that was meant.

use super::equality;
use super::tree::Tree;
use crate::source::Json;
use std::cell::Cell;

/// How many values are looked at per pair.
const VALUES: usize = 256;
/// What all pairs of one check may cost, a value being one: far more than any list that a person compares, and well
/// below a second.
const WORK: usize = 1_000_000;
/// How many elements a search for the nearest looks at.
const SEARCH: usize = 2000;
/// Keys that tell elements apart; they weigh more.
const NAMING: [&str; 6] = ["name", "id", "uri", "key", "type", "title"];

thread_local! {
    /// What the check at hand may still spend.
    static LEFT: Cell<usize> = const { Cell::new(WORK) };
}

/// Begins a check that may spend as much as every other.
pub(super) fn begin_check() {
    LEFT.set(WORK);
}

/// From 0 (nothing in common) to 1 (holds).
pub(super) fn of(expected: &Tree, actual: &Json) -> f32 {
    let mut budget = Budget { values: VALUES, work: LEFT.get() };
    if budget.work == 0 {
        return rough(expected, actual);
    }
    let score = score(expected, actual, &mut budget);
    LEFT.set(budget.work);
    score
}

/// What a look at one pair may still cost.
struct Budget {
    values: usize,
    work: usize,
}

impl Budget {
    fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_sub(work);
    }
}

/// For when too much was looked at already: only names count, and what is the same.
fn rough(expected: &Tree, actual: &Json) -> f32 {
    let same = |tree: &Tree, actual: &Json| matches!(tree, Tree::Value { value, .. } if equality::same(value, actual));
    match (expected, actual) {
        (Tree::Map { fields, .. }, Json::Object(actual)) => {
            let (mut names, mut common) = (0, 0);
            for field in fields.iter().filter(|field| NAMING.contains(&field.key.as_str())) {
                names += 1;
                common += usize::from(actual.get(&field.key).is_some_and(|actual| same(&field.tree, actual)));
            }
            common as f32 / names.max(1) as f32
        }
        (tree, actual) => f32::from(u8::from(same(tree, actual))),
    }
}

/// The element that looks most like the expected one, when any looks like it at all.
pub(super) fn nearest(expected: &Tree, actual: &[Json]) -> Option<usize> {
    let scored = actual.iter().take(SEARCH).map(|value| of(expected, value)).enumerate();
    let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    (best.1 >= 0.3).then_some(best.0)
}

fn score(expected: &Tree, actual: &Json, budget: &mut Budget) -> f32 {
    budget.values = budget.values.saturating_sub(1);
    budget.spend(1);
    if budget.values == 0 {
        return 0.0;
    }
    match (expected, actual) {
        (Tree::Value { value: Json::String(a), .. }, Json::String(b)) => text(a, b, budget),
        (Tree::Value { value, .. }, actual) if equality::same(value, actual) => 1.0,
        (Tree::Value { value: Json::Number(_), .. }, Json::Number(_)) => 0.1,
        (Tree::Value { value: Json::Bool(_), .. }, Json::Bool(_)) => 0.1,
        (Tree::Matcher(_), actual) => f32::from(u8::from(expected.holds(Some(actual)))),
        (Tree::List { items, .. }, Json::Array(actual)) => {
            let common: f32 = items.iter().zip(actual).map(|(a, b)| score(a, b, budget)).sum();
            let longer = items.len().max(actual.len());
            if longer == 0 { 1.0 } else { 0.1 + 0.9 * common / longer as f32 }
        }
        (Tree::Map { fields, .. }, Json::Object(actual)) => {
            let (mut sum, mut whole) = (0.0, 0.0);
            for field in fields {
                let weight = if NAMING.contains(&field.key.as_str()) { 3.0 } else { 1.0 };
                whole += weight;
                sum += actual
                    .get(&field.key)
                    .map_or(0.0, |value| weight * (0.1 + 0.9 * score(&field.tree, value, budget)));
            }
            if whole == 0.0 { 0.5 } else { sum / whole }
        }
        _ => 0.0,
    }
}

fn text(a: &str, b: &str, budget: &mut Budget) -> f32 {
    if a == b {
        return 1.0;
    }
    if a.len().max(b.len()) <= 64 && budget.work > 0 {
        // Every letter is compared with every other.
        budget.spend(a.len() * b.len() / 64);
        return 0.8 * strsim::normalized_levenshtein(a, b) as f32;
    }
    let same_start = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    0.1 + 0.7 * same_start as f32 / a.len().max(b.len()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;
    use serde_json::json;

    #[test]
    fn many_looks_get_rough_and_still_find_names() {
        let element = |name: &str| json!({"name": name, "text": format!("{name} {}", "x".repeat(50))});
        let expected = Tree::literal(&element("a"), Span::default());
        begin_check();
        let fine = of(&expected, &element("b"));
        assert!(fine > 0.2, "{fine}");
        for _ in 0..WORK / 40 {
            of(&expected, &element("b"));
        }
        assert_eq!(LEFT.get(), 0);
        assert_eq!((of(&expected, &element("b")), of(&expected, &element("a"))), (0.0, 1.0));
        begin_check();
        assert_eq!(of(&expected, &element("b")), fine);
    }
}
