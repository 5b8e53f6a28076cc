//! Values cut to a size that a person reads and a report can carry.

use crate::source::Json;
use serde_json::Map;

/// Characters of one text that are kept.
const TEXT: usize = 1200;
/// Values (elements, members, scalars) that are kept.
const VALUES: usize = 120;
/// Characters over all texts and keys that are kept.
const TOTAL: usize = 4000;
/// Levels that are kept.
const DEPTH: usize = 12;

/// The value, or as much of it as is worth showing, with a note where something was cut.
pub(crate) fn bounded(value: &Json) -> Json {
    Budget { values: VALUES, characters: TOTAL }.take(value, 0)
}

struct Budget {
    values: usize,
    characters: usize,
}

impl Budget {
    fn take(&mut self, value: &Json, depth: usize) -> Json {
        self.values = self.values.saturating_sub(1);
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => {
                let mut kept = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    if self.spent(depth) {
                        kept.push(Json::String(format!("… {} more", items.len() - at)));
                        break;
                    }
                    kept.push(self.take(item, depth + 1));
                }
                Json::Array(kept)
            }
            Json::Object(members) => {
                let mut kept = Map::new();
                for (at, (key, member)) in members.iter().enumerate() {
                    if self.spent(depth) {
                        kept.insert("…".into(), Json::String(format!("{} more", members.len() - at)));
                        break;
                    }
                    kept.insert(self.text(key), self.take(member, depth + 1));
                }
                Json::Object(kept)
            }
            scalar => scalar.clone(),
        }
    }

    fn spent(&self, depth: usize) -> bool {
        self.values == 0 || self.characters == 0 || depth >= DEPTH
    }

    fn text(&mut self, text: &str) -> String {
        let room = TEXT.min(self.characters.max(20));
        let kept = cut(text, room);
        self.characters = self.characters.saturating_sub(kept.len());
        kept
    }
}

/// At most about `room` characters of a text, with a note of how many were cut.
pub(super) fn cut(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    match text.char_indices().nth(room) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… ({} more characters)", &text[..at], text[at..].chars().count()),
    }
}

/// Text in quotes, with what cannot be seen written as an escape; single quotes where that saves escapes.
pub(super) fn quote(text: &str) -> String {
    let mark = if text.contains('"') && !text.contains('\'') { '\'' } else { '"' };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(mark);
    for c in text.chars() {
        match c {
            c if c == mark || c == '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // A joiner is part of many a letter and emoji; alone it would hide.
            '\u{200d}' => quoted.push(c),
            c if is_invisible(c) => quoted.extend(c.escape_unicode()),
            c => quoted.push(c),
        }
    }
    quoted.push(mark);
    quoted
}

/// Whether a character has no picture of its own, or looks like a plain space and is none.
pub(super) fn is_invisible(c: char) -> bool {
    c.is_control()
        || c.is_whitespace() && c != ' '
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A value in one line of at most about `room` characters, for a sentence.
pub(crate) fn inline(value: &Json, room: usize) -> String {
    let text = match value {
        Json::String(text) => quote(&cut(text, room)),
        Json::Array(items) if items.len() > 8 => format!("a list of {}", items.len()),
        Json::Object(members) if members.len() > 8 => format!("an object with {} keys", members.len()),
        other => bounded(other).to_string(),
    };
    if text.chars().count() > room + 24 {
        let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
        return format!("{}…", &text[..end]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn small_values_stay_whole() {
        let value = json!({"a": [1, "two", null], "b": {"c": 1.5}});
        assert_eq!(bounded(&value), value);
    }

    #[test]
    fn large_values_are_cut_with_a_note() {
        let value = json!({"list": vec![7; 100_000], "text": "ä".repeat(100_000)});
        let kept = bounded(&value).to_string();
        assert!(kept.len() < 10_000, "{}", kept.len());
        assert!(kept.contains("more"));
        let many: Json = (0..1000).map(|n| (format!("key{n}"), json!("x".repeat(5000)))).collect::<Map<_, _>>().into();
        assert!(bounded(&many).to_string().len() < 20_000);
    }
}
