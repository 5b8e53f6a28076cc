//! The names of patterns, what people write instead, and how a good one looks.

use crate::diagnostic::did_you_mean;
use crate::matcher::words::Words;

/// Every pattern with an argument, by example; and those without.
const PATTERNS: [(&str, &str); 40] = [
    ("regex", "match:regex:^[a-z]+$"),
    ("contains", "match:contains:hello"),
    ("containsIgnoreCase", "match:containsIgnoreCase:hello"),
    ("startsWith", "match:startsWith:Hello"),
    ("endsWith", "match:endsWith:world"),
    ("equalsIgnoreCase", "match:equalsIgnoreCase:hello"),
    ("length", "match:length:5"),
    ("arrayLength", "match:arrayLength:3"),
    ("count", "match:count:2"),
    ("arrayContains", "match:arrayContains:name:echo"),
    ("type", "match:type:string"),
    ("exists", "match:exists"),
    ("stringLength", "match:stringLength:5"),
    ("stringLengthGreaterThan", "match:stringLengthGreaterThan:5"),
    ("stringLengthLessThan", "match:stringLengthLessThan:5"),
    ("stringLengthGreaterThanOrEqual", "match:stringLengthGreaterThanOrEqual:5"),
    ("stringLengthLessThanOrEqual", "match:stringLengthLessThanOrEqual:5"),
    ("stringLengthBetween", "match:stringLengthBetween:1:5"),
    ("stringEmpty", "match:stringEmpty"),
    ("stringNotEmpty", "match:stringNotEmpty"),
    ("greaterThan", "match:greaterThan:0"),
    ("greaterThanOrEqual", "match:greaterThanOrEqual:0"),
    ("lessThan", "match:lessThan:10"),
    ("lessThanOrEqual", "match:lessThanOrEqual:10"),
    ("between", "match:between:1:5"),
    ("range", "match:range:1:5"),
    ("equals", "match:equals:3"),
    ("notEquals", "match:notEquals:3"),
    ("approximately", "match:approximately:3.14:0.01"),
    ("multipleOf", "match:multipleOf:5"),
    ("divisibleBy", "match:divisibleBy:5"),
    ("decimalPlaces", "match:decimalPlaces:2"),
    ("dateAfter", "match:dateAfter:2024-01-31"),
    ("dateBefore", "match:dateBefore:2024-01-31"),
    ("dateEquals", "match:dateEquals:2024-01-31T12:00:00Z"),
    ("dateBetween", "match:dateBetween:2024-01-01:2024-12-31"),
    ("dateValid", "match:dateValid"),
    ("dateAge", "match:dateAge:1d"),
    ("dateFormat", "match:dateFormat:iso"),
    ("crossField", "match:crossField:start < end"),
];

const WITHOUT_ARGUMENT: [&str; 4] = ["exists", "stringEmpty", "stringNotEmpty", "dateValid"];

/// What people write who know other tools.
const ALIASES: [(&str, &str); 30] = [
    ("icontains", "containsIgnoreCase"),
    ("includes", "contains"),
    ("has", "contains"),
    ("substring", "contains"),
    ("contain", "contains"),
    ("matches", "regex"),
    ("pattern", "regex"),
    ("beginsWith", "startsWith"),
    ("begins", "startsWith"),
    ("prefix", "startsWith"),
    ("suffix", "endsWith"),
    ("size", "count"),
    ("hasLength", "length"),
    ("len", "length"),
    ("minLength", "stringLengthGreaterThanOrEqual"),
    ("maxLength", "stringLengthLessThanOrEqual"),
    ("gt", "greaterThan"),
    ("gte", "greaterThanOrEqual"),
    ("min", "greaterThanOrEqual"),
    ("lt", "lessThan"),
    ("lte", "lessThanOrEqual"),
    ("max", "lessThanOrEqual"),
    ("eq", "equals"),
    ("ne", "notEquals"),
    ("closeTo", "approximately"),
    ("approx", "approximately"),
    ("exist", "exists"),
    ("instanceOf", "type"),
    ("isType", "type"),
    ("typeof", "type"),
];

/// A name that was probably meant.
pub(super) struct Meant<'a> {
    /// As it was written.
    pub(super) typed: &'a str,
    pub(super) name: &'static str,
    /// Whether it was written as the opposite of the name: `notContains`.
    pub(super) negates: bool,
}

/// The pattern that a text calls, and its argument.
pub(super) fn called(words: &Words) -> Option<(&'static str, Words)> {
    let head = words.head();
    let typed = head.split(':').next()?;
    let (name, _) = PATTERNS.iter().find(|(name, _)| *name == typed.trim_end())?;
    match words.after(&format!("{name}:")) {
        Some(argument) => Some((name, argument)),
        None if WITHOUT_ARGUMENT.contains(name) && words.plain().trim_end() == *name => Some((name, words.clone())),
        None => None,
    }
}

