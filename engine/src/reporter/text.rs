//! Small pieces of text that several reporters show alike: durations, counts, cuts.

use super::visible::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A duration for people: `0.4ms`, `340ms`, `12.3s`, `2m 5s`, `1h 2m`.
pub fn duration(ms: f64) -> String {
    let ms = if ms.is_finite() { ms.max(0.0) } else { 0.0 };
    match ms {
        _ if ms < 9.95 => format!("{ms:.1}ms"),
        _ if ms < 999.5 => format!("{ms:.0}ms"),
        _ if ms < 59_950.0 => format!("{:.1}s", ms / 1000.0),
        _ => {
            let seconds = (ms / 1000.0).round() as u64;
            match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
                (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
                (hours, minutes, _) => format!("{hours}h {minutes}m"),
            }
        }
    }
}

/// `1 test`, `2 tests`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A word for a shell, quoted when it needs to be.
pub fn shell(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", visible(word).replace('\'', r"'\''"))
}

/// How many columns `text` takes on a terminal.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// The longest start of `text` that fits `width` columns, with `…` where something is missing.
pub fn fit(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|character| {
        used += character.width().unwrap_or(0);
        used <= width
    });
    let mut fitted: String = kept.collect();
    if width > 0 {
        fitted.push('…');
    }
    fitted
}

/// `text` in rows of at most `width` columns, broken after a comma or a space where one is near: made for frames.
pub fn rows(text: &str, width: usize) -> Vec<&str> {
    let width = width.max(2);
    let (mut rows, mut rest) = (Vec::new(), text);
    while let Some(end) = overflow(rest, width) {
        let near = rest[..end].rfind([',', ' ']).map(|index| index + 1).filter(|index| *index > end / 2);
        let (row, after) = rest.split_at(near.unwrap_or(end));
        rows.push(row);
        rest = after;
    }
    rows.push(rest);
    rows
}

/// Where `text` leaves `width` columns, if it does.
fn overflow(text: &str, width: usize) -> Option<usize> {
    let mut used = 0;
    let outside = |(_, character): &(usize, char)| {
        used += character.width().unwrap_or(0);
        used > width
    };
    text.char_indices().find(outside).map(|(index, _)| index)
}

/// `text` with its middle replaced by a note when it is longer than `limit` characters.
pub fn cut_middle(text: &str, limit: usize) -> String {
    // Bytes are at least as many as characters, so most texts are settled without counting.
    if text.len() <= limit {
        return text.to_owned();
    }
    let total = text.chars().count();
    if total <= limit {
        return text.to_owned();
    }
    let (front, back) = (limit.div_ceil(2), limit / 2);
    let at = |number: usize| text.char_indices().nth(number).map_or(text.len(), |(index, _)| index);
    format!("{} … {} characters … {}", &text[..at(front)], total - limit, &text[at(total - back)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_change_unit_without_odd_steps() {
        let cases = [
            (0.0, "0.0ms"),
            (0.44, "0.4ms"),
            (1.24, "1.2ms"),
            (9.96, "10ms"),
            (340.4, "340ms"),
            (999.7, "1.0s"),
            (12_345.0, "12.3s"),
            (59_960.0, "1m 0s"),
            (125_000.0, "2m 5s"),
            (3_720_000.0, "1h 2m"),
            (-1.0, "0.0ms"),
            (f64::NAN, "0.0ms"),
        ];
        for (ms, expected) in cases {
            assert_eq!(duration(ms), expected, "{ms}");
        }
    }

    #[test]
    fn fits_by_columns_not_characters() {
        assert_eq!(fit("plain", 5), "plain");
        assert_eq!(fit("plainer", 5), "plai…");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn rows_keep_every_character() {
        assert_eq!(rows("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(rows("日本語", 5), ["日本", "語"]);
        assert_eq!(rows("", 5), [""]);
        assert_eq!(rows(r#"{"id":1,"method":"ping"}"#, 12), [r#"{"id":1,"#, r#""method":"pi"#, r#"ng"}"#]);
    }

    #[test]
    fn cuts_in_the_middle() {
        assert_eq!(cut_middle("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut_middle("abcdefghij", 4), "ab … 6 characters … ij");
        assert_eq!(cut_middle("ééééé", 5), "ééééé");
    }
}
