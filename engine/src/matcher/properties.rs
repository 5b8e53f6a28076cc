//! What must hold of every pair of values.

use super::mismatch::Mismatch;
use super::path::Segment;
use super::testing::{compile, node};
use super::{aegis, equality, table};
use crate::source::{Json, Kind, Node, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, json};

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3i64..4).prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Json::from),
        "[a-c]{0,3}".prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ]
}

fn value() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Json::from),
            vec(("[a-e ]{0,2}", inner), 0..5).prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

fn literal(value: &Json) -> Node {
    Node::new(Kind::Literal(value.clone()), Span::default())
}

fn check(expected: &Node, actual: &Json) -> Vec<Mismatch> {
    let (compiled, _) = compile(expected);
    let found = compiled.check(Some(actual), "$");
    assert_eq!(found.is_empty(), compiled.holds(Some(actual)), "probe and check disagree");
    found
}

fn call(name: &str, argument: Node) -> Node {
    let entry = crate::source::Entry { key: name.into(), key_span: Span::default(), value: argument };
    Node::new(Kind::Map(vec![entry]), Span::default())
}

/// Changes one thing somewhere, and says where.
fn mutate(value: &mut Json, choices: &[Index], path: &mut Vec<Segment>) {
    let Some((choice, rest)) = choices.split_first() else { return replace(value) };
    match value {
        Json::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(choice.index(members.len())).cloned().unwrap_or_default();
            path.push(Segment::Key(key.clone()));
            match (rest.is_empty(), members.len() % 2) {
                (true, 0) => drop(members.remove(&key)),
                _ => members.get_mut(&key).into_iter().for_each(|member| mutate(member, rest, path)),
            }
        }
        Json::Array(items) if !items.is_empty() => {
            let at = choice.index(items.len());
            path.push(Segment::Index(at));
            mutate(&mut items[at], rest, path);
        }
        scalar => replace(scalar),
    }
}

fn replace(value: &mut Json) {
    *value = if *value == json!("mutated") { json!(1) } else { json!("mutated") };
}

/// Undoes what the mismatches say: from what came back to what was expected.
fn undo(actual: &Json, found: &[&Mismatch], depth: usize) -> Option<Json> {
    if let Some(here) = found.iter().find(|mismatch| mismatch.trail.len() == depth) {
        return here.expected.clone();
    }
    let below = |segment: &Segment, missing: bool| {
        let here = |it: &&&Mismatch| {
            it.trail[depth] == *segment && (it.trail.len() == depth + 1 && it.actual.is_none()) == missing
        };
        found.iter().copied().filter(|it| here(&it)).collect::<Vec<_>>()
    };
    match actual {
        Json::Object(members) => {
            let mut undone = Map::new();
            for (key, member) in members {
                let inside = below(&Segment::Key(key.clone()), false);
                undone.extend(undo(member, &inside, depth + 1).map(|member| (key.clone(), member)));
            }
            for missing in found.iter().filter(|it| it.trail.len() == depth + 1 && it.actual.is_none()) {
                let Segment::Key(key) = &missing.trail[depth] else { continue };
                undone.insert(key.clone(), missing.expected.clone()?);
            }
            Some(Json::Object(undone))
        }
        Json::Array(items) => {
            let kept = items
                .iter()
                .enumerate()
                .filter_map(|(at, item)| undo(item, &below(&Segment::Index(at), false), depth + 1));
            let mut undone: Vec<Json> = kept.collect();
            let mut missing: Vec<_> =
                found.iter().filter(|it| it.trail.len() == depth + 1 && it.actual.is_none()).collect();
            missing.sort_by_key(|it| if let Segment::Index(at) = it.trail[depth] { at } else { 0 });
            for it in missing {
                let Segment::Index(at) = it.trail[depth] else { continue };
                undone.insert(at.min(undone.len()), it.expected.clone()?);
            }
            Some(Json::Array(undone))
        }
        scalar => Some(scalar.clone()),
    }
}

/// Less of a value: some keys and some elements.
fn some_of(value: &Json, keep: u64) -> Json {
    let kept = |at: usize| keep.rotate_left(at as u32 * 7) & 1 == 1;
    match value {
        Json::Object(members) => {
            let some = members.iter().enumerate().filter(|(at, _)| kept(*at));
            Json::Object(
                some.map(|(at, (key, member))| (key.clone(), some_of(member, keep.rotate_left(at as u32 + 3))))
                    .collect(),
            )
        }
        Json::Array(items) => {
            let some = items.iter().enumerate().filter(|(at, _)| kept(*at));
            Json::Array(some.map(|(at, item)| some_of(item, keep.rotate_left(at as u32 + 5))).collect())
        }
        scalar => scalar.clone(),
    }
}