/// What the words of `arrayLengthGreaterThan` and its like mean here; the family compares no lengths of lists.
const COMPARED: [(&str, &str); 10] = [
    ("greaterthan", "$gt"),
    ("gt", "$gt"),
    ("min", "$gte"),
    ("greaterthanorequal", "$gte"),
    ("gte", "$gte"),
    ("lessthan", "$lt"),
    ("lt", "$lt"),
    ("max", "$lte"),
    ("lessthanorequal", "$lte"),
    ("lte", "$lte"),
];

/// A comparison of the length of a list, which only a matcher of ours makes: what was typed, and how it is written.
pub(super) fn compared_length(text: &str) -> Option<(&str, String)> {
    let (typed, rest) = text.split_once(':').unwrap_or((text, ""));
    let folded: String = typed.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect::<String>().to_lowercase();
    let of_list = ["arraylength", "arraysize", "arraycount", "array", "length", "count", "size"];
    let word = of_list.iter().find_map(|prefix| folded.strip_prefix(prefix))?;
    let said = match (word, rest.trim().split_once(':')) {
        ("between" | "range", Some((low, high))) => format!("$length: {{ $between: [{low}, {high}] }}"),
        ("empty" | "isempty", None) => "$empty: true".to_owned(),
        ("notempty" | "isnotempty", None) => "$empty: false".to_owned(),
        (word, None) if rest.trim().parse::<u64>().is_ok() => {
            let word = word.strip_suffix("length").unwrap_or(word);
            let (_, sign) = COMPARED.iter().find(|(name, _)| *name == word)?;
            format!("$length: {{ {sign}: {} }}", rest.trim())
        }
        _ => return None,
    };
    Some((typed, said))
}

/// A name near the one that bare text begins with.
///
/// The rule: one word, at least two letters, up to a colon that is not followed by a space or the end (`Total: 5` is
/// prose); or, without any colon, the whole text near a pattern that takes no argument, or a name that takes one. A word
/// with `_` or `-` in it must be a name but for these.
pub(super) fn meant(text: &str) -> Option<Meant<'_>> {
    let (typed, rest) = match text.split_once(':') {
        Some((typed, rest)) => (typed, Some(rest)),
        None => (text, None),
    };
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '/'])) {
        return None;
    }
    let word = typed.trim();
    let plain = word.chars().all(|c| c.is_ascii_alphabetic());
    let folded: String = word.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    if folded.len() < 2 || !folded.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let all = || PATTERNS.iter().map(|(name, _)| *name);
    let found = |name| Some(Meant { typed, name, negates: false });
    if let Some(name) = opposite(&folded).filter(|name| rest.is_some() || !takes_argument(name)) {
        return Some(Meant { typed, name, negates: name != "stringNotEmpty" });
    }
    match rest {
        Some(_) => match known(&folded) {
            Some(name) => found(name),
            None if plain => near(word, &mut all()).or_else(|| (word == "no").then_some("not")).and_then(found),
            None => None,
        },
        None if !plain => None,
        None => {
            all().find(|name| *name == word).or_else(|| near(word, &mut WITHOUT_ARGUMENT.into_iter())).and_then(found)
        }
    }
}

/// A name or an alias, in any case.
fn known(word: &str) -> Option<&'static str> {
    let alias = || ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(word)).map(|(_, name)| *name);
    PATTERNS.iter().map(|(name, _)| *name).find(|name| name.eq_ignore_ascii_case(word)).or_else(alias)
}

/// The name whose opposite a word is: `notContains`, `doesNotContain`.
fn opposite(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let rest = ["doesnot", "isnot", "not"].iter().find_map(|prefix| lower.strip_prefix(prefix))?;
    match rest {
        "empty" => Some("stringNotEmpty"),
        "equal" | "equals" => None,
        rest => known(rest),
    }
}

/// Short words are near to too much: they must begin alike.
fn near(typed: &str, names: &mut dyn Iterator<Item = &'static str>) -> Option<&'static str> {
    let near = did_you_mean(typed, names)?;
    (typed.len() > 4 || near.get(..2) == typed.get(..2)).then_some(near)
}

pub(super) fn takes_argument(name: &str) -> bool {
    !WITHOUT_ARGUMENT.contains(&name)
}

/// A text that calls a pattern, but for the `match:` before it, or for how that is spelt: how it is written.
pub(in crate::matcher) fn without_prefix(text: &str) -> Option<String> {
    let (first, rest) = text.split_once(':')?;
    let calls = |text: &str| {
        let text = text.strip_prefix("not:").unwrap_or(text);
        text.split_once(':')
            .is_some_and(|(name, argument)| is_known(name) && !argument.is_empty() && !argument.starts_with(' '))
    };
    if calls(text) {
        return Some(format!("match:{text}"));
    }
    let prefix = first != "match" && (first == "matches" || did_you_mean(first, ["match"]).is_some());
    (prefix && calls(rest)).then(|| format!("match:{rest}"))
}

pub(super) fn is_known(name: &str) -> bool {
    PATTERNS.iter().any(|(known, _)| *known == name)
}

/// How a good pattern of this name looks.
pub(super) fn example(name: &str) -> &'static str {
    PATTERNS.iter().find(|(known, _)| *known == name).map_or("match:contains:hello", |(_, example)| example)
}

/// Every name, for tests that must cover them all.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().map(|(name, _)| *name)
}
