//! Texts that a pattern matches, made from the pattern itself.
//!
//! ```text
//! ^[A-Z]{2,3}-\d{4}$    AA-1111
//! ^(red|blue)$          red
//! ```

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Longer than any argument that a person would read.
const MOST: usize = 4096;
/// What stands for a class of characters, the first that belongs to it.
const PREFERRED: [char; 6] = ['a', 'A', '1', '0', '-', '_'];

/// A text of at least `least` characters, where the pattern has room for so many; `None` for a pattern that only other
/// engines read, and for one that needs a longer text than anybody wants.
pub(super) fn matching(pattern: &str, least: usize) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let shortest = Text::of(&hir, 0)?;
    match least.saturating_sub(shortest.chars().count()) {
        0 => Some(shortest),
        missing => Text::of(&hir, missing),
    }
}

struct Text {
    made: String,
    /// How many characters may still be repeated beyond the least that the pattern asks for.
    missing: usize,
}

impl Text {
    fn of(hir: &Hir, missing: usize) -> Option<String> {
        let mut text = Text { made: String::new(), missing };
        text.put(hir)?;
        Some(text.made)
    }

    fn put(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.made.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => self.made.push(member(class)?),
            HirKind::Repetition(repetition) => self.repeat(repetition)?,
            HirKind::Capture(capture) => self.put(&capture.sub)?,
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.put(part))?,
            HirKind::Alternation(options) => self.put(options.first()?)?,
        }
        (self.made.len() <= MOST).then_some(())
    }

    fn repeat(&mut self, repetition: &Repetition) -> Option<()> {
        let mut count = 0;
        let most = repetition.max.unwrap_or(u32::MAX);
        while count < repetition.min || (self.missing > 0 && count < most) {
            let before = self.made.chars().count();
            self.put(&repetition.sub)?;
            let more = self.made.chars().count() - before;
            if count >= repetition.min {
                self.missing = self.missing.saturating_sub(more);
            }
            count += 1;
            if more == 0 {
                break;
            }
        }
        Some(())
    }
}

/// A character of a class: one that reads well, else the first that can be seen, else the first.
fn member(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect(),
    };
    let has = |wanted: &char| ranges.iter().any(|(first, last)| (first..=last).contains(&wanted));
    let visible = || ('!'..='~').find(has);
    PREFERRED.into_iter().find(has).or_else(visible).or_else(|| ranges.first().map(|(first, _)| *first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_say_what_they_match() {
        for (pattern, least, expected) in [
            (r"^[A-Z]{2,3}-\d{4}$", 0, "AA-1111"),
            ("^(red|blue)$", 0, "red"),
            ("^proj_[^_]+$", 12, "proj_aaaaaaa"),
            (r"^\+[1-9]\d{1,14}$", 0, "+11"),
            ("(^$)*", 5, ""),
        ] {
            assert_eq!(matching(pattern, least).as_deref(), Some(expected), "{pattern}");
        }
        assert_eq!(matching("^a{1000}$", 0).map(|text| text.len()), Some(1000));
        for pattern in ["(?=a)a", "a{1000}{1000}", "("] {
            assert_eq!(matching(pattern, 0), None, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn what_is_made_is_matched(pattern in r"\^([a-z]|\[[a-f]-[g-z]\]|\\d|\\w|\(a\|bc\)|[A-Z]\+|x\*|y\?|\[\^a\]\{2,5\}){0,8}\$", least in 0usize..10) {
            let made = matching(&pattern, least).expect("it is read");
            let read = regex::Regex::new(&pattern).expect("a pattern");
            prop_assert!(read.is_match(&made), "{} {}", pattern, made);
        }
    }
}
