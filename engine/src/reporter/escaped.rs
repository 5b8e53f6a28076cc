//! JSON in which nothing hides: what has no picture of its own, or changes that of its neighbours, is written as
//! `\u202e`. The value is the same; a terminal or an editor that shows the file is not fooled.

use super::visible::is_harmless;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::io::{self, Write};

/// Writes a value as compact JSON.
pub(super) fn write(output: impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(output, Escaped))
}

struct Escaped;

impl Formatter for Escaped {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, output: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        // Of ASCII only DEL is left: the other controls are escapes already.
        while let Some(at) = rest.find(|c: char| (c == '\x7f' || !c.is_ascii()) && !is_harmless(c)) {
            CompactFormatter.write_string_fragment(output, &rest[..at])?;
            let hidden = rest[at..].chars().next().unwrap_or_default();
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(output, "\\u{unit:04x}")?;
            }
            rest = &rest[at + hidden.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(output, rest)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn what_hides_is_an_escape_and_the_value_stays() {
        let value = json!({"\u{9b}31m": "a\u{202e}b\u{7f}é日👩\u{200d}🚀\u{e0041}\n", "n": [1, null]});
        let mut text = Vec::new();
        super::write(&mut text, &value).expect("it can be written");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text, "{\"\\u009b31m\":\"a\\u202eb\\u007fé日👩\u{200d}🚀\\udb40\\udc41\\n\",\"n\":[1,null]}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }
}
