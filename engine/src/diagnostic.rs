//! Problems in what the user wrote: a message, a place, a caret, and the next action.
//!
//! Left of the plan every problem is one of these, and all of them are shown at once.

mod render;

use crate::source::{Source, Span};
use std::collections::HashSet;
use std::sync::Arc;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing can run.
    Error,
    /// The run goes on.
    Warning,
}

/// One problem.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One lowercase fragment, literals in backticks, no final period.
    pub message: String,
    /// Where it is; `None` for problems with no text behind them (a missing file).
    pub place: Option<(Arc<Source>, Span)>,
    /// What stands beside the caret.
    pub label: Option<String>,
    /// Further places of the same source: where a key was first written, …
    pub also: Vec<(Span, String)>,
    /// The next actions, one per `hint:` line.
    pub hints: Vec<String>,
    /// Whether it is an extension's doing, and not the user's.
    pub by_extension: bool,
}

/// The problems found so far.
#[derive(Debug, Default)]
pub struct Diagnostics {
    /// In the order they were found.
    pub list: Vec<Diagnostic>,
    /// Matchers of extensions that did not say in time whether an argument is right.
    pub late: HashSet<String>,
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { list, ..Diagnostics::default() }
    }
}

impl Diagnostic {
    /// An error with this message and no place yet.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, message.into())
    }

    /// A warning with this message and no place yet.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message.into())
    }

    fn identity(&self) -> (&str, Option<(&str, u32, u32)>) {
        let place = self.place.as_ref().map(|(source, span)| (&*source.name, span.start, span.end));
        (&self.message, place)
    }

    fn new(severity: Severity, message: String) -> Diagnostic {
        Diagnostic {
            severity,
            message,
            place: None,
            label: None,
            also: Vec::new(),
            hints: Vec::new(),
            by_extension: false,
        }
    }

    /// Puts it at a place.
    pub fn at(mut self, source: &Arc<Source>, span: Span) -> Diagnostic {
        self.place = Some((source.clone(), span));
        self
    }

    /// Says something beside the caret.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// Points at a further place of the same source.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.also.push((span, text.into()));
        self
    }

    /// Says that an extension is to blame.
    pub fn by_extension(mut self) -> Diagnostic {
        self.by_extension = true;
        self
    }

    /// Adds a `hint:` line.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hints.push(hint.into());
        self
    }
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Whether anything here stops the run.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether everything that stops the run is some extension's doing.
    pub fn is_by_extensions(&self) -> bool {
        let mut errors = self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        errors.all(|diagnostic| diagnostic.by_extension)
    }

    /// The text a person reads, with colour or without; one blank line between problems.
    ///
    /// Problems without a place come first, then file by file in the order of the text. A problem in a value that
    /// several aliases use is shown once.
    pub fn render(&self, color: bool) -> String {
        self.render_within(color, usize::MAX)
    }

    /// The same for a terminal with so many columns: a line that is broken there would part from its caret.
    pub fn render_within(&self, color: bool, columns: usize) -> String {
        let mut seen = HashSet::new();
        let mut list: Vec<&Diagnostic> = self.list.iter().filter(|one| seen.insert(one.identity())).collect();
        list.sort_by_key(|one| one.place.as_ref().map(|(source, span)| (&source.name, span.start)));
        let mut out = String::new();
        for diagnostic in list {
            if !out.is_empty() {
                out.push('\n');
            }
            render::render(diagnostic, color, columns, &mut out);
        }
        out
    }
}

/// The nearest of `known` to `word`, when it is near enough to be meant.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&folded, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.chars().count().min(folded.chars().count()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
