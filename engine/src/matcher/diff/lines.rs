//! Values as lines: a key and a scalar in one, structures below each other, texts cut around their change.

use crate::event::diff::Op;
use crate::matcher::mismatch::Mismatch;
use crate::matcher::shown::{self, quote};
use crate::matcher::tree::KEY;
use crate::source::Json;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// Characters of a text in one line.
const TEXT: usize = 160;
/// Characters kept before a change.
const BEFORE: usize = 40;
/// Lines of one value.
const VALUE: usize = 16;
/// How long a comparison of long texts may take before it gets coarser.
const PATIENCE: Duration = Duration::from_millis(200);
/// Lines around a change in a text of several lines.
const CONTEXT: usize = 1;

/// What was expected, or what came.
pub(super) struct Side<'a> {
    pub(super) op: Op,
    pub(super) value: Option<&'a Json>,
}

/// A key as it stands before a colon.
pub(super) fn key(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-.$/:".contains(c));
    if plain { shown::cut(key, KEY) } else { quote(&shown::cut(key, KEY)) }
}

/// A value under its label; deeper lines come with how much deeper they are.
pub(super) fn value(value: &Json, label: &str, mut line: impl FnMut(usize, String)) {
    let mut left = VALUE;
    put(value, label, 0, &mut left, &mut line);
}

fn put(value: &Json, label: &str, depth: usize, left: &mut usize, line: &mut impl FnMut(usize, String)) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let before = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let heading = |inline: String, line: &mut dyn FnMut(usize, String)| line(depth, format!("{before}{inline}"));
    let deeper = depth + usize::from(!label.is_empty());
    match value {
        Json::String(text) => heading(quote(&cut(text, 0)), line),
        Json::Array(items) if !items.is_empty() && !fits(value) => {
            if !label.is_empty() {
                line(depth, format!("{label}:"));
            }
            for (at, item) in items.iter().enumerate() {
                if *left == 0 {
                    let cut = items.last().and_then(Json::as_str).and_then(|last| last.strip_prefix("… "));
                    return line(deeper, format!("… {} more", items.len() - at + were_cut(cut)));
                }
                put(item, &format!("[{at}]"), deeper, left, line);
            }
        }
        Json::Object(members) if !members.is_empty() && !fits(value) => {
            if !label.is_empty() {
                line(depth, format!("{label}:"));
            }
            for (at, (name, member)) in members.iter().enumerate() {
                if *left == 0 {
                    let cut = members.get("…").and_then(Json::as_str);
                    return line(deeper, format!("… {} more", members.len() - at + were_cut(cut)));
                }
                put(member, &key(name), deeper, left, line);
            }
        }
        small => heading(inline(small), line),
    }
}

/// How many more there were than the note says that stands for them: `12 more`.
fn were_cut(note: Option<&str>) -> usize {
    let cut: Option<usize> = note.and_then(|note| note.strip_suffix(" more")?.parse().ok());
    cut.map_or(0, |cut| cut.saturating_sub(1))
}

/// Whether a structure is small enough for one line: a matcher, or a few scalars in a list.
fn fits(value: &Json) -> bool {
    let scalar = |it: &Json| !it.is_object() && !it.is_array();
    match value {
        Json::Array(items) => items.len() <= 8 && items.iter().all(scalar) && inline(value).len() <= 60,
        Json::Object(members) => members.keys().all(|key| key.starts_with('$')) && inline(value).len() <= 60,
        _ => true,
    }
}

/// A small value in one line; a matcher as a suite would have it.
fn inline(value: &Json) -> String {
    match value {
        Json::String(text) => quote(text),
        Json::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Json::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{}: {}", key(name), inline(value))).collect();
            if members.is_empty() { "{}".into() } else { format!("{{ {} }}", members.join(", ")) }
        }
        scalar => scalar.to_string(),
    }
}

