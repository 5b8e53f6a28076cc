//! The structural walk: plain values, lists and objects, with matchers anywhere inside.

use super::align::{self, Pair};
use super::found::Found;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::{Matcher, Mode, equality, hint, likeness, shown};
use crate::source::{Json, Span};
use serde_json::Map;
use std::collections::HashSet;

/// Characters of a key in a sentence.
pub(super) const KEY: usize = 80;
/// Lists longer than this are not searched for another order.
const MOST_REORDERED: usize = 500;

/// A compiled expected value.
#[derive(Debug)]
pub(super) enum Tree {
    /// A scalar.
    Value { value: Json, span: Span },
    /// A list.
    List { items: Vec<Tree>, span: Span, manner: Manner },
    /// An object.
    Map { fields: Vec<Field>, span: Span, manner: Manner },
    /// Anything that is not plain equality.
    Matcher(Box<dyn Matcher>),
}

/// One expected key.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) span: Span,
    pub(super) tree: Tree,
}

/// How plain structures compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Deep equality.
    Exact,
    /// Only written keys; each expected element is found somewhere.
    Partial,
    /// Only written keys; expected elements stand first, in order (mcp-aegis).
    Prefix,
}

impl From<Mode> for Manner {
    fn from(mode: Mode) -> Manner {
        match mode {
            Mode::Exact => Manner::Exact,
            Mode::Partial => Manner::Partial,
        }
    }
}

impl Tree {
    /// A value with nothing interpreted in it; every part has the same place.
    pub(super) fn literal(value: &Json, span: Span) -> Tree {
        let manner = Manner::Exact;
        match value {
            Json::Array(items) => {
                Tree::List { items: items.iter().map(|item| Tree::literal(item, span)).collect(), span, manner }
            }
            Json::Object(members) => {
                let field =
                    |(key, value): (&String, &Json)| Field { key: key.clone(), span, tree: Tree::literal(value, span) };
                Tree::Map { fields: members.iter().map(field).collect(), span, manner }
            }
            scalar => Tree::Value { value: scalar.clone(), span },
        }
    }

    /// Whether it holds for nothing but one value.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Tree::Value { .. } => true,
            Tree::List { items, manner, .. } => *manner == Manner::Exact && items.iter().all(Tree::is_plain),
            Tree::Map { fields, manner, .. } => {
                *manner == Manner::Exact && fields.iter().all(|field| field.tree.is_plain())
            }
            Tree::Matcher(_) => false,
        }
    }

    /// Whether `actual` holds: stops at the first difference and allocates nothing.
    pub(super) fn holds(&self, actual: Option<&Json>) -> bool {
        let mut found = Found::probe();
        self.check(actual, &Path::root(""), &mut found);
        found.is_empty()
    }

    /// The expected value as it was written.
    pub(super) fn written(&self) -> Json {
        match self {
            Tree::Value { value, .. } => value.clone(),
            Tree::List { items, .. } => Json::Array(items.iter().map(Tree::written).collect()),
            Tree::Map { fields, .. } => {
                fields.iter().map(|field| (field.key.clone(), field.tree.written())).collect::<Map<_, _>>().into()
            }
            Tree::Matcher(matcher) => matcher.expected(),
        }
    }

    /// Adds every mismatch of `actual`.
    pub(super) fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        if found.is_full() {
            return;
        }
        match (self, actual) {
            (Tree::Matcher(matcher), _) => matcher.check(actual, path, found),
            (Tree::Value { span, .. } | Tree::List { span, .. } | Tree::Map { span, .. }, None) => {
                found.add(|| Mismatch::new(Rank::Missing, path, *span, "there is no value").expected(&self.written()));
            }
            (Tree::Value { value, span }, Some(actual)) => {
                if !equality::same(value, actual) {
                    found.add(|| different(value, actual, path, *span));
                }
            }
            (Tree::List { items, span, manner }, Some(Json::Array(actual))) => match manner {
                Manner::Exact => exact_list(items, actual, *span, path, found),
                Manner::Partial => items.iter().enumerate().for_each(|(at, item)| some(item, at, actual, path, found)),
                Manner::Prefix => prefix(items, actual, path, found),
            },
            (Tree::Map { fields, span, manner }, Some(Json::Object(actual))) => {
                let matched = self::fields(fields, actual, path, found);
                if *manner == Manner::Exact && matched < actual.len() {
                    extras(fields, actual, *span, path, found);
                }
            }
            (Tree::List { span, .. } | Tree::Map { span, .. }, Some(actual)) => {
                found.add(|| different(&self.written(), actual, path, *span));
            }
        }
    }
}

