//! `$unordered`: the same elements in any order.
//!
//! Elements may hold matchers, so one actual element can be right for several expected ones: this is a matching in a
//! bipartite graph, found by augmenting paths from a greedy start.

use super::argument::Call;
use super::equality::{self, kind};
use super::found::Found;
use super::likeness;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::tree::Tree;
use super::{Head, Matcher};
use crate::source::Json;
use std::collections::{HashMap, HashSet};

/// Comparisons after which the search for a better matching ends with what it has.
const COMPARISONS: usize = 4_000_000;
/// Lists of so many elements are paired by comparing each with each.
const FEW: usize = 64;

#[derive(Debug)]
struct Unordered {
    head: Head,
    items: Vec<Tree>,
}

pub(super) fn build(mut call: Call<'_, '_>) -> Option<Tree> {
    let items = call.items()?.iter().map(|node| call.tree(node)).collect();
    call.matcher(Unordered { head: call.head(), items })
}

/// Which expected element each actual one is taken for.
struct Matching<'a> {
    items: &'a [Tree],
    actual: &'a [Json],
    taken_by: Vec<Option<usize>>,
    /// The expected elements without a partner.
    left: Vec<usize>,
    comparisons: usize,
}

impl<'a> Matching<'a> {
    fn new(items: &'a [Tree], actual: &'a [Json]) -> Matching<'a> {
        let mut it = Matching { items, actual, taken_by: vec![None; actual.len()], left: Vec::new(), comparisons: 0 };
        let plain = if items.len() > FEW { it.pair_equals() } else { Vec::new() };
        let mut start = 0;
        for (item, tree) in items.iter().enumerate().filter(|(item, _)| plain.binary_search(item).is_err()) {
            // Lists that are nearly in order are matched in one pass.
            let free = (start..actual.len()).chain(0..start.min(actual.len()));
            let partner = free.into_iter().find(|&at| it.taken_by[at].is_none() && tree.holds(Some(&actual[at])));
            match partner {
                Some(at) => {
                    it.taken_by[at] = Some(item);
                    start = at + 1;
                }
                None => it.left.push(item),
            }
        }
        let left = std::mem::take(&mut it.left);
        for item in left {
            let mut seen = vec![false; actual.len()];
            if !it.augment(item, &mut seen) {
                it.left.push(item);
            }
        }
        let taken: HashSet<usize> = it.taken_by.iter().flatten().copied().collect();
        it.left.extend(plain.into_iter().filter(|item| !taken.contains(item)));
        it.left.sort_unstable();
        it
    }

    /// Gives every element that holds no matcher one that is equal to it, for no other will do, and what is equal is as
    /// good for all the rest. Gives all of these elements, with a partner or without.
    fn pair_equals(&mut self) -> Vec<usize> {
        let mut equals: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, value) in self.actual.iter().enumerate().rev() {
            equals.entry(equality::fingerprint(value)).or_default().push(at);
        }
        let mut plain = Vec::new();
        for (item, tree) in self.items.iter().enumerate().filter(|(_, tree)| tree.is_plain()) {
            plain.push(item);
            let Some(alike) = equals.get_mut(&equality::fingerprint(&tree.written())) else { continue };
            let Some(partner) = alike.iter().rposition(|&at| tree.holds(Some(&self.actual[at]))) else { continue };
            self.taken_by[alike.remove(partner)] = Some(item);
        }
        plain
    }

    /// Finds a partner for an element, moving others to new partners where that helps.
    fn augment(&mut self, item: usize, seen: &mut [bool]) -> bool {
        // The path of moves is kept here and not on the stack: it can be as long as the list.
        let mut trail: Vec<(usize, usize)> = vec![(item, 0)];
        while let Some((item, from)) = trail.pop() {
            let next = (from..self.actual.len()).find(|&at| {
                self.comparisons += 1;
                !seen[at] && self.items[item].holds(Some(&self.actual[at]))
            });
            let Some(at) = next.filter(|_| self.comparisons < COMPARISONS) else { continue };
            seen[at] = true;
            trail.push((item, at + 1));
            match self.taken_by[at] {
                Some(other) => trail.push((other, 0)),
                None => {
                    for (item, after) in trail {
                        self.taken_by[after - 1] = Some(item);
                    }
                    return true;
                }
            }
        }
        false
    }
}

/// Whether a list has the expected elements in some order.
pub(super) fn is_reordered(items: &[Tree], actual: &[Json]) -> bool {
    items.len() == actual.len() && Matching::new(items, actual).left.is_empty()
}

impl Matcher for Unordered {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(Json::Array(actual)) = actual else {
            return found.add(|| {
                let (rank, what) = match actual {
                    Some(actual) => (Rank::Kind, format!("`$unordered` needs a list, and this is {}", kind(actual))),
                    None => (Rank::Missing, "there is no value".to_owned()),
                };
                self.head.mismatch(rank, path, what).actual(actual)
            });
        };
        if found.is_probe() {
            if !is_reordered(&self.items, actual) {
                found.add(|| Mismatch::new(Rank::Different, path, self.head.span(), ""));
            }
            return;
        }
        let matching = Matching::new(&self.items, actual);
        let free = self.missing(&matching, path, found);
        for at in free {
            if found.is_full() {
                return;
            }
            found.add(|| {
                let message = "this element matches nothing that is left";
                Mismatch::new(Rank::Extra, &path.index(at), self.head.span(), message)
                    .by("$unordered")
                    .actual(Some(&actual[at]))
            });
        }
    }
}

