//! The shapes in which a secret can stand in a text, as one regular expression per secret.
//!
//! A frame holds `pa"ss` as `pa\"ss`, JSON inside JSON as `pa\\\"ss`, a URL as `pa%22ss`, a basic-auth header in base64
//! at any of three alignments. So each character that an encoder may touch becomes the alternation of its forms, which
//! also covers encoders that differ in what they touch.

use super::MIN_CHARS;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::{Regex, RegexBuilder};
use std::fmt::Write;

/// How many levels of JSON inside JSON an escape is followed through: three double the backslashes three times.
const BACKSLASHES: &str = r"\\{1,8}";
/// Lines of a longer secret (a key file) may be logged one by one; shorter lines say nothing.
const MIN_LINE: usize = 16;
/// A long key compiles to more than the default limit.
const SIZE_LIMIT: usize = 1 << 28;

/// A pattern for each secret that is long enough, the longest first, so that a secret inside another leaves no rest.
pub(super) fn compile<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Vec<Regex> {
    let mut values: Vec<String> = Vec::new();
    for secret in secrets {
        let secret = secret.as_ref();
        values.push(secret.to_owned());
        values.push(secret.trim().to_owned());
        let lines = secret.lines().map(str::trim).filter(|line| line.chars().count() >= MIN_LINE);
        values.extend(lines.map(str::to_owned));
    }
    values.retain(|value| value.trim().chars().count() >= MIN_CHARS);
    values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    values.dedup();
    values.iter().filter_map(|value| shapes(value).or_else(|_| build(&regex::escape(value))).ok()).collect()
}

fn shapes(secret: &str) -> Result<Regex, regex::Error> {
    let mut pattern: String = secret.chars().map(character).collect();
    for shape in base64_shapes(secret.as_bytes()) {
        let _ = write!(pattern, "|{}", regex::escape(&shape));
    }
    build(&pattern)
}

fn build(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build()
}

/// The forms of one character: itself, escaped in JSON (once or deeper), percent-encoded.
fn character(character: char) -> String {
    let itself = regex::escape(&character.to_string());
    if character.is_ascii_alphanumeric() {
        return itself;
    }
    let mut forms = match character {
        '\\' => format!("(?:{BACKSLASHES}"),
        '"' | '/' => format!("(?:(?:{BACKSLASHES})?{itself}"),
        ' ' => r"(?: |\+".to_owned(),
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
