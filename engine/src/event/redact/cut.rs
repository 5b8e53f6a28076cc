//! Halves of secrets beside a cut: long texts lose their middle before they get here, and a cut may go through a secret.

use super::REDACTED;

/// What stands where something was left out.
const CUT: char = '…';
/// Shorter pieces say too little, and turn up by chance.
const MIN_PIECE: usize = 4;

/// `text` without the starts of secrets before a cut, the ends of secrets after one and their middles between two;
/// `None` if there are none.
pub(super) fn redact(text: &str, secrets: &[String]) -> Option<String> {
    if secrets.is_empty() || !text.contains(CUT) {
        return None;
    }
    let mut parts: Vec<String> = text.split(CUT).map(str::to_owned).collect();
    let (last, mut found) = (parts.len() - 1, false);
    for (index, part) in parts.iter_mut().enumerate() {
        if index > 0 && index < last && is_middle(part.trim_matches(' '), secrets) {
            *part = REDACTED.to_owned();
            found = true;
            continue;
        }
        let before_cut = (index < last).then(|| longest(secrets, |secret| start_at_end(part, secret))).flatten();
        if let Some(length) = before_cut {
            let end = part.trim_end_matches(' ').len();
            part.replace_range(end - length..end, REDACTED);
            found = true;
        }
        let after_cut = (index > 0).then(|| longest(secrets, |secret| end_at_start(part, secret))).flatten();
        if let Some(length) = after_cut {
            let start = part.len() - part.trim_start_matches(' ').len();
            part.replace_range(start..start + length, REDACTED);
            found = true;
        }
    }
    found.then(|| parts.join("…"))
}

fn longest(secrets: &[String], piece: impl Fn(&str) -> Option<usize>) -> Option<usize> {
    secrets.iter().filter_map(|secret| piece(secret)).max()
}

fn is_middle(text: &str, secrets: &[String]) -> bool {
    text.chars().nth(MIN_PIECE - 1).is_some() && secrets.iter().any(|secret| secret.contains(text))
}

/// The length of the longest start of `secret` that `text` ends with.
fn start_at_end(text: &str, secret: &str) -> Option<usize> {
    let text = text.trim_end_matches(' ');
    let ends = secret.char_indices().skip(MIN_PIECE).map(|(index, _)| index).chain([secret.len()]);
    ends.map(|end| &secret[..end]).filter(|start| text.ends_with(*start)).last().map(str::len)
}

/// The length of the longest end of `secret` that `text` starts with.
fn end_at_start(text: &str, secret: &str) -> Option<usize> {
    let text = text.trim_start_matches(' ');
    let ends = secret.char_indices().rev().skip(MIN_PIECE - 1).map(|(index, _)| &secret[index..]);
    ends.filter(|end| text.starts_with(*end)).last().map(str::len)
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use crate::reporter::text::cut_middle;

    #[test]
    fn no_cut_leaves_half_a_secret() {
        let secret = "tok-Zq81xYw2";
        let redactor = Redactor::new([secret]);
        let text = format!("the token is {secret} here, and once more it is {secret} there");
        for limit in 0..text.len() {
            let shown = redactor.text(&cut_middle(&text, limit)).into_owned();
            for start in 0..secret.len() - 4 {
                assert!(!shown.contains(&secret[start..start + 5]), "{limit}: {shown}");
            }
        }
    }

    /// What is left of `secret` in `shown`: its longest part.
    fn left(secret: &str, shown: &str) -> usize {
        let starts = (0..secret.len()).filter(|start| secret.is_char_boundary(*start));
        let longest = |start: usize| {
            let ends = (start..=secret.len()).filter(|end| secret.is_char_boundary(*end));
            ends.filter(|end| shown.contains(&secret[start..*end])).map(|end| end - start).max().unwrap_or(0)
        };
        starts.map(longest).max().unwrap_or(0)
    }

    #[test]
    fn no_cut_leaves_much_of_a_long_secret() {
        let secret: String = (0..160).map(|number| format!("{:x}.", number * 7919)).collect();
        let redactor = Redactor::new([&secret]);
        let text = format!("the token is {secret} here, and then it goes on for some time: {}", "word ".repeat(200));
        for limit in [300, 500, 700, 900, 1100] {
            let short = format!("{}…", &text[..limit]);
            for cut in [cut_middle(&text, limit), short, format!("…{}…", &text[limit / 2..limit])] {
                let shown = redactor.text(&cut);
                assert!(left(&secret, &shown) < 8, "{limit}: {shown}");
            }
        }
    }

    #[test]
    fn no_cut_leaves_half_of_what_json_escapes_and_base64_hides() {
        use base64::Engine as _;
        let secret = r#"k3y"with\quotes"and-more-98765"#;
        let redactor = Redactor::new([secret]);
        let once = serde_json::to_string(secret).unwrap();
        let twice = serde_json::to_string(&once).unwrap();
        let coded = base64::engine::general_purpose::STANDARD.encode(format!("user:{secret}"));
        for written in [&once, &twice, &coded] {
            let text = format!("the token is {written} here");
            for limit in 20..text.len() - 5 {
                let shown = redactor.text(&cut_middle(&text, limit)).into_owned();
                // What a group of base64 shares with the user's name is no part of any shape.
                assert!(left(written, &shown) <= 12, "{limit}: {shown}");
            }
        }
    }

    #[test]
    fn text_beside_a_cut_stays() {
        let redactor = Redactor::new(["tok-Zq81xYw2"]);
        let text = cut_middle(&"some words that are no secret at all ".repeat(9), 40);
        assert_eq!(redactor.text(&text), text);
    }
}
