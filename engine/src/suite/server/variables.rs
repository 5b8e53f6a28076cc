//! `${VAR}` in server definitions.
//!
//! `${VAR}`, `${env:VAR}` and `${VAR:-default}` read the environment when the definition is read. `${tmp}` and `${port}`
//! are known when the process is started, and `$${` means `${`: all stay in the text until [`fill_own`].

use crate::suite::environment::Environment;
use std::ops::Range;

/// A text with its environment variables filled in.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Filled {
    pub(super) text: String,
    /// The values that came from the environment.
    pub(super) inserted: Vec<String>,
    /// What could not be filled in; it stays as written.
    pub(super) problems: Vec<Problem>,
}

/// A variable that has no value.
#[derive(Debug, PartialEq)]
pub(super) struct Problem {
    /// `${VAR}` in the text.
    pub(super) range: Range<usize>,
    /// The variable's name; `None` where it is no name at all.
    pub(super) name: Option<String>,
}

/// Fills environment variables in; where they may be lacking, one that is not set is empty.
pub(super) fn fill(text: &str, environment: &Environment, may_lack: bool) -> Filled {
    let mut filled = Filled::default();
    let mut at = 0;
    while let Some(found) = text[at..].find("${") {
        let open = at + found;
        let literal = text[..open].ends_with('$');
        let end = if literal { None } else { text[open..].find('}').map(|length| open + length + 1) };
        let stop = end.unwrap_or(open + 2);
        filled.text.push_str(&text[at..open]);
        let written = &text[open..stop];
        let reference = end.map(|end| &text[open + 2..end - 1]);
        match reference.map(|reference| lookup(reference, environment)) {
            _ if literal => filled.text.push_str(written),
            Some(Looked::Tmp) => filled.text.push_str(written),
            Some(Looked::Default(value)) => filled.text.push_str(value),
            Some(Looked::Value(value)) => {
                filled.text.push_str(&escape(value));
                filled.inserted.push(value.to_owned());
            }
            Some(Looked::Unset(_)) if may_lack => {}
            Some(Looked::Unset(name)) => {
                filled.problems.push(Problem { range: open..stop, name: Some(name.to_owned()) });
                filled.text.push_str(written);
            }
            Some(Looked::NoName) | None => {
                filled.problems.push(Problem { range: open..stop, name: None });
                filled.text.push_str(written);
            }
        }
        at = stop;
    }
    filled.text.push_str(&text[at..]);
    filled
}

enum Looked<'a> {
    Tmp,
    Value(&'a str),
    Default(&'a str),
    Unset(&'a str),
    NoName,
}

fn lookup<'a>(reference: &'a str, environment: &'a Environment) -> Looked<'a> {
    if matches!(reference, "tmp" | "port") {
        return Looked::Tmp;
    }
    let reference = reference.strip_prefix("env:").unwrap_or(reference);
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Looked::NoName;
    }
    match (environment.get(name), default) {
        (None | Some(""), Some(default)) => Looked::Default(default),
        (Some(value), _) => Looked::Value(value),
        (None, None) => Looked::Unset(name),
    }
}

/// Text in which nothing is to be filled in.
pub fn escape(text: &str) -> String {
    text.replace("${", "$${")
}

/// The text with `${tmp}` filled in, and `$${` as `${`.
pub fn fill_tmp(text: &str, tmp: &str) -> String {
    fill_own(text, tmp, &mut || None)
}

/// The text as the process gets it: `${tmp}` is its fresh folder, `${port}` its port, `$${` is `${`.
pub fn fill_own(text: &str, tmp: &str, port: &mut dyn FnMut() -> Option<u16>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at..]);
        if let Some(before) = before.strip_suffix('$') {
            filled.push_str(before);
            filled.push_str("${");
            rest = &after[2..];
        } else if let Some(after) = after.strip_prefix("${tmp}") {
            filled.push_str(before);
            filled.push_str(tmp);
            rest = after;
        } else if let Some((after, port)) = after.strip_prefix("${port}").and_then(|after| Some((after, port()?))) {
            filled.push_str(before);
            filled.push_str(&port.to_string());
            rest = after;
        } else {
            filled.push_str(before);
            filled.push_str("${");
            rest = &after[2..];
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        [("TOKEN", "s3cret"), ("EMPTY", ""), ("ODD", "a${tmp}$${b")]
            .map(|(name, value)| (name.into(), value.into()))
            .into_iter()
            .collect()
    }

    #[test]
    fn variables_defaults_and_escapes_are_filled_in() {
        let cases = [
            ("a ${TOKEN} b", "a s3cret b"),
            ("${env:TOKEN}${TOKEN}", "s3crets3cret"),
            ("${NONE:-x}${EMPTY:-y}${NONE:-}", "xy"),
            ("${EMPTY}", ""),
            ("${tmp}/x", "${tmp}/x"),
            ("$${TOKEN} $", "$${TOKEN} $"),
        ];
        for (text, expected) in cases {
            let filled = fill(text, &environment(), false);
            assert_eq!((filled.text.as_str(), filled.problems), (expected, Vec::new()), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_named_with_its_place() {
        let filled = fill("a ${NONE} ${a.b} ${", &environment(), false);
        assert_eq!(filled.text, "a ${NONE} ${a.b} ${");
        let found: Vec<_> =
            filled.problems.iter().map(|problem| (problem.range.clone(), problem.name.as_deref())).collect();
        assert_eq!(found, [(2..9, Some("NONE")), (10..16, None), (17..19, None)]);
    }

    #[test]
    fn what_may_lack_is_empty_and_what_is_no_name_stays_wrong() {
        let filled = fill("Bearer ${NONE}$${NONE}${TOKEN}", &environment(), true);
        assert_eq!((filled.text.as_str(), filled.problems), ("Bearer $${NONE}s3cret", Vec::new()));
        assert_eq!(fill("${a.b}", &environment(), true).problems.len(), 1);
    }

    #[test]
    fn nothing_in_an_inserted_value_is_filled_in_again() {
        let filled = fill("${ODD}", &environment(), false);
        assert_eq!(fill_tmp(&filled.text, "/t"), "a${tmp}$${b");
        assert_eq!(fill_tmp("${tmp}/$${tmp} ${x} $$", "/t"), "/t/${tmp} ${x} $$");
    }
}
