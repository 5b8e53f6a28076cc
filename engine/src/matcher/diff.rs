//! From the mismatches of one check to a diff: the actual value, walked along their paths.

mod lines;

use super::mismatch::{Mismatch, Rank};
use super::path::{Segment, write_key};
use super::shown;
use crate::event::diff::{Diff, Line, Op};
use crate::source::Json;
use lines::Side;

/// Lines that are kept: two screens.
const LINES: usize = 80;
/// Keys that say which element this is; they are shown beside a change.
const NAMING: [&str; 5] = ["name", "id", "uri", "type", "title"];

/// The diff of a check, when it says more than expected and actual side by side.
pub(super) fn of(found: &[Mismatch], actual: Option<&Json>, root: &str) -> Option<Diff> {
    let worth = match found {
        [only] if only.matcher.is_some() || actual.is_none() => false,
        [only] => is_structure(only.expected.as_ref()) || is_structure(only.actual.as_ref()) || lines::are_long(only),
        several => !several.is_empty(),
    };
    // A matcher that finds fault with a value, and has nothing to set against it, is no `-` and no `+`.
    let judged = |it: &Mismatch| it.matcher.is_some() && it.expected.is_none() && it.rank != Rank::Extra;
    if !worth || found.iter().any(|mismatch| mismatch.trail.contains(&Segment::Other) || judged(mismatch)) {
        return None;
    }
    let mut top = Branch::default();
    found.iter().for_each(|mismatch| top.insert(&mismatch.trail, mismatch));
    let mut draw = Draw { lines: Vec::new() };
    draw.branch(&top, actual, root, 0, "");
    let more = draw.lines.len().saturating_sub(LINES);
    draw.lines.truncate(LINES);
    Some(Diff { path: root.to_owned(), lines: draw.lines, more })
}

fn is_structure(value: Option<&Json>) -> bool {
    matches!(value, Some(Json::Object(_) | Json::Array(_)))
}

/// The mismatches, by where they lie.
#[derive(Default)]
struct Branch<'a> {
    here: Vec<&'a Mismatch>,
    below: Vec<(Segment, Branch<'a>)>,
}

impl<'a> Branch<'a> {
    fn insert(&mut self, trail: &[Segment], mismatch: &'a Mismatch) {
        let Some((first, rest)) = trail.split_first() else { return self.here.push(mismatch) };
        // What is missing counts by the expected list, the rest by the actual one: they are no neighbours.
        let missing = rest.is_empty() && mismatch.actual.is_none() && matches!(first, Segment::Index(_));
        let at = self.below.iter().position(|(segment, branch)| segment == first && !missing && !branch.is_missing());
        match at {
            Some(at) => self.below[at].1.insert(rest, mismatch),
            None => {
                let mut branch = Branch::default();
                branch.insert(rest, mismatch);
                self.below.push((first.clone(), branch));
            }
        }
    }

    fn is_missing(&self) -> bool {
        self.below.is_empty() && self.here.iter().all(|mismatch| mismatch.actual.is_none())
    }
}

struct Draw {
    lines: Vec<Line>,
}

impl Draw {
    fn branch(&mut self, branch: &Branch<'_>, actual: Option<&Json>, path: &str, depth: usize, label: &str) {
        for mismatch in &branch.here {
            self.change(mismatch, path, depth, label);
        }
        if branch.below.is_empty() {
            return;
        }
        if !label.is_empty() {
            self.push(Op::Same, path, depth, format!("{label}:"));
        }
        let inner = if label.is_empty() { depth } else { depth + 1 };
        let shown = self.naming(branch, actual, path, inner);
        let mut below: Vec<&(Segment, Branch<'_>)> = branch.below.iter().collect();
        below.sort_by_key(|(segment, branch)| order(segment, branch, actual));
        for (segment, child) in below {
            let (path, label) = step(path, segment);
            self.branch(child, get(actual, segment), &path, inner, &label);
        }
        self.rest(branch, actual, path, inner, shown);
    }

    /// Shows which element this is.
    fn naming(&mut self, branch: &Branch<'_>, actual: Option<&Json>, path: &str, depth: usize) -> usize {
        let Some(Json::Object(members)) = actual else { return 0 };
        let named = NAMING.iter().filter_map(|key| members.get_key_value(*key)).filter(|(key, value)| {
            let changed = branch.below.iter().any(|(segment, _)| matches!(segment, Segment::Key(it) if it == *key));
            !changed && !value.is_object() && !value.is_array()
        });
        let named: Vec<_> = named.take(2).collect();
        for (key, value) in &named {
            let (path, label) = step(path, &Segment::Key((*key).clone()));
            self.push(Op::Same, &path, depth, format!("{label}: {}", shown::inline(value, 60)));
        }
        named.len()
    }

    /// Says how much is the same and not shown.
    fn rest(&mut self, branch: &Branch<'_>, actual: Option<&Json>, path: &str, depth: usize, shown: usize) {
        let changed = branch.below.iter().filter(|(segment, _)| get(actual, segment).is_some()).count();
        let (total, noun) = match actual {
            Some(Json::Object(members)) => (members.len(), "key"),
            Some(Json::Array(items)) => (items.len(), "element"),
            _ => return,
        };
        let rest = total.saturating_sub(changed + shown);
        if rest > 0 {
            let plural = if rest == 1 { "" } else { "s" };
            self.push(Op::Same, path, depth, format!("… {rest} more {noun}{plural}"));
        }
    }

    fn change(&mut self, mismatch: &Mismatch, path: &str, depth: usize, label: &str) {
        let (expected, actual) = (mismatch.expected.as_ref(), mismatch.actual.as_ref());
        if let (Some(Json::String(expected)), Some(Json::String(actual))) = (expected, actual)
            && mismatch.matcher.is_none()
        {
            return lines::texts(expected, actual, label, |op, deeper, text, marks| {
                self.lines.push(Line { op, path: path.to_owned(), depth: depth + deeper, text, marks });
            });
        }
        for side in [Side { op: Op::Expected, value: expected }, Side { op: Op::Actual, value: actual }] {
            let Some(value) = side.value else { continue };
            let already = self.lines.last().is_some_and(|line| line.op == Op::Actual && line.path == path);
            if side.op == Op::Actual && already {
                continue;
            }
            lines::value(value, label, |deeper, text| self.push(side.op, path, depth + deeper, text));
        }
    }

    fn push(&mut self, op: Op, path: &str, depth: usize, text: String) {
        self.lines.push(Line { op, path: path.to_owned(), depth, text, marks: Vec::new() });
    }
}

fn get<'v>(value: Option<&'v Json>, segment: &Segment) -> Option<&'v Json> {
    match (value?, segment) {
        (Json::Object(members), Segment::Key(key)) => members.get(key),
        (Json::Array(items), Segment::Index(index)) => items.get(*index),
        _ => None,
    }
}

