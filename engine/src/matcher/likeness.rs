//! How much a value looks like an expected one, to find the element that was meant.

use super::equality;
use super::tree::Tree;
use crate::source::Json;

/// How many values are looked at per pair.
const BUDGET: usize = 256;
/// How many elements a search for the nearest looks at.
const SEARCH: usize = 2000;
/// Keys that tell elements apart; they weigh more.
const NAMING: [&str; 6] = ["name", "id", "uri", "key", "type", "title"];

/// From 0 (nothing in common) to 1 (holds).
pub(super) fn of(expected: &Tree, actual: &Json) -> f32 {
    let mut budget = BUDGET;
    score(expected, actual, &mut budget)
}

/// The element that looks most like the expected one, when any looks like it at all.
pub(super) fn nearest(expected: &Tree, actual: &[Json]) -> Option<usize> {
    let scored = actual.iter().take(SEARCH).map(|value| of(expected, value)).enumerate();
    let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    (best.1 >= 0.3).then_some(best.0)
}

fn score(expected: &Tree, actual: &Json, budget: &mut usize) -> f32 {
    *budget = budget.saturating_sub(1);
    if *budget == 0 {
        return 0.0;
    }
    match (expected, actual) {
        (Tree::Value { value: Json::String(a), .. }, Json::String(b)) => text(a, b),
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

fn text(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    if a.len().max(b.len()) <= 64 {
        return 0.8 * strsim::normalized_levenshtein(a, b) as f32;
    }
    let same_start = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    0.1 + 0.7 * same_start as f32 / a.len().max(b.len()) as f32
}