/// Whether both sides of a mismatch are texts that read better line by line.
pub(super) fn are_long(mismatch: &Mismatch) -> bool {
    match (&mismatch.expected, &mismatch.actual) {
        (Some(Json::String(a)), Some(Json::String(b))) => mismatch.matcher.is_none() && several_lines(a, b),
        _ => false,
    }
}

fn several_lines(a: &str, b: &str) -> bool {
    a.trim_end().contains('\n') && b.trim_end().contains('\n')
}

/// Two texts: line by line where they have several, else with the change marked.
pub(super) fn texts(
    expected: &str,
    actual: &str,
    label: &str,
    mut line: impl FnMut(Op, usize, String, Vec<[usize; 2]>),
) {
    if several_lines(expected, actual) {
        return line_by_line(expected, actual, label, line);
    }
    let from = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let before = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let start = before.chars().count();
    let (expected, actual) = (quote(&cut(expected, from)), quote(&cut(actual, from)));
    let [of_expected, of_actual] = marks(&expected, &actual, start);
    line(Op::Expected, 0, format!("{before}{expected}"), of_expected);
    line(Op::Actual, 0, format!("{before}{actual}"), of_actual);
}

/// The part in which two texts differ, as ranges of characters.
pub(super) fn marks(a: &str, b: &str, start: usize) -> [Vec<[usize; 2]>; 2] {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let room = a.len().min(b.len()) - head;
    let tail = a.iter().rev().zip(b.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let range = |length: usize| {
        let (from, to) = (start + head, start + length - tail);
        if from < to { vec![[from, to]] } else { Vec::new() }
    };
    [range(a.len()), range(b.len())]
}

/// A long text around its character `at`.
fn cut(text: &str, at: usize) -> String {
    let total = text.chars().count();
    if total <= TEXT {
        return text.to_owned();
    }
    let from = at.saturating_sub(BEFORE).min(total.saturating_sub(TEXT / 2));
    let kept: String = text.chars().skip(from).take(TEXT - BEFORE).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if from + TEXT - BEFORE < total { "…" } else { "" });
    format!("{before}{kept}{after}")
}

fn line_by_line(expected: &str, actual: &str, label: &str, mut line: impl FnMut(Op, usize, String, Vec<[usize; 2]>)) {
    let deeper = usize::from(!label.is_empty());
    if !label.is_empty() {
        line(Op::Same, 0, format!("{label}:"), Vec::new());
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(expected, actual);
    let changes: Vec<_> = diff.iter_all_changes().collect();
    let near = |at: usize| {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(changes.len()));
        changes[from..to].iter().any(|change| change.tag() != ChangeTag::Equal)
    };
    let mut skipped = 0;
    for (at, change) in changes.iter().enumerate() {
        if !near(at) {
            skipped += 1;
            continue;
        }
        tell(&mut skipped, deeper, &mut line);
        let (op, text) = (sign(change.tag()), change.value());
        let bare = text.strip_suffix('\n').unwrap_or(text);
        let end = if change.missing_newline() && !bare.is_empty() { " (no line end)" } else { "" };
        let quoted = quote(&cut(bare, 0));
        let unquoted = &quoted[1..quoted.len() - 1];
        line(op, deeper, format!("{}{end}", unquoted.replace("\\\"", "\"").replace(r"\\", r"\")), Vec::new());
    }
    tell(&mut skipped, deeper, &mut line);
}

fn tell(skipped: &mut usize, depth: usize, line: &mut impl FnMut(Op, usize, String, Vec<[usize; 2]>)) {
    if *skipped > 0 {
        let plural = if *skipped == 1 { "" } else { "s" };
        line(Op::Same, depth, format!("… {skipped} more line{plural}"), Vec::new());
    }
    *skipped = 0;
}

fn sign(tag: ChangeTag) -> Op {
    match tag {
        ChangeTag::Equal => Op::Same,
        ChangeTag::Delete => Op::Expected,
        ChangeTag::Insert => Op::Actual,
    }
}