fn different(expected: &Json, actual: &Json, path: &Path<'_>, span: Span) -> Mismatch {
    let (expected_kind, actual_kind) = (equality::kind(expected), equality::kind(actual));
    let (rank, message) = match (expected, actual) {
        (Json::String(a), Json::String(b)) => (Rank::Different, hint::text_difference(a, b)),
        _ if expected_kind == actual_kind => {
            let (expected, actual) = (shown::inline(expected, 40), shown::inline(actual, 40));
            (Rank::Different, format!("expected {expected}, got {actual}"))
        }
        _ => (Rank::Kind, format!("expected {expected_kind}, got {actual_kind}")),
    };
    let mismatch = Mismatch::new(rank, path, span, message).expected(expected).actual(Some(actual));
    let (cut_expected, cut_actual) = hint::around_change(expected, actual);
    let mismatch = match (cut_expected, cut_actual) {
        (Some(expected), Some(actual)) => mismatch.expected(&expected).actual(Some(&actual)),
        _ => mismatch,
    };
    mismatch.hints(hint::of_values(expected, actual))
}

/// Checks the expected keys and says how many of them the object has.
fn fields(fields: &[Field], actual: &Map<String, Json>, path: &Path<'_>, found: &mut Found) -> usize {
    let mut matched = 0;
    let mut in_step = actual.iter();
    for field in fields {
        // Servers mostly keep the order of the suite: then no key is hashed.
        let value = match in_step.next() {
            Some((key, value)) if *key == field.key => Some(value),
            _ => actual.get(&field.key),
        };
        match value {
            Some(value) => {
                matched += 1;
                field.tree.check(Some(value), &path.key(&field.key), found);
            }
            None if field.tree.holds(None) => {}
            None => found.add(|| missing(field, fields, actual, path)),
        }
        if found.is_full() {
            break;
        }
    }
    matched
}

fn missing(field: &Field, fields: &[Field], actual: &Map<String, Json>, path: &Path<'_>) -> Mismatch {
    let path = path.key(&field.key);
    let mismatch =
        Mismatch::new(Rank::Missing, &path, field.span, format!("`{}` is missing", shown::cut(&field.key, KEY)))
            .expected(&field.tree.written())
            .hints(hint::of_missing_key(field, fields, actual));
    match &field.tree {
        Tree::Matcher(matcher) => mismatch.by(matcher.head().name()),
        _ => mismatch,
    }
}

fn extras(fields: &[Field], actual: &Map<String, Json>, span: Span, path: &Path<'_>, found: &mut Found) {
    let known: HashSet<&str> = fields.iter().map(|field| field.key.as_str()).collect();
    for (key, value) in actual.iter().filter(|(key, _)| !known.contains(key.as_str())) {
        found.add(|| {
            let path = path.key(key);
            let message = format!("`{}` is unexpected", shown::cut(key, KEY));
            Mismatch::new(Rank::Extra, &path, span, message).actual(Some(value))
        });
        if found.is_full() {
            return;
        }
    }
}

