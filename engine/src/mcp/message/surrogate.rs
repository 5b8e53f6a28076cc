//! Halves of surrogate pairs in JSON escapes: JavaScript servers send them when they cut a text in the middle of a
//! character, and no Unicode string can hold them.

/// The text with every lone surrogate escape replaced by `\ufffd`, which is as long; nothing if there is none.
pub(super) fn repair(text: &str) -> Option<String> {
    let lone = lone_surrogates(text.as_bytes());
    if lone.is_empty() {
        return None;
    }
    let mut repaired = String::with_capacity(text.len());
    let mut done = 0;
    for at in lone {
        repaired.push_str(text.get(done..at)?);
        repaired.push_str("\\ufffd");
        done = at + 6;
    }
    repaired.push_str(text.get(done..)?);
    Some(repaired)
}

fn lone_surrogates(text: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &text[at..]) {
        at += found;
        match escape(text, at) {
            Some(0xD800..=0xDBFF) => match escape(text, at + 6) {
                Some(0xDC00..=0xDFFF) => at += 12,
                _ => {
                    lone.push(at);
                    at += 6;
                }
            },
            Some(0xDC00..=0xDFFF) => {
                lone.push(at);
                at += 6;
            }
            Some(_) => at += 6,
            None => at = (at + 2).min(text.len()),
        }
    }
    lone
}

/// The code of a `\uXXXX` escape at this place.
fn escape(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)? as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_halves_become_replacement_characters() {
        let cases = [
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""\uDE00x""#, Some(r#""\ufffdx""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\n\ude00""#, Some(r#""\ufffd\n\ufffd""#)),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            (r#""\u00e9 \ud7ff \ue000""#, None),
            (r#""\u12"#, None),
            (r"\", None),
            (r#""\ud83dé""#, Some(r#""\ufffdé""#)),
        ];
        for (text, expected) in cases {
            assert_eq!(repair(text).as_deref(), expected, "{text}");
        }
    }
}
