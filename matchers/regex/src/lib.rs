//! `$regex`: text matches a regular expression, and its named captures are as expected.
//!
//! ```yaml
//! text: { $regex: "^v\\d+" }
//! text: { $regex: { pattern: "(?<year>\\d{4})-(?<month>\\d\\d)", flags: i, captures: { year: "2026" } } }
//! ```
//!
//! Flags: `i` ignore case, `m` lines, `s` dot matches newlines, `x` ignore spaces in the pattern, `U` swap greed.
//! The pattern may match anywhere in the text; time is linear in its length.

use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use regex_engine::{Captures, RegexBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The longest pattern, in bytes. A search may cost the pattern's length times the text's.
const LONGEST: usize = 10_000;

/// A compiled pattern, and what its captures must be.
pub struct Regex {
    pattern: regex_engine::Regex,
    captures: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    pattern: String,
    #[serde(default)]
    flags: String,
    #[serde(default)]
    captures: BTreeMap<String, String>,
}

impl Matcher for Regex {
    const NAME: &'static str = "regex";
    const SUMMARY: &'static str = "text matches a regular expression, and its named captures are as expected";
    const ARGUMENT_SCHEMA: Option<&'static str> = Some(include_str!("../argument.json"));

    fn prepare(expected: &Value) -> Result<Regex, Failure> {
        let Argument { pattern, flags, captures } = match expected {
            Value::String(pattern) => {
                Argument { pattern: pattern.clone(), flags: String::new(), captures: BTreeMap::new() }
            }
            _ => decode(expected)?,
        };
        let pattern = build(&pattern, &flags)?;
        let names: Vec<&str> = pattern.capture_names().flatten().collect();
        match captures.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(Failure::invalid(format_args!("the pattern has no capture named `{name}`"))),
            None => Ok(Regex { pattern, captures }),
        }
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Regex {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let text = text(actual)?;
        // Whether there is a match is far cheaper to know than what it captured.
        if !self.pattern.is_match(text) {
            return Err(Mismatch::new(format_args!("no match for `{}`", self.pattern)));
        }
        if self.captures.is_empty() {
            return Ok(());
        }
        let Some(found) = self.pattern.captures(text) else { return Ok(()) };
        self.captures.iter().try_for_each(|(name, wanted)| compare(&found, name, wanted))
    }
}

fn compare(found: &Captures<'_>, name: &str, wanted: &str) -> Result<(), Mismatch> {
    match found.name(name).map(|capture| capture.as_str()) {
        Some(text) if text == wanted => Ok(()),
        Some(text) => Err(Mismatch::new(format_args!("the capture `{name}` differs")).expected(wanted).actual(text)),
        None => Err(Mismatch::new(format_args!("the capture `{name}` took no part in the match")).expected(wanted)),
    }
}

fn build(pattern: &str, flags: &str) -> Result<regex_engine::Regex, Failure> {
    if pattern.len() > LONGEST {
        return Err(Failure::invalid(format_args!("the pattern is longer than {LONGEST} bytes")));
    }
    let mut builder = RegexBuilder::new(pattern);
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            'm' => builder.multi_line(true),
            's' => builder.dot_matches_new_line(true),
            'x' => builder.ignore_whitespace(true),
            'U' => builder.swap_greed(true),
            _ => {
                return Err(Failure::invalid(format_args!("unknown flag `{flag}`: there are `i`, `m`, `s`, `x`, `U`")));
            }
        };
    }
    builder.build().map_err(Failure::invalid)
}

export_matcher!(Regex);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Regex>("cases.json");
    }
}