fn exact_list(items: &[Tree], actual: &[Json], span: Span, path: &Path<'_>, found: &mut Found) {
    if found.is_probe() {
        if items.len() != actual.len() {
            found.add(|| Mismatch::new(Rank::Different, path, span, ""));
        }
        for (at, (item, value)) in items.iter().zip(actual).enumerate() {
            if found.is_full() {
                return;
            }
            item.check(Some(value), &path.index(at), found);
        }
        return;
    }
    let same = |i: usize, j: usize| items[i].holds(Some(&actual[j]));
    let like = |i: usize, j: usize| likeness::of(&items[i], &actual[j]);
    let swap = |i: usize, j: usize| items[i].is_scalar() || is_scalar(&actual[j]) || is_akin(&items[i], &actual[j]);
    let pairs = align::align(items.len(), actual.len(), same, like, swap);
    let moved = items.len() <= MOST_REORDERED && super::unordered::is_reordered(items, actual);
    let say = |what: &str| match items.len() == actual.len() {
        _ if moved => "an element stands at another place".to_owned(),
        true => what.to_owned(),
        false => format!("{what}: expected {}, got {}", elements(items.len()), actual.len()),
    };
    let mark = found.len();
    for pair in pairs {
        match pair {
            Pair::Same => {}
            Pair::Changed(i, j) => items[i].check(Some(&actual[j]), &path.index(j), found),
            Pair::Missing(i) => found.add(|| {
                let expected = items[i].written();
                let path = path.index(i);
                Mismatch::new(Rank::Missing, &path, items[i].span(), say("an element is missing")).expected(&expected)
            }),
            Pair::Extra(j) => found.add(|| {
                let path = path.index(j);
                Mismatch::new(Rank::Extra, &path, span, say("unexpected element")).actual(Some(&actual[j]))
            }),
        }
        if found.is_full() {
            break;
        }
    }
    if moved {
        let hint = "the list has the same elements in another order: `$unordered` allows for it";
        if let Some(worst) = found.since(mark).iter_mut().min_by_key(|mismatch| mismatch.rank) {
            worst.hints.push(hint.into());
        }
    }
}

fn elements(count: usize) -> String {
    if count == 1 { "1 element".into() } else { format!("{count} elements") }
}

/// One expected element, to be found somewhere; `at` is where it is looked for first.
pub(super) fn some(item: &Tree, at: usize, actual: &[Json], path: &Path<'_>, found: &mut Found) {
    if found.is_full() {
        return;
    }
    let here = actual.get(at).is_some_and(|value| item.holds(Some(value)));
    if here || actual.iter().any(|value| item.holds(Some(value))) {
        return;
    }
    let nearest = if found.is_probe() { None } else { likeness::nearest(item, actual) };
    let Some(nearest) = nearest else {
        return found.add(|| {
            Mismatch::new(Rank::Missing, &path.index(at), item.span(), "no element matches")
                .expected(&item.written())
                .hints(hint::of_list(actual))
        });
    };
    let mark = found.len();
    item.check(Some(&actual[nearest]), &path.index(nearest), found);
    for mismatch in found.since(mark) {
        mismatch.message = format!("no element matches; nearest is `[{nearest}]`: {}", mismatch.message);
    }
}

fn prefix(items: &[Tree], actual: &[Json], path: &Path<'_>, found: &mut Found) {
    for (at, item) in items.iter().enumerate() {
        let mark = found.len();
        match actual.get(at) {
            Some(value) => item.check(Some(value), &path.index(at), found),
            None => found.add(|| {
                let message = format!("an element is missing: the list has {}", elements(actual.len()));
                Mismatch::new(Rank::Missing, &path.index(at), item.span(), message).expected(&item.written())
            }),
        }
        if let Some(first) = found.since(mark).first_mut()
            && let Some(elsewhere) = actual.iter().position(|value| item.holds(Some(value)))
        {
            let hint =
                "is what is expected here: this family compares lists by place, and `$partial` finds elements anywhere";
            first.hints.push(format!("`[{elsewhere}]` {hint}"));
        }
        if found.is_full() {
            return;
        }
    }
}

impl Tree {
    /// Its place in the suite.
    pub(super) fn span(&self) -> Span {
        match self {
            Tree::Value { span, .. } | Tree::List { span, .. } | Tree::Map { span, .. } => *span,
            Tree::Matcher(matcher) => matcher.head().span(),
        }
    }

    /// Whether a missing value can be right for it.
    pub(super) fn judges_absence(&self) -> bool {
        matches!(self, Tree::Matcher(matcher) if matcher.judges_absence())
    }