/// As in the actual value; what is missing comes where it was expected.
fn order(segment: &Segment, branch: &Branch<'_>, actual: Option<&Json>) -> (usize, bool) {
    match (segment, actual) {
        (Segment::Index(index), _) => (*index, !branch.is_missing()),
        (Segment::Key(key), Some(Json::Object(members))) => {
            (members.keys().position(|member| member == key).unwrap_or(members.len()), true)
        }
        _ => (0, true),
    }
}

/// The path and the label of a child.
fn step(path: &str, segment: &Segment) -> (String, String) {
    let mut child = path.to_owned();
    let label = match segment {
        Segment::Index(index) => format!("[{index}]"),
        Segment::Key(key) => {
            // Writing to text cannot fail.
            let _ = write_key(&mut child, key);
            return (child, lines::key(key));
        }
        Segment::Other => return (child, String::new()),
    };
    child.push_str(&label);
    (child, label)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use crate::source::Json;
    use serde_json::json;

    fn draw(expected: Json, actual: Json) -> String {
        let diff = check(&expected, Some(&actual)).swap_remove(0).diff.expect("a diff");
        let line = |line: &super::Line| format!("{}{}{}\n", line.op.sign(), "  ".repeat(line.depth), line.text);
        diff.lines.iter().map(line).collect()
    }

    #[test]
    fn shows_what_changed_and_which_element_it_is() {
        let tool = |name: &str, n: i32| json!({"name": name, "n": n, "a": 1, "b": 2});
        let expected = json!({"tools": [tool("read", 1), tool("write", 2)], "x": true});
        let actual = json!({"tools": [tool("read", 1), tool("list", 7), tool("write", 3)], "y": 0, "z": 1});
        let mut expected_keys = expected;
        expected_keys["z"] = json!(1);
        assert_eq!(
            draw(expected_keys, actual),
            concat!(
                " tools:\n",
                "+  [1]:\n",
                "+    name: \"list\"\n",
                "+    n: 7\n",
                "+    a: 1\n",
                "+    b: 2\n",
                "   [2]:\n",
                "     name: \"write\"\n",
                "-    n: 2\n",
                "+    n: 3\n",
                "     … 2 more keys\n",
                "   … 1 more element\n",
                "+y: 0\n",
                "-x: true\n",
                " … 1 more key\n",
            )
        );
    }

    #[test]
    fn texts_of_several_lines_are_compared_line_by_line() {
        let before = "one\ntwo\nthree\nfour\nfive\n";
        let after = "one\ntwo\n3\nfour\nfive\n";
        assert_eq!(
            draw(json!({"t": before}), json!({"t": after})),
            " t:\n   … 1 more line\n   two\n-  three\n+  3\n   four\n   … 1 more line\n"
        );
    }

    #[test]
    fn the_change_inside_a_line_is_marked() {
        let found = check(&json!({"a": 1, "t": "Hello, world!"}), Some(&json!({"a": 2, "t": "Hello, World!"})));
        let diff = found[0].diff.as_ref().expect("a diff");
        let marked = diff.lines.iter().find(|line| line.text.contains("World")).expect("the line");
        assert_eq!(marked.marks, [[11, 12]]);
    }

    #[test]
    fn invisible_characters_are_shown() {
        let text = draw(json!(["a\u{200b}b", 1]), json!(["a\u{1b}[31mb", 2]));
        assert!(text.contains(r#"- [0]: "a\u{200b}b""#) || text.contains(r#"-[0]: "a\u{200b}b""#), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{200b}'), "{text}");
    }

    #[test]
    fn what_was_cut_is_counted() {
        let many: Vec<usize> = (0..3000).collect();
        let keys: Json = (0..3000).map(|n| (format!("k{n}"), json!(n))).collect::<serde_json::Map<_, _>>().into();
        assert!(draw(json!({}), json!({"list": many, "a": 1})).contains("… 2985 more"));
        assert!(draw(json!({}), json!({"keys": keys})).contains("… 2985 more"));
    }

    #[test]
    fn one_different_scalar_needs_no_diff() {
        assert!(check(&json!({"a": 1}), Some(&json!({"a": 2})))[0].diff.is_none());
    }
}
