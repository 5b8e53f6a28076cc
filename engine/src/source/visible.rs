//! Text of unknown origin, made safe to show: nothing a server sends may move the cursor, change colours or reorder a
//! line. What cannot be seen is written as an escape: `\n`, `\x1b`, `\u{202e}`.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` on one line, everything invisible escaped, line ends too. Joiners stay, because letters and emoji need them.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, is_harmless)
}

/// The lines of `text`, each [`visible`]; tabs stay what they look like, and a final line end starts no further line.
pub fn visible_lines(text: &str) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match escape(line, |character| character == '\t' || is_harmless(character)) {
            line if line.contains('\t') => Cow::Owned(line.replace('\t', "    ")),
            line => line,
        }
    })
}

/// Whether a character has no picture of its own, or changes that of others: controls, line and paragraph separators,
/// zero-width and bidirectional marks, tags, and what is no character at all.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character can be shown as it is; joiners can, because letters and emoji need them.
pub(crate) fn is_harmless(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}') || !is_invisible(character)
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&keep) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if keep(character) {
            shown.push(character);
        } else {
            push_escape(&mut shown, character);
        }
    }
    Cow::Owned(shown)
}

/// Appends the escape of a character.
pub fn push_escape(shown: &mut String, character: char) {
    let _ = match character {
        '\n' => shown.write_str("\\n"),
        '\r' => shown.write_str("\\r"),
        '\t' => shown.write_str("\\t"),
        '\0'..='\u{ff}' => write!(shown, "\\x{:02x}", u32::from(character)),
        _ => write!(shown, "\\u{{{:x}}}", u32::from(character)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_cannot_be_seen() {
        assert_eq!(
            visible("a\u{1b}[31mb\r\n\t\u{202e}c\u{200b}\u{85}"),
            "a\\x1b[31mb\\r\\n\\t\\u{202e}c\\u{200b}\\x85"
        );
    }

    #[test]
    fn leaves_plain_text_alone() {
        assert!(matches!(visible("née 日本語 👩\u{200d}🚀"), Cow::Borrowed(_)));
        assert!(matches!(visible("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn splits_lines_of_every_ending() {
        let lines: Vec<_> = visible_lines("a\tb\r\nc\x07\n\nd\n").collect();
        assert_eq!(lines, ["a    b", "c\\x07", "", "d"]);
    }
}