impl Unordered {
    /// Tells of every expected element without a partner, and gives the actual ones that are left then.
    fn missing(&self, matching: &Matching<'_>, path: &Path<'_>, found: &mut Found) -> Vec<usize> {
        let actual = matching.actual;
        let pair = matching.left.len() == 1;
        let mut free: Vec<usize> = (0..actual.len()).filter(|&at| matching.taken_by[at].is_none()).collect();
        for &item in &matching.left {
            if found.is_full() {
                break;
            }
            let tree = &self.items[item];
            // The last two that are left belong together, however little they are alike.
            let least = if pair && free.len() == 1 { f32::NEG_INFINITY } else { 0.4 };
            let nearest = free
                .iter()
                .map(|&at| (likeness::of(tree, &actual[at]), at))
                .fold((least, None), |best, (score, at)| if score > best.0 { (score, Some(at)) } else { best });
            match nearest.1 {
                Some(at) => {
                    free.retain(|&other| other != at);
                    tree.check(Some(&actual[at]), &path.index(at), found);
                }
                None => found.add(|| {
                    let message = "no element is left that matches this one";
                    Mismatch::new(Rank::Missing, &path.index(item), tree.span(), message)
                        .by("$unordered")
                        .expected(&tree.written())
                        .hints(
                            (matching.comparisons >= COMPARISONS)
                                .then(|| "the search for an order was given up".into()),
                        )
                }),
            }
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::super::Found;
    use super::super::testing::say;
    use serde_json::{Value, json};
    use std::time::{Duration, Instant};

    #[test]
    fn a_greedy_choice_is_taken_back() {
        let expected = json!({"$unordered": [{"$type": "number"}, 1, {"$gt": 0}]});
        assert!(say(expected.clone(), json!([1, 2, -3])).is_empty());
        assert_eq!(say(expected, json!([1, -2, -3])), ["$[2]: -3 is not greater than 0"]);
    }

    #[test]
    fn names_what_is_missing_and_what_is_left() {
        assert_eq!(
            say(json!({"$unordered": [1, 2, 5]}), json!([2, 3])),
            [
                "$[0]: no element is left that matches this one",
                "$[2]: no element is left that matches this one",
                "$[1]: this element matches nothing that is left"
            ]
        );
        assert_eq!(
            say(json!({"$unordered": [{"a": 1, "b": 2}]}), json!([{"a": 1, "b": 3}])),
            ["$[0].b: expected 2, got 3"]
        );
        assert_eq!(say(json!({"$unordered": [1, 2]}), json!([2, "x"])), ["$[1]: expected a number, got text"]);
    }

    #[test]
    fn however_much_differs_it_is_judged_soon() {
        let texts = |mark: &str| {
            let text = |n: usize, at: usize| format!("{mark}{:x<58}", n * 7919 + at);
            json!((0..600).map(|n| json!([text(n, 0), text(n, 1), text(n, 2), text(n, 3)])).collect::<Vec<_>>())
        };
        let object = |mark: &str| {
            let named = |list: &Value| json!({"a": list[0], "b": list[1], "c": list[2], "d": list[3]});
            json!(texts(mark).as_array().expect("a list").iter().map(named).collect::<Vec<_>>())
        };
        let (expected, actual) = (object("e"), object("a"));
        let begun = Instant::now();
        for expected in [
            json!({"$unordered": expected}),
            json!({"$partial": expected.as_array().expect("a list")[..300]}),
            json!({"$exactly": expected}),
        ] {
            assert_eq!(say(expected, actual.clone()).len(), Found::LIMIT);
        }
        let few = |value: &Value| json!(value.as_array().expect("a list")[..100]);
        assert_eq!(say(few(&expected), few(&actual)).len(), Found::LIMIT);
        // It took minutes.
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }

    #[test]
    fn long_lists_of_plain_elements_are_paired_at_once() {
        let element = |n: usize| json!({"n": n, "f": n as f64, "list": [n % 7]});
        let expected: Vec<Value> = (0..20_000).map(element).collect();
        let mut actual: Vec<Value> = expected.iter().rev().cloned().collect();
        let begun = Instant::now();
        assert!(say(json!({"$unordered": &expected}), json!(actual)).is_empty());
        actual[3] = element(4);
        let items = [&expected[..], &[json!({"$type": "null"})]].concat();
        let unordered = json!({ "$unordered": items });
        actual.push(Value::Null);
        let found = say(unordered, json!(actual));
        assert_eq!(found, ["$[19995].n: expected 19996, got 4", "$[19995].f: expected 19996.0, got 4.0"]);
        // Each with each it was four hundred million comparisons.
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    #[test]
    fn equal_elements_and_matchers_share_what_there_is() {
        let numbers: Vec<_> = (0..100).map(|n| json!(n)).collect();
        let expected = [&numbers[..], &[json!(1.0), json!({"$lte": 1}), json!({"$type": "number"})]].concat();
        let actual = |more: [Value; 3]| json!([&more[..], &numbers[..]].concat());
        let unordered = json!({"$unordered": expected});
        assert!(say(unordered.clone(), actual([json!(-1), json!(1), json!(500)])).is_empty());
        assert!(say(unordered.clone(), actual([json!(500), json!(0), json!(1.0)])).is_empty());
        assert!(!say(unordered.clone(), actual([json!(0), json!(0), json!(0)])).is_empty());
        assert!(!say(unordered, actual([json!(1), json!(500), json!(500)])).is_empty());
    }

    #[test]
    fn long_chains_of_moves_end() {
        let any: Vec<_> = (0..400).map(|n| json!({"$lte": n})).collect();
        let actual: Vec<_> = (0..400).rev().collect();
        assert!(say(json!({"$unordered": any}), json!(actual)).is_empty());
    }
}
