//! Which tests of the suites are wanted: by name, by tag, by `only`.

use crate::event::Test;
use crate::suite::Case;
use regex::Regex;

/// What was asked for on the command line.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// `--filter`: any of these matches the test's id, or its name as reports show it.
    pub names: Vec<Pattern>,
    /// `--tag`: the test has one of these.
    pub tags: Vec<String>,
    /// `--skip-tag`: the test has none of these.
    pub skip_tags: Vec<String>,
}

/// One `--filter`: a part of the id or the name, whatever its case, or `/regex/` (`/regex/i`).
#[derive(Debug, Clone)]
pub enum Pattern {
    /// A part of it.
    Part(String),
    /// A regex on it.
    Regex(Regex),
}

impl Pattern {
    /// Reads a `--filter` argument.
    pub fn parse(text: &str) -> Result<Pattern, regex::Error> {
        let regex = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        match regex {
            Some((body, flags)) if flags.chars().all(|c| c == 'i') => {
                Regex::new(&if flags.is_empty() { body.to_owned() } else { format!("(?i){body}") }).map(Pattern::Regex)
            }
            _ => Ok(Pattern::Part(text.to_lowercase())),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Part(part) => text.to_lowercase().contains(part),
            Pattern::Regex(regex) => regex.is_match(text),
        }
    }
}

impl Filter {
    /// Whether a test is wanted.
    pub fn wants(&self, test: &Test, case: &Case) -> bool {
        let has = |tags: &[String]| tags.iter().any(|tag| case.tags.contains(tag));
        self.names(test) && (self.tags.is_empty() || has(&self.tags)) && !has(&self.skip_tags)
    }

    /// Whether lanes that cannot run are still worth a word: only when nothing narrows the run by tag.
    pub fn wants_lane(&self, test: &Test) -> bool {
        self.tags.is_empty() && self.names(test)
    }

    /// The id of a row holds the name as it is written, `adds ${a}[2]`, and reports show it filled in.
    fn names(&self, test: &Test) -> bool {
        let names = |pattern: &Pattern| pattern.matches(&test.id) || pattern.matches(&test.name);
        self.names.is_empty() || self.names.iter().any(names)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn filters_are_parts_or_regexes() {
        assert!(Pattern::parse("Echo").unwrap().matches("a.yml#tools/it echoes"));
        assert!(!Pattern::parse("sum").unwrap().matches("a.yml#tools/it echoes"));
        assert!(Pattern::parse("/ECHO(es)?$/i").unwrap().matches("a.yml#tools/it echoes"));
        assert!(!Pattern::parse("/ECHO/").unwrap().matches("a.yml#tools/it echoes"));
        assert!(Pattern::parse("/(/").is_err());
    }
}