/// Anything that a suite could hold: plain values, `match:` texts, calls with any argument.
fn expectation() -> impl Strategy<Value = Json> {
    let names: Vec<String> = table::names().map(str::to_owned).collect();
    let family: Vec<String> = aegis::names_for_tests().map(|name| format!("match:{name}")).collect();
    let keys = [names, family.clone()].concat();
    let argument = prop_oneof!["[0-9:a-z.]{0,6}", "now-[0-9]{1,3}[smhd]", ".{0,6}", Just("start < end".to_owned())];
    let text = (proptest::sample::select(family), argument, any::<bool>()).prop_map(|(name, argument, not)| {
        let name = if not { name.replace("match:", "match:not:") } else { name };
        Json::from(format!("{name}:{argument}"))
    });
    prop_oneof![4 => scalar(), 2 => text, 1 => ".{0,8}".prop_map(|text| json!(format!("match:{text}")))].prop_recursive(
        4,
        40,
        4,
        move |inner| {
            let called = (proptest::sample::select(keys.clone()), inner.clone())
                .prop_map(|(key, argument)| json!({ key: argument }));
            prop_oneof![
                3 => called,
                1 => vec(inner.clone(), 0..4).prop_map(Json::from),
                1 => vec(("[a-e]{1,2}", inner), 0..4).prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        },
    )
}

proptest! {
    #[test]
    fn a_value_equals_itself(value in value()) {
        prop_assert!(check(&literal(&value), &value).is_empty());
        let parsed: Json = serde_json::from_str(&value.to_string()).expect("valid JSON");
        prop_assert!(check(&literal(&value), &parsed).is_empty());
    }

    #[test]
    fn a_mutated_value_does_not_and_the_path_names_the_mutation(value in value(), choices in vec(any::<Index>(), 0..4)) {
        let (mut mutated, mut place) = (value.clone(), Vec::new());
        mutate(&mut mutated, &choices, &mut place);
        prop_assume!(!equality::same(&value, &mutated));
        let found = check(&literal(&value), &mutated);
        prop_assert!(!found.is_empty());
        // An element that became like its neighbour can be told apart only by its list.
        let list = place.iter().position(|segment| matches!(segment, Segment::Index(_))).unwrap_or(place.len());
        prop_assert!(found.iter().all(|it| it.trail.starts_with(&place[..list])), "{place:?} {found:?}");
    }

    #[test]
    fn undoing_the_mismatches_gives_what_was_expected(expected in value(), actual in value()) {
        let found = check(&literal(&expected), &actual);
        let undone = undo(&actual, &found.iter().collect::<Vec<_>>(), 0);
        prop_assert!(undone.as_ref().is_some_and(|undone| equality::same(undone, &expected)), "{undone:?} from {found:?}");
    }

    #[test]
    fn undoing_a_mutation_gives_what_was_expected(expected in value(), choices in vec(any::<Index>(), 0..4)) {
        let mut actual = expected.clone();
        mutate(&mut actual, &choices, &mut Vec::new());
        let found = check(&literal(&expected), &actual);
        let undone = undo(&actual, &found.iter().collect::<Vec<_>>(), 0);
        prop_assert!(undone.is_some_and(|undone| equality::same(&undone, &expected)));
    }

    #[test]
    fn not_inverts(expected in value(), actual in value()) {
        let plain = check(&literal(&expected), &actual).is_empty();
        prop_assert_ne!(plain, check(&call("$not", literal(&expected)), &actual).is_empty());
        prop_assert!(!check(&call("$not", literal(&actual)), &actual).is_empty());
    }

    #[test]
    fn partial_holds_for_a_part(value in value(), keep in any::<u64>()) {
        let part = some_of(&value, keep);
        // Texts may look like patterns: only structures are interpreted here.
        prop_assume!(!part.to_string().contains("match:") && !part.to_string().contains('$'));
        prop_assert!(check(&call("$partial", node(&part)), &value).is_empty());
    }

    #[test]
    fn unordered_holds_under_permutation(items in vec(value(), 0..7), seed in vec(any::<Index>(), 7)) {
        let mut permuted = items.clone();
        for at in (1..permuted.len()).rev() {
            permuted.swap(at, seed[at].index(at + 1));
        }
        let expected = call("$unordered", Node::new(Kind::List(items.iter().map(literal).collect()), Span::default()));
        prop_assert!(check(&expected, &Json::from(permuted.clone())).is_empty());
        permuted.push(json!("one too many"));
        prop_assert!(!check(&expected, &Json::from(permuted)).is_empty());
    }

    #[test]
    fn nothing_panics(expected in expectation(), actual in value()) {
        let (compiled, diagnostics) = compile(&node(&expected));
        let missing = compiled.check(None, "$");
        let found = compiled.check(Some(&actual), "$");
        if !diagnostics.has_errors() {
            prop_assert_eq!(missing.is_empty(), compiled.holds(None));
            prop_assert_eq!(found.is_empty(), compiled.holds(Some(&actual)));
        }
    }
}
