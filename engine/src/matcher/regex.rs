//! `$regex`: patterns in JavaScript's syntax, linear in time unless they look around or back.

mod javascript;

use super::argument::Call;
use super::leaf::{Leaf, Rule, Verdict};
use super::tree::Tree;
use super::words::Words;
use crate::source::Json;

/// Steps that a pattern with lookaround or backreferences may take back before it is given up.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    engine: Engine,
    source: String,
}

#[derive(Clone, Debug)]
enum Engine {
    Linear(::regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

impl Pattern {
    /// Compiles a pattern; the error says what is wrong with it.
    pub(super) fn new(source: &str, flags: &str) -> Result<Pattern, String> {
        let translated = javascript::translate(source, flags.contains('s'))?;
        let has = |flag| flags.contains(flag);
        let engine = if translated.backtracks {
            let mut builder = fancy_regex::RegexBuilder::new(&translated.pattern);
            builder.backtrack_limit(BACKTRACK_LIMIT).case_insensitive(has('i')).multi_line(has('m'));
            Engine::Backtracking(Box::new(builder.build().map_err(|error| first_line(&error.to_string()))?))
        } else {
            let mut builder = ::regex::RegexBuilder::new(&translated.pattern);
            builder.case_insensitive(has('i')).multi_line(has('m'));
            Engine::Linear(builder.build().map_err(|error| explain(&error))?)
        };
        Ok(Pattern { engine, source: source.to_owned() })
    }

    /// Whether it matches anywhere in the text; `None` when it had to be given up.
    pub(super) fn matches(&self, text: &str) -> Option<bool> {
        match &self.engine {
            Engine::Linear(regex) => Some(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).ok(),
        }
    }

    /// Why a text does not match.
    pub(super) fn reason(&self, text: &str) -> String {
        match self.matches(text) {
            None => format!("`{}` was given up after {BACKTRACK_LIMIT} steps back", self.source),
            _ => format!("the text does not match `{}`", self.source),
        }
    }

    /// What would make a text match.
    pub(super) fn hints(&self, text: &str) -> Vec<String> {
        let matches = |flags, text| Pattern::new(&self.source, flags).is_ok_and(|it| it.matches(text) == Some(true));
        let mut hints = Vec::new();
        if matches("i", text) {
            hints.push("it would match with the flag `i`: `$regex: { pattern: …, flags: i }`".into());
        } else if self.source.contains('.') && matches("s", text) {
            hints.push("it would match with the flag `s`, where `.` also matches line ends".into());
        } else if matches("m", text) {
            hints.push("it would match with the flag `m`, where `^` and `$` also match at lines".into());
        } else if matches("", text.trim()) {
            hints.push("it would match without the white space around the text".into());
        }
        hints
    }
}

/// The sentence of a syntax error, without the drawing around it.
fn explain(error: &::regex::Error) -> String {
    match error {
        ::regex::Error::CompiledTooBig(limit) => format!("the pattern is too large: it needs more than {limit} bytes"),
        error => first_line(&error.to_string()),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().rev().find_map(|line| line.trim().strip_prefix("error: ")).or_else(|| text.lines().last());
    line.unwrap_or("it is no pattern").trim().to_owned()
}

#[derive(Debug)]
struct Matches(Pattern);

pub(super) fn build(mut call: Call<'_, '_>) -> Option<Tree> {
    let (pattern, flags) = match call.node.entries() {
        None => (call.node.clone(), String::new()),
        Some(_) => {
            call.options(&["pattern", "flags"])?;
            let Some(pattern) = call.node.get("pattern") else {
                return call.bad(call.node.span, "`$regex` needs a `pattern`");
            };
            let flags = match call.node.get("flags") {
                None => String::new(),
                Some(flags) => match flags.as_str() {
                    Some(text) if text.chars().all(|flag| "imsugvy".contains(flag)) => text.to_owned(),
                    _ => return call.bad(flags.span, "the flags of `$regex` are `i`, `m` and `s`"),
                },
            };
            (pattern.clone(), flags)
        }
    };
    let Some(words) = Words::of(&pattern) else { return call.wrong(&pattern, "text or `{pattern, flags}`") };
    match Pattern::new(&words.pattern(), &flags) {
        Ok(compiled) => Some(Leaf::tree("$regex", call.span(), call.written(), Matches(compiled))),
        Err(problem) => call.bad(pattern.span, format!("not a pattern: {problem}")),
    }
}

impl Rule for Matches {
    fn judge(&self, actual: &Json) -> Verdict {
        match actual {
            Json::String(text) => (self.0.matches(text) == Some(true)).into(),
            _ => Verdict::Needs("text"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        self.0.reason(actual.as_str().unwrap_or_default())
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        self.0.hints(actual.as_str().unwrap_or_default())
    }
}
