//! Characters that a reader takes for each other: a letter of another script, a curly quote, `é` in one character and in
//! two. Two texts that part at one of them are told apart by its number.

/// Characters on either side that must agree for two texts to look alike.
const AROUND: usize = 20;
/// How much of that must agree.
const ALIKE: f64 = 0.5;

/// What stands at the place where two texts part, when a reader may not see it.
pub(super) fn hint(expected: &str, actual: &str) -> Option<String> {
    let common = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let rest = |text: &str, from: usize| text.chars().skip(from).take(2 * AROUND).collect::<Vec<char>>();
    let joined = |text: &str| rest(text, common).first().is_some_and(|c| is_mark(*c));
    // A mark belongs to the character before it.
    let at = if common > 0 && (joined(expected) || joined(actual)) { common - 1 } else { common };
    let (a, b) = (rest(expected, at), rest(actual, at));
    let (left, right) = (cluster(&a)?, cluster(&b)?);
    let marked = left.len() != right.len();
    let foreign = left[0].is_ascii() != right[0].is_ascii();
    let around = |text: &str| text.chars().skip(at.saturating_sub(AROUND)).take(2 * AROUND).collect::<String>();
    let alike = || strsim::normalized_levenshtein(&around(expected), &around(actual)) >= ALIKE;
    (marked || foreign && alike())
        .then(|| format!("character {} is {}, expected {}", at + 1, numbered(right), numbered(left)))
}

/// A character with its marks.
fn cluster(text: &[char]) -> Option<&[char]> {
    text.first().filter(|c| !is_mark(**c) && !c.is_whitespace() && !c.is_control())?;
    let marks = text[1..].iter().take_while(|c| is_mark(**c)).count();
    Some(&text[..=marks])
}

fn numbered(cluster: &[char]) -> String {
    let numbers: Vec<String> = cluster.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect();
    format!("`{}` ({})", cluster.iter().collect::<String>(), numbers.join(" "))
}

/// Whether a character is drawn over the one before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn what_looks_the_same_is_numbered() {
        let said = |a: &str, b: &str| hint(a, b).unwrap_or_default();
        assert_eq!(said("café", "cafe\u{301}"), "character 4 is `e\u{301}` (U+0065 U+0301), expected `é` (U+00E9)");
        assert_eq!(said("cafe\u{301}", "cafe"), "character 4 is `e` (U+0065), expected `e\u{301}` (U+0065 U+0301)");
        assert_eq!(said("paypal", "p\u{430}ypal"), "character 2 is `\u{430}` (U+0430), expected `a` (U+0061)");
        assert_eq!(said("it's done", "it’s done"), "character 3 is `’` (U+2019), expected `'` (U+0027)");
    }

    #[test]
    fn plain_differences_are_not() {
        for (a, b) in
            [("hello", "hallo"), ("hello", "日本語のテキスト"), ("大阪", "東京"), ("a", ""), ("a", "a b"), ("", "é")]
        {
            assert_eq!(hint(a, b), None, "{a} {b}");
        }
    }
}
