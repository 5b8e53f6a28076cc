//! Matchers that are not built in: a suite calls them by name, and code from elsewhere judges.

use super::found::Found;
use super::judgement;
use super::logic::Not;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::tree::Tree;
use super::words::Words;
use super::{Compiler, Head, Matcher};
use crate::diagnostic::Diagnostic;
use crate::source::{Entry, Json, Span};
use std::sync::Arc;

/// What a verdict that says nothing is put into words as.
const UNSAID: &str = "it does not match";

/// The matchers that a suite can call beside the built-in ones.
pub trait Library: Send + Sync + std::fmt::Debug {
    /// The matcher of this name, without its `$`; one with the name of a built-in replaces it.
    fn find(&self, name: &str) -> Option<Arc<dyn Foreign>>;
    /// Every name, with its `$`.
    fn names(&self) -> Vec<&str>;
    /// Whether something that belongs here could not be loaded, so that an unknown name is no news.
    fn is_incomplete(&self) -> bool {
        false
    }
}

/// One matcher of a [`Library`]. Arguments and values are JSON text.
pub trait Foreign: Send + Sync + std::fmt::Debug {
    /// Whether it can work with an argument; `Some` says why not.
    fn refuses(&self, argument: &str) -> Result<Option<String>, Broken>;
    /// Judges a value; `Some` says why it doesn't match.
    fn judge(&self, question: &Question<'_>) -> Result<Option<Objection>, Broken>;
}

/// One value to judge.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The argument, as JSON text.
    pub expected: &'a str,
    /// The value, as JSON text.
    pub actual: &'a str,
    /// Where it stands in the outcome.
    pub path: &'a str,
    /// The step being judged.
    pub step: &'a str,
}

/// Why a value doesn't match.
#[derive(Debug, Clone)]
pub struct Objection {
    /// In one sentence.
    pub message: String,
    /// Where inside the value, as a JSONPath relative to it.
    pub path: Option<String>,
    /// What should have been there.
    pub expected: Option<Json>,
    /// What was there.
    pub actual: Option<Json>,
}

/// A matcher that could not judge: never a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The failure code.
    pub code: &'static str,
    /// Who.
    pub source: String,
    /// What happened, in one sentence.
    pub message: String,
    /// The next actions.
    pub hints: Vec<String>,
}

impl Compiler<'_> {
    /// `$name: argument`, when the name is one of the library's.
    pub(super) fn foreign_call(&mut self, entry: &Entry) -> Option<Tree> {
        let matcher = self.library?.find(entry.key.strip_prefix('$')?)?;
        let span = Span { start: entry.key_span.start, end: entry.value.span.end.max(entry.key_span.end) };
        let argument = entry.value.to_json();
        let text = argument.to_string();
        Some(self.foreign(matcher, Head::call(entry.key.clone(), span, argument), text, entry.value.span))
    }

    /// `match:name:argument`, when the name is one of the library's; `match:not:` before it negates.
    pub(super) fn foreign_pattern(&mut self, words: &Words, span: Span) -> Option<Tree> {
        let library = self.library?;
        if let Some(inner) = words.after("not:") {
            let written = Json::String(format!("match:{}", words.plain()));
            let inner = self.foreign_pattern(&inner, span)?;
            return Some(Tree::Matcher(Box::new(Not { head: Head::whole("match:not", span, written), inner })));
        }
        let (name, _) = words.head().split_once(':')?;
        let matcher = library.find(name)?;
        let argument = words.after(&format!("{name}:"))?.plain();
        let written = Json::String(format!("match:{}", words.plain()));
        let head = Head::whole(format!("match:{name}"), span, written);
        Some(self.foreign(matcher, head, Json::String(argument).to_string(), span))
    }

    fn foreign(&mut self, matcher: Arc<dyn Foreign>, head: Head, argument: String, at: Span) -> Tree {
        self.imported += 1;
        let mut broken = None;
        // Asked once more, one that did not answer in time would take as long again; and as it is, nothing will be run.
        let refused = if self.diagnostics.late.contains(head.name()) { Ok(None) } else { matcher.refuses(&argument) };
        match refused {
            Ok(None) => {}
            Ok(Some(why)) => {
                self.diagnostics.push(Diagnostic::error(format!("`{}`: {why}", head.name())).at(self.source, at));
            }
            Err(fault) => {
                if fault.code == "timeout" {
                    self.diagnostics.late.insert(head.name().to_owned());
                }
                broken = Some(fault.clone());
                let Broken { code, message, hints, .. } = fault;
                let problem = Diagnostic::error(format!("{message} ({code})")).at(self.source, at).by_extension();
                self.diagnostics.push(hints.into_iter().fold(problem, Diagnostic::hint));
            }
        }
        Tree::Matcher(Box::new(Imported { head, matcher, argument, broken }))
    }
}

/// A call of a foreign matcher.
#[derive(Debug)]
struct Imported {
    head: Head,
    matcher: Arc<dyn Foreign>,
    argument: String,
    /// It could not look at its argument, so that no verdict of it counts.
    broken: Option<Broken>,
}

impl Matcher for Imported {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(actual) = actual else {
            return found.add(|| self.head.missing(path));
        };
        if judgement::is_broken() {
            return found.add(|| self.unjudged(path));
        }
        let place = judgement::place(path);
        let address = std::ptr::from_ref(self).addr();
        let judged = judgement::with_text(actual, |text, step| {
            if let Some(broken) = &self.broken {
                return Err(broken.clone());
            }
            if let Some(known) = judgement::remembered(address, text) {
                return Ok(Some(known));
            }
            let judged = self.matcher.judge(&Question { expected: &self.argument, actual: text, path: &place, step });
            if let Ok(Some(objection)) = &judged {
                judgement::remember(address, text, objection);
            }
            judged
        });
        match judged {
            Ok(None) => {}
            Ok(Some(objection)) => found.add(|| self.mismatch(objection, actual, path)),
            Err(broken) => {
                judgement::break_off(broken, self.head.name().to_owned(), place, self.head.span());
                found.add(|| self.unjudged(path));
            }
        }
    }
}

impl Imported {
    fn mismatch(&self, objection: Objection, actual: &Json, path: &Path<'_>) -> Mismatch {
        let Objection { message, path: inside, expected, actual: found } = objection;
        let message = if message.trim().is_empty() { UNSAID.to_owned() } else { message };
        let mut mismatch = self.head.mismatch(Rank::Different, path, message);
        if let Some(expected) = expected {
            mismatch = mismatch.expected(&expected);
        }
        mismatch = mismatch.actual(Some(found.as_ref().unwrap_or(actual)));
        if let Some(inside) = inside {
            match inside.strip_prefix('$') {
                Some(rest) => mismatch.path.push_str(rest),
                None if inside.is_empty() || inside.starts_with(['.', '[']) => mismatch.path.push_str(&inside),
                None => mismatch.path.extend([".", &inside]),
            }
        }
        mismatch
    }

    /// Stands where a verdict would, until the fault itself takes the place of all of them.
    fn unjudged(&self, path: &Path<'_>) -> Mismatch {
        Mismatch::new(Rank::Kind, path, self.head.span(), "it could not be judged").by(self.head.name())
    }
}

/// A name that a replaced built-in had: what the header of a report says.
pub fn replaces_built_in(name: &str) -> bool {
    super::table::find(&format!("${name}")).is_some()
}
