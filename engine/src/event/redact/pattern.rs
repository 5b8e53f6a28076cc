//! The shapes in which a secret can stand in a text, as one regular expression per secret.
//!
//! A frame holds `pa"ss` as `pa\"ss`, JSON inside JSON as `pa\\\"ss`, a URL as `pa%22ss`, a basic-auth header in base64
//! at any of three alignments. So each character that an encoder may touch becomes the alternation of its forms, which
//! also covers encoders that differ in what they touch.

use super::MIN_CHARS;
use crate::source::Json;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;
use std::fmt::Write;

/// How many levels of JSON inside JSON an escape is followed through.
const JSON_LEVELS: usize = 3;
/// What an escape begins with there: each level doubles the backslashes.
const BACKSLASHES: &str = r"\\{1,8}";
/// Lines of a longer secret (a key file) may be logged one by one; shorter lines say nothing.
const MIN_LINE: usize = 16;
/// Longer secrets are looked for in pieces: one expression of many alternations would take seconds to compile.
const MAX_PIECE: usize = 400;

/// The values to look for: those that are long enough, without the white space around them, and the lines of long ones;
/// the longest first, so that a secret inside another leaves no rest.
pub(super) fn values<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for secret in secrets {
        let secret = secret.as_ref().trim();
        values.push(secret.to_owned());
        let lines = secret.lines().map(str::trim).filter(|line| line.chars().count() >= MIN_LINE);
        values.extend(lines.map(str::to_owned));
    }
    values.retain(|value| value.chars().count() >= MIN_CHARS);
    values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    values.dedup();
    values
}

/// The patterns of [`values`].
pub(super) fn compile(values: &[String]) -> Vec<Regex> {
    let pieces = values.iter().flat_map(|value| pieces(value));
    pieces.filter_map(|piece| shapes(&piece).or_else(|_| Regex::new(&regex::escape(&piece))).ok()).collect()
}

/// What may be cut in two: each value, escaped in JSON up to three times, and in base64.
pub(super) fn forms(values: &[String]) -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for value in values {
        let mut text = value.clone();
        for _ in 0..JSON_LEVELS {
            let written = Json::String(text.clone()).to_string();
            let escaped = written[1..written.len() - 1].to_owned();
            forms.push(std::mem::replace(&mut text, escaped));
        }
        forms.push(text);
        forms.extend(base64_shapes(value.as_bytes()));
    }
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// The secret, in as few pieces of about the same length as the limit allows.
fn pieces(secret: &str) -> Vec<String> {
    let characters: Vec<char> = secret.chars().collect();
    let number = characters.len().div_ceil(MAX_PIECE).max(1);
    let length = characters.len().div_ceil(number).max(1);
    characters.chunks(length).map(|piece| piece.iter().collect()).collect()
}

fn shapes(secret: &str) -> Result<Regex, regex::Error> {
    let mut pattern: String = secret.chars().map(character).collect();
    for shape in base64_shapes(secret.as_bytes()) {
        let _ = write!(pattern, "|{}", regex::escape(&shape));
    }
    Regex::new(&pattern)
}

/// The forms of one character: itself, escaped in JSON (once or deeper) or in a regex, percent-encoded.
fn character(character: char) -> String {
    let itself = regex::escape(&character.to_string());
    if character.is_ascii_alphanumeric() {
        return itself;
    }
    let mut forms = match character {
        '\\' => format!("(?:{BACKSLASHES}"),
        ' ' => r"(?: |\+".to_owned(),
        // In JSON before quotes and slashes, in a regex before whatever would mean something there.
        _ if character.is_ascii_punctuation() => format!("(?:(?:{BACKSLASHES})?{itself}"),
        _ => format!("(?:{itself}"),
    };
    if let Some(short) = short_escape(character) {
        let _ = write!(forms, "|{BACKSLASHES}{short}");
    }
    forms.push_str("|(?i:");
    for unit in character.encode_utf16(&mut [0; 2]) {
        let _ = write!(forms, "{BACKSLASHES}u{unit:04x}");
    }
    forms.push('|');
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        let _ = write!(forms, "%{byte:02x}");
    }
    forms.push_str("))");
    forms
}

/// The letter of a JSON escape such as `\n`.
fn short_escape(character: char) -> Option<char> {
    Some(match character {
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        _ => return None,
    })
}

/// What base64 makes of the secret when it starts 0, 1 or 2 bytes into a group of three; characters that also depend on
/// the neighbours are left out.
fn base64_shapes(secret: &[u8]) -> Vec<String> {
    let mut shapes = Vec::new();
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(secret);
        let (first, end) = ((offset * 8).div_ceil(6), bytes.len() * 8 / 6);
        for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            shapes.extend(text.get(first..end).map(str::to_owned));
        }
    }
    shapes.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    shapes.dedup();
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hides(secret: &str, text: &str) -> bool {
        compile(&values([secret])).iter().any(|pattern| pattern.is_match(text))
    }

    #[test]
    fn follows_a_secret_through_encoders() {
        let secret = "pä\"s/s\\w o\nrd😀&=";
        let once = serde_json::to_string(secret).unwrap();
        let twice = serde_json::to_string(&once).unwrap();
        let thrice = serde_json::to_string(&twice).unwrap();
        for text in [secret, &once, &twice, &thrice] {
            assert!(hides(secret, &format!("before {text} after")), "{text}");
        }
        assert!(hides(secret, r#"{"a":"p\u00E4\"s\/s\\w o\nrd\ud83d\ude00\u0026\u003d"}"#), "all of it escaped");
        assert!(hides(secret, "?q=p%C3%A4%22s%2fs%5Cw%20o%0Ard%F0%9F%98%80%26%3D"), "percent-encoded");
        assert!(hides(secret, "?q=p%C3%A4%22s%2Fs%5Cw+o%0ard%F0%9F%98%80%26%3D"), "form-encoded");
        assert!(!hides(secret, "pä\"s/s\\w o\nrd"));
    }

    #[test]
    fn finds_base64_at_every_alignment() {
        let secret = "tok?n~ÿ>1";
        for before in ["", "u", "us", "use", "user:"] {
            let plain = format!("{before}{secret}{before}");
            for text in [STANDARD_NO_PAD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                assert!(hides(secret, &format!("Basic {text}")), "{before} {text}");
            }
        }
    }

    #[test]
    fn lines_of_a_key_are_secrets_too() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nshort\n-----END KEY-----\n";
        assert!(hides(key, "MIIEvQIBADANBgkqhkiG9w0B"));
        assert!(hides(key, key.trim()));
        assert!(!hides(key, "short"));
    }

    #[test]
    fn nothing_is_left_of_an_enormous_secret() {
        let secret: String = (0..1500).map(|number| format!("{number}\u{e9}/\\")).collect();
        let text = serde_json::to_string(&secret).unwrap();
        let patterns = compile(&values([&secret]));
        let left = patterns.iter().fold(text, |text, pattern| pattern.replace_all(&text, "").into_owned());
        assert_eq!(left, "\"\"");
    }

    proptest! {
        #[test]
        fn whatever_the_secret_is_json_does_not_show_it(secret in "\\PC{6,30}|[ -~\\s]{6,30}", around in "\\PC{0,5}") {
            prop_assume!(secret.trim().chars().count() >= MIN_CHARS);
            let text = serde_json::to_string(&format!("{around}{secret}{around}")).unwrap();
            prop_assert!(hides(&secret, &text));
        }
    }
}
