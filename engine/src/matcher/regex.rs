//! `$regex`: patterns in JavaScript's syntax, linear in time unless they look around or back.

mod javascript;

use super::argument::Call;
use super::leaf::{Leaf, Rule, Verdict};
use super::patience;
use super::tree::Tree;
use super::words::Words;
use crate::source::Json;
use javascript::Translated;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Steps that a pattern with lookaround or backreferences may take back before it is given up.
const BACKTRACK_LIMIT: usize = 1_000_000;
/// The same for every byte of a long text: a tame pattern takes a few at each place.
const BACKTRACK_PER_BYTE: usize = 16;
/// Such a pattern may take no step back and yet read the rest of a text at every place, which nothing counts: over a text
/// that is longer than this, it has so much time.
const SHORT: usize = 4096;
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for whether another flag would help.
const PATIENCE_FOR_HINTS: Duration = Duration::from_secs(1);

/// Memory that a compiled pattern may take. Nearly all of them stay below; what does not is slow, and is only asked the
/// one question.
const SIZE: usize = 10 << 20;
/// The same for patterns such as `^.{1,9999}$`, which JavaScript takes.
const LARGE: usize = 128 << 20;

/// How many compiled patterns a thread keeps at hand: a suite says the same ones over and over.
const KEPT: usize = 500;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    engine: Engine,
    /// Whether it is so large that whatever is asked of it takes long.
    large: bool,
    source: String,
    flags: String,
    /// The text for which there was no time, which is asked about more than once.
    given_up: AtomicU64,
}

#[derive(Debug)]
enum Engine {
    Linear(::regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

thread_local! {
    static KNOWN: RefCell<HashMap<(String, String), Pattern>> = RefCell::default();
}

impl Pattern {
    /// Compiles a pattern, or finds the one that was compiled before; the error says what is wrong with it.
    pub(super) fn new(source: &str, flags: &str) -> Result<Pattern, String> {
        let key = (source.to_owned(), flags.to_owned());
        if let Some(known) = KNOWN.with_borrow(|known| known.get(&key).cloned()) {
            return Ok(known);
        }
        let pattern = Pattern(Arc::new(Pattern::compile(source, flags)?));
        KNOWN.with_borrow_mut(|known| {
            if known.len() >= KEPT {
                known.clear();
            }
            known.insert(key, pattern.clone());
        });
        Ok(pattern)
    }

    fn compile(source: &str, flags: &str) -> Result<Compiled, String> {
        let translated = javascript::translate(source, flags.contains('s'))?;
        let mut large = false;
        let engine = if translated.backtracks {
            Engine::Backtracking(backtracking(&translated, flags, BACKTRACK_LIMIT)?)
        } else {
            let regex = linear(&translated, flags, SIZE).or_else(|error| {
                large = matches!(error, ::regex::Error::CompiledTooBig(_));
                if large { linear(&translated, flags, LARGE) } else { Err(error) }
            });
            Engine::Linear(regex.map_err(|error| explain(&error))?)
        };
        let given_up = AtomicU64::new(0);
        Ok(Compiled { engine, large, source: source.to_owned(), flags: flags.to_owned(), given_up })
    }

    /// Whether it matches anywhere in the text; `None` when it had to be given up.
    pub(super) fn matches(&self, text: &str) -> Option<bool> {
        if let Engine::Linear(regex) = &self.0.engine {
            return Some(regex.is_match(text));
        }
        self.within(PATIENCE, text)
    }

    fn within(&self, patience: Duration, text: &str) -> Option<bool> {
        if text.len() <= SHORT || matches!(self.0.engine, Engine::Linear(_)) {
            return self.0.matches(text);
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        if self.0.given_up.load(Ordering::Relaxed) == hash {
            return None;
        }
        let (compiled, owned) = (self.0.clone(), text.to_owned());
        let found = patience::within(patience, move || compiled.matches(&owned));
        if found.is_none() {
            self.0.given_up.store(hash, Ordering::Relaxed);
        }
        found.flatten()
    }

    /// Why a text does not match.
    pub(super) fn reason(&self, text: &str) -> String {
        match self.matches(text) {
            None => format!("`{}` was given up: over this text it takes too many steps", self.0.source),
            _ => format!("the text does not match `{}`", self.0.source),
        }
    }

    /// What would make a text match.
    pub(super) fn hints(&self, text: &str) -> Vec<String> {
        let matches = |flags, text| {
            let pattern = Pattern::compile(&self.0.source, flags).map(|it| Pattern(Arc::new(it)));
            pattern.is_ok_and(|it| it.within(PATIENCE_FOR_HINTS, text) == Some(true))
        };
        let mut hints = Vec::new();
        if self.0.large || self.matches(text).is_none() {
            return hints;
        }
        if matches("i", text) {
            hints.push("it would match with the flag `i`: `$regex: { pattern: …, flags: i }`".into());
        } else if self.0.source.contains('.') && matches("s", text) {
            hints.push("it would match with the flag `s`, where `.` also matches line ends".into());
        } else if matches("m", text) {
            hints.push("it would match with the flag `m`, where `^` and `$` also match at lines".into());
        } else if matches("", text.trim()) {
            hints.push("it would match without the white space around the text".into());
        }
        hints
    }
}

impl Compiled {
    fn matches(&self, text: &str) -> Option<bool> {
        match &self.engine {
            Engine::Linear(regex) => Some(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).ok().or_else(|| self.patiently(text)),
        }
    }

    /// Once more, with as many steps as a long text takes.
    fn patiently(&self, text: &str) -> Option<bool> {
        let steps = text.len().saturating_mul(BACKTRACK_PER_BYTE);
        if steps <= BACKTRACK_LIMIT {
            return None;
        }
        let translated = javascript::translate(&self.source, self.flags.contains('s')).ok()?;
        backtracking(&translated, &self.flags, steps).ok()?.is_match(text).ok()
    }
}

fn linear(translated: &Translated, flags: &str, size: usize) -> Result<::regex::Regex, ::regex::Error> {
    let has = |flag| flags.contains(flag);
    let mut builder = ::regex::RegexBuilder::new(&translated.pattern);
    builder.case_insensitive(has('i')).multi_line(has('m')).crlf(has('m')).size_limit(size).build()
}

fn backtracking(translated: &Translated, flags: &str, steps: usize) -> Result<Box<fancy_regex::Regex>, String> {
    let has = |flag| flags.contains(flag);
    let mut builder = fancy_regex::RegexBuilder::new(&translated.pattern);
    builder.case_insensitive(has('i')).multi_line(has('m')).crlf(has('m'));
    let regex = builder.backtrack_limit(steps).delegate_size_limit(LARGE).build();
    regex.map(Box::new).map_err(|error| first_line(&error.to_string()))
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
                    Some(text) if text.chars().all(|flag| "imsugd".contains(flag)) => text.to_owned(),
                    _ => return call.bad(flags.span, "the flags of `$regex` are `i`, `m` and `s`"),
                },
            };
            (pattern.clone(), flags)
        }
    };
    let Some(words) = Words::of(&pattern) else { return call.wrong(&pattern, "text or `{pattern, flags}`") };
    match Pattern::new(&words.pattern(), &flags) {
        Ok(compiled) => Some(Leaf::tree(call.head(), Matches(compiled))),
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