    fn is_scalar(&self) -> bool {
        matches!(self, Tree::Value { .. } | Tree::Matcher(_))
    }
}

/// Whether two structures can be one element that changed: lists, or objects with a key in common.
fn is_akin(expected: &Tree, actual: &Json) -> bool {
    match (expected, actual) {
        (Tree::Map { fields, .. }, Json::Object(members)) => fields.iter().any(|it| members.contains_key(&it.key)),
        (Tree::List { .. }, Json::Array(_)) => true,
        _ => false,
    }
}

fn is_scalar(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, say};
    use serde_json::json;

    #[test]
    fn deep_equality_names_missing_extra_and_different() {
        let found = say(json!({"a": 1, "b": {"c": [1, 2]}, "d": true}), json!({"a": 2, "b": {"c": [1, "2"]}, "e": 0}));
        assert_eq!(
            found,
            [
                "$.b.c[1]: expected a number, got text",
                "$.d: `d` is missing",
                "$.a: expected 1, got 2",
                "$.e: `e` is unexpected"
            ]
        );
        assert!(say(json!({"a": [1, {"b": null}]}), json!({"a": [1.0, {"b": null}]})).is_empty());
        assert_eq!(say(json!({"a": null}), json!({})), ["$.a: `a` is missing"]);
    }

    #[test]
    fn one_inserted_element_is_one_mismatch() {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let expected = json!([tool("read"), tool("write"), tool("list")]);
        let actual = json!([tool("read"), tool("append"), tool("write"), tool("list")]);
        assert_eq!(say(expected, actual), ["$[1]: unexpected element: expected 3 elements, got 4"]);
    }

    #[test]
    fn elements_at_one_place_are_one_change() {
        assert_eq!(say(json!([0, {"g": 2}]), json!([0, {"g": 1}])), ["$[1].g: expected 2, got 1"]);
        assert_eq!(say(json!([[1], [2]]), json!([[1], [3]])), ["$[1][0]: expected 2, got 3"]);
        assert_eq!(
            say(json!([{"a": 1}]), json!([{"b": 1}])),
            ["$[0]: an element is missing", "$[0]: unexpected element"]
        );
    }

    #[test]
    fn another_order_is_called_one() {
        for (expected, actual) in
            [(json!(["a", "b", "c"]), json!(["c", "a", "b"])), (json!([{"a": 1}, 2]), json!([2, {"a": 1}]))]
        {
            let found = check(&expected, Some(&actual));
            assert!(found[0].hints.iter().any(|hint| hint.contains("`$unordered`")), "{found:?}");
        }
        assert!(check(&json!(["a", "b"]), Some(&json!(["b", "b"])))[0].hints.is_empty());
    }

    #[test]
    fn partial_finds_elements_anywhere_and_names_the_nearest() {
        let expected = json!({"$partial": {"tools": [{"name": "b"}]}});
        assert!(say(expected.clone(), json!({"tools": [{"name": "a"}, {"name": "b", "x": 1}], "next": 1})).is_empty());
        let expected = json!({"$partial": {"tools": [{"name": "read_file", "kind": 2}]}});
        let actual = json!({"tools": [{"name": "write"}, {"name": "read_file", "kind": 1}]});
        let found = check(&expected, Some(&actual));
        assert_eq!(found[0].path, "$.tools[1].kind");
        assert_eq!(found[0].message, "no element matches; nearest is `[1]`: expected 2, got 1");
    }

    #[test]
    fn absent_keys_are_no_missing_keys() {
        assert!(say(json!({"a": {"$absent": true}, "b": 1}), json!({"b": 1})).is_empty());
        assert!(say(json!({"a": {"$exists": false}}), json!({})).is_empty());
        assert_eq!(say(json!({"a": {"$absent": true}}), json!({"a": null})), ["$.a: it is there, and must not be"]);
    }

    #[test]
    fn however_much_differs_the_list_is_short() {
        let expected = json!((0..100_000).collect::<Vec<_>>());
        let actual = json!((0..100_000).map(|n| n + 500_000).collect::<Vec<_>>());
        assert_eq!(say(expected, actual).len(), super::Found::LIMIT);
    }
}
