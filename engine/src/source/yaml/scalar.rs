//! Scalars of the YAML 1.2 core schema, tags, and the scanner's complaints in words for people.

use crate::diagnostic::Diagnostic;
use crate::source::Kind;
use serde_json::Number;

/// Why a scalar is refused.
#[derive(Debug)]
pub(super) enum Problem {
    /// A number that JSON cannot hold.
    Number(&'static str),
    /// A tag that is not of the core schema.
    Tag(String),
    /// A core tag on text of another kind: `!!int abc`.
    Mismatch(&'static str),
}

impl Problem {
    pub(super) fn unknown_tag(handle: &str, suffix: &str) -> Problem {
        Problem::Tag(match handle {
            "tag:yaml.org,2002:" => format!("!!{suffix}"),
            "" => suffix.to_owned(),
            _ => format!("{handle}{suffix}"),
        })
    }

    /// The diagnostic for `text`, without its place.
    pub(super) fn diagnostic(&self, text: &str) -> Diagnostic {
        match self {
            Problem::Number(why) => {
                let hint = "put it in quotes to mean the text; to send it as it stands, write the line with `raw`";
                Diagnostic::error(format!("`{}` {why}", shorten(text))).hint(hint)
            }
            Problem::Tag(tag) => Diagnostic::error(format!("unknown tag `{tag}`"))
                .hint("tags are not needed here; text that begins with `!` goes in quotes"),
            Problem::Mismatch(kind) => Diagnostic::error(format!("`{}` is not {kind}", shorten(text))),
        }
    }
}

type Resolved = Result<Option<Kind>, Problem>;

/// A plain scalar without a tag; `None` means text.
pub(super) fn core(text: &str) -> Resolved {
    let Some(first) = text.bytes().next() else { return Ok(Some(Kind::Null)) };
    match first {
        b'n' | b'N' | b'~' if matches!(text, "null" | "Null" | "NULL" | "~") => Ok(Some(Kind::Null)),
        b't' | b'T' if matches!(text, "true" | "True" | "TRUE") => Ok(Some(Kind::Bool(true))),
        b'f' | b'F' if matches!(text, "false" | "False" | "FALSE") => Ok(Some(Kind::Bool(false))),
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        _ => Ok(None),
    }
}

/// A scalar with a tag.
pub(super) fn tagged(text: &str, handle: &str, suffix: &str) -> Resolved {
    let wanted = match (handle, suffix) {
        ("tag:yaml.org,2002:", suffix) => suffix,
        ("", "!") => "str",
        _ => "",
    };
    match (wanted, core(text)) {
        ("str", _) => Ok(None),
        ("int" | "float", Err(problem)) => Err(problem),
        ("int" | "float", Ok(Some(kind @ Kind::Number(_)))) => Ok(Some(kind)),
        ("int" | "float", _) => Err(Problem::Mismatch("a number")),
        ("bool", Ok(Some(kind @ Kind::Bool(_)))) => Ok(Some(kind)),
        ("bool", _) => Err(Problem::Mismatch("a boolean")),
        ("null", Ok(Some(Kind::Null))) => Ok(Some(Kind::Null)),
        ("null", _) => Err(Problem::Mismatch("null")),
        _ => Err(Problem::unknown_tag(handle, suffix)),
    }
}

fn number(text: &str) -> Resolved {
    const WIDE: &str = "does not fit in 64 bits";
    let integer = |digits: &str, radix| match u64::from_str_radix(digits, radix) {
        Ok(value) => Ok(Some(Kind::Number(value.into()))),
        Err(_) => Err(Problem::Number(WIDE)),
    };
    let all = |digits: &str, test: fn(&u8) -> bool| !digits.is_empty() && digits.as_bytes().iter().all(test);
    if let Some(digits) = text.strip_prefix("0x").filter(|digits| all(digits, u8::is_ascii_hexdigit)) {
        return integer(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o").filter(|digits| all(digits, |byte| matches!(byte, b'0'..=b'7'))) {
        return integer(digits, 8);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if all(unsigned, u8::is_ascii_digit) {
        return match text.starts_with('-') {
            false => integer(unsigned, 10),
            true => {
                text.parse::<i64>().map(|value| Some(Kind::Number(value.into()))).map_err(|_| Problem::Number(WIDE))
            }
        };
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(Problem::Number("is a number that JSON does not have"));
    }
    if !is_float(unsigned) {
        return Ok(None);
    }
    let value = text.parse::<f64>().ok().and_then(Number::from_f64);
    value.map(|value| Some(Kind::Number(value))).ok_or(Problem::Number("is too large for a number"))
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let mut rest = &text[whole..];
    if let Some(after) = rest.strip_prefix('.') {
        let fraction = digits(after);
        if whole == 0 && fraction == 0 {
            return false;
        }
        rest = &after[fraction..];
    } else if whole == 0 {
        return false;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return rest.is_empty() };
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    !exponent.is_empty() && exponent.bytes().all(|byte| byte.is_ascii_digit())
}

/// The scanner's message and a hint; it complains about the byte `at` of `text`.
pub(super) fn explain(info: &str, text: &str, at: usize) -> (String, Option<String>) {
    let rest = &text[at..];
    let line = text[..at].rsplit('\n').next().unwrap_or("");
    let hint = if has_surrogate(rest) {
        "it has half of a surrogate pair, which stands for no character: the other half is missing".to_owned()
    } else if info.contains("mapping values are not allowed") && line.contains(": ") {
        "text that holds `: ` goes in quotes".to_owned()
    } else if info.contains("mapping values are not allowed") || info.contains("did not find expected key") {
        "look at the indentation of this line, and for a quote left open above it".to_owned()
    } else if info.contains("expected ','") && rest.starts_with(['[', '{']) && !line.ends_with([' ', ',']) {
        "within `{…}` and `[…]`, text that holds a bracket goes in quotes".to_owned()
    } else if info.contains("expected ','") || info.contains("illegal placement of ':'") {
        "a bracket is left open above this place, or text within brackets holds a bracket or comma and needs quotes"
            .to_owned()
    } else if info.contains("did not find expected '-' indicator") {
        "in a list every element begins with `- `, and what belongs to one stands further right than its dash"
            .to_owned()
    } else if info.contains("':' may not precede") {
        "within `{…}` and `[…]`, text that holds a bracket goes in quotes, as in `\"match:[a-z]+\"`".to_owned()
    } else if info.contains("unprintable") && rest.starts_with('\0') {
        "there is a NUL byte: if the file is UTF-16, save it as UTF-8".to_owned()
    } else if info.contains("unprintable") {
        "a control character is written as an escape in double quotes, as in `\"\\x07\"`".to_owned()
    } else if info.contains("tab") {
        "YAML indents with spaces".to_owned()
    } else if info.contains("unknown anchor") {
        "an anchor (`&name`) has to stand before the alias; text that begins with `*` goes in quotes".to_owned()
    } else if info.contains("quoted scalar") {
        "the text that begins here has no closing quote where it should end".to_owned()
    } else if rest.starts_with(['@', '`', '%', '&', '*', '!', '|', '>']) {
        "text that begins with this character goes in quotes".to_owned()
    } else {
        return (message(info), None);
    };
    (message(info), Some(hint))
}

fn message(info: &str) -> String {
    let info = info.trim_end_matches('.').replace("wasn't", "was not").replace('\'', "`");
    format!("not valid YAML: {info}")
}

/// Whether the quoted text at the start of a line has half of a surrogate pair of JSON.
fn has_surrogate(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    let units = line.match_indices("\\u").filter_map(|(at, _)| line.get(at + 2..at + 6));
    units.filter_map(|hex| u32::from_str_radix(hex, 16).ok()).any(|unit| (0xD800..0xE000).contains(&unit))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let json = |text: &str| {
            core(text)
                .map(|kind| kind.map(|kind| crate::source::Node::new(kind, Default::default()).to_json().to_string()))
        };
        let cases = [
            ("012", "12"),
            ("+5", "5"),
            ("-0", "0"),
            ("0x1F", "31"),
            ("0o17", "15"),
            (".5", "0.5"),
            ("1.", "1.0"),
            ("1e3", "1000.0"),
            ("-1.5E-2", "-0.015"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("TRUE", "true"),
            ("~", "null"),
            ("", "null"),
        ];
        for (text, expected) in cases {
            assert_eq!(json(text).expect(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "no",
            "yes",
            "on",
            "off",
            "1_000",
            "1:30",
            "2025-11-25",
            "0b1",
            "0x",
            "-",
            "+",
            ".",
            "1e",
            "e5",
            "-.e5",
            "0o8",
            "tRue",
            "1.2.3",
            "--1",
            "+0x1",
        ] {
            assert_eq!(json(text).expect(text), None, "{text}");
        }
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "123456789012345678901234567890",
            ".inf",
            "-.INF",
            ".nan",
            "1e400",
        ] {
            assert!(json(text).is_err(), "{text}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_explained() {
        assert!(has_surrogate(r#""x \ud83d""#) && !has_surrogate(r#""\u00e4 \\x \ué""#));
    }
}
