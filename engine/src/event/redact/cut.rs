//! Halves of secrets beside a cut: long texts lose their middle before they get here, and a cut may go through a secret.

use super::REDACTED;

/// What stands where something was left out.
const CUT: char = '…';
/// Shorter pieces say too little, and turn up by chance.
const MIN_PIECE: usize = 4;

/// `text` without the starts of secrets before a cut and the ends of secrets after one; `None` if there are none.
pub(super) fn redact(text: &str, secrets: &[String]) -> Option<String> {
    if secrets.is_empty() || !text.contains(CUT) {
        return None;
    }
    let mut parts: Vec<String> = text.split(CUT).map(str::to_owned).collect();
    let (last, mut found) = (parts.len() - 1, false);
    for (index, part) in parts.iter_mut().enumerate() {
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

/// The length of the longest start of `secret` that `text` ends with.
fn start_at_end(text: &str, secret: &str) -> Option<usize> {
    let text = text.trim_end_matches(' ');
    let starts = secret.char_indices().skip(MIN_PIECE).map(|(index, _)| &secret[..index]);
    starts.filter(|start| text.ends_with(*start)).last().map(str::len)
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

    #[test]
    fn text_beside_a_cut_stays() {
        let redactor = Redactor::new(["tok-Zq81xYw2"]);
        let text = cut_middle(&"some words that are no secret at all ".repeat(9), 40);
        assert_eq!(redactor.text(&text), text);
    }
}
