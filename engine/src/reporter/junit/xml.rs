//! XML that parses, whatever the strings in it are.
//!
//! XML 1.0 allows no control characters, no U+FFFE and no U+FFFF, not even as references. They are written as visible
//! escapes (`\x1b`), so that a report shows them and a parser accepts it; so is what else cannot be seen, because these
//! texts end up on a page.

use crate::reporter::visible::{is_invisible, push_escape};
use std::fmt::{self, Display};

/// Text between tags.
pub(super) struct Text<'a>(pub(super) &'a str);

/// Text between the quotes of an attribute; parsers would turn its tabs and line ends into spaces.
pub(super) struct Attribute<'a>(pub(super) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.0, formatter, |character| character == '\r')
    }
}

impl Display for Attribute<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.0, formatter, |character| matches!(character, '\t' | '\n' | '\r'))
    }
}

fn escape(text: &str, formatter: &mut fmt::Formatter<'_>, as_reference: impl Fn(char) -> bool) -> fmt::Result {
    let mut written = 0;
    let mut escaped = String::new();
    for (index, character) in text.char_indices() {
        escaped.clear();
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ if as_reference(character) => escaped = format!("&#{};", u32::from(character)),
            '\t' | '\n' => continue,
            _ if is_invisible(character) => push_escape(&mut escaped, character),
            _ => continue,
        }
        formatter.write_str(&text[written..index])?;
        formatter.write_str(&escaped)?;
        written = index + character.len_utf8();
    }
    formatter.write_str(&text[written..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_markup_and_what_xml_has_no_room_for() {
        let text = "a<b>&\"]]>\0\x1b[0m\u{fffe}\u{ffff}\u{85}é😀\r\n\t";
        assert_eq!(
            Text(text).to_string(),
            "a&lt;b&gt;&amp;&quot;]]&gt;\\x00\\x1b[0m\\u{fffe}\\u{ffff}\\x85é😀&#13;\n\t"
        );
        assert!(Attribute(text).to_string().ends_with("😀&#13;&#10;&#9;"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_stays_inside_its_place(text in proptest::prelude::any::<String>()) {
            let allowed = |character: char| {
                // The `Char` production of XML 1.0.
                matches!(character, '\t' | '\n' | '\r' | '\x20'..='\u{fffd}' | '\u{10000}'..) && !"<>\"".contains(character)
            };
            let references = regex::Regex::new("&(?:(?:amp|lt|gt|quot|#[0-9]+);)?").unwrap();
            for written in [Text(&text).to_string(), Attribute(&text).to_string()] {
                proptest::prop_assert!(written.chars().all(allowed), "{written:?}");
                proptest::prop_assert!(references.find_iter(&written).all(|found| found.len() > 1), "{written:?}");
            }
        }
    }
}
