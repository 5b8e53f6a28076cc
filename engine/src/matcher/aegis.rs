//! The `match:` family of MCP Conductor and mcp-aegis: patterns in texts, and the keys of [`object`].
//!
//! `match:NAME:ARG` calls a pattern by name, `match:not:…` negates, and everything else is bare text: a regular
//! expression if it holds anything that only a regular expression would, a part of the text otherwise.

mod array;
mod bare;
mod field;
mod length;
mod names;
mod number;
pub(super) mod object;

use super::compare::Operator;
use super::date::{self, Format, Moment, Span as Dates};
use super::leaf::{Leaf, Rule, Verdict};
use super::logic::Not;
use super::regex::Pattern;
use super::text::{Related, Relation};
use super::tree::Tree;
use super::words::Words;
use super::{Compiler, size};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::source::{Json, Span};

/// One pattern by name, being compiled.
struct Named<'a> {
    name: &'static str,
    /// What follows the name and its colon.
    argument: &'a Words,
    span: Span,
    written: Json,
}

/// Why a pattern is of no use, and how a good one looks.
struct Malformed {
    message: String,
    example: &'static str,
}

fn malformed<T>(message: impl Into<String>, example: &'static str) -> Result<T, Malformed> {
    Err(Malformed { message: message.into(), example })
}

impl Compiler<'_> {
    /// Compiles what follows `match:` in a text.
    pub(super) fn pattern(&mut self, words: &Words, span: Span) -> Tree {
        let written = Json::String(format!("match:{}", words.plain()));
        let (negated, words) = match words.after("not:") {
            Some(rest) => (true, rest),
            None => (false, words.clone()),
        };
        let compiled = match names::called(&words) {
            Some((name, argument)) => {
                self.idle_rest(name, &argument, span);
                named(&Named { name, argument: &argument, span, written: written.clone() })
            }
            None => {
                self.near_name(&words, negated, span);
                bare::compile(&words, span, written.clone())
            }
        };
        match compiled {
            Ok(inner) if negated => Tree::Matcher(Box::new(Not { name: "match:not", span, written, inner })),
            Ok(tree) => tree,
            Err(problem) => self.never(problem, span, written),
        }
    }

    /// A malformed pattern: an error, or where suites are read leniently a warning and a check that never holds.
    fn never(&mut self, problem: Malformed, span: Span, written: Json) -> Tree {
        let Malformed { message, example } = problem;
        let diagnostic = match self.lenient {
            true => Diagnostic::warning(&message).hint("the check never holds"),
            false => Diagnostic::error(&message),
        };
        self.diagnostics.push(diagnostic.at(self.source, span).hint(format!("for example: `{example}`")));
        Leaf::tree("match", span, written, Never(message))
    }

    /// Warns where bare text was probably meant to call a pattern.
    fn near_name(&mut self, words: &Words, negated: bool, span: Span) {
        let Some(meant) = names::meant(words.head()) else { return };
        let rest = words.after(meant.typed).map(|rest| rest.plain()).unwrap_or_default();
        let not = if negated { "not:" } else { "" };
        let message = format!("there is no pattern `{}`, so this is taken as text to search for", meant.typed);
        let line = match rest.is_empty() && names::takes_argument(meant.name) {
            true => format!("`match:{}` takes an argument: `{}`", meant.name, names::example(meant.name)),
            false => format!("did you mean `match:{not}{}{rest}`?", meant.name),
        };
        self.diagnostics.push(Diagnostic::warning(message).at(self.source, span).hint(line));
    }

    /// Warns about text after a number, which is not read.
    fn idle_rest(&mut self, name: &'static str, argument: &Words, span: Span) {
        if let Some(rest) = number::idle_rest(name, &argument.plain()) {
            let message = format!("`{rest}` after the number is not read");
            self.diagnostics.push(Diagnostic::warning(message).at(self.source, span));
        }
    }
}

fn named(it: &Named<'_>) -> Result<Tree, Malformed> {
    if let Some(tree) = length::compile(it)? {
        return Ok(tree);
    }
    if let Some(tree) = number::compile(it)? {
        return Ok(tree);
    }
    let text = it.argument.plain();
    match it.name {
        "regex" => match Pattern::new(&it.argument.pattern(), "") {
            Ok(pattern) => Ok(it.leaf(bare::Search::Pattern(pattern))),
            Err(problem) => malformed(format!("not a pattern: {problem}"), names::example("regex")),
        },
        "contains" => Ok(it.leaf(array::Contains { part: text, ignore_case: false })),
        "containsIgnoreCase" => Ok(it.leaf(array::Contains { part: text, ignore_case: true })),
        "startsWith" => Ok(it.leaf(Related { to: text, relation: Relation::StartsWith })),
        "endsWith" => Ok(it.leaf(Related { to: text, relation: Relation::EndsWith })),
        "equalsIgnoreCase" => Ok(it.leaf(Related { to: text, relation: Relation::EqualsIgnoreCase })),
        "arrayContains" => Ok(it.leaf(array::ArrayContains::new(text))),
        "type" => kind(it, &text),
        "exists" => Ok(Tree::Matcher(Box::new(field::Exists { span: it.span }))),
        "crossField" => field::condition(&text).map(|condition| it.leaf(condition)),
        _ => dates(it, &text),
    }
}

fn kind(it: &Named<'_>, text: &str) -> Result<Tree, Malformed> {
    match size::KINDS.iter().find(|kind| **kind == text) {
        Some(kind) => Ok(it.leaf(size::Type(vec![kind]))),
        None => {
            let near =
                did_you_mean(text, size::KINDS).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
            let message = format!("there is no type `{text}`; there are `{}`{near}", size::KINDS.join("`, `"));
            malformed(message, names::example("type"))
        }
    }
}

fn dates(it: &Named<'_>, text: &str) -> Result<Tree, Malformed> {
    let example = names::example(it.name);
    let moment = |text: &str| match Moment::parse(text) {
        Some(moment) => Ok(moment),
        None => malformed(format!("`{text}` is not a date"), example),
    };
    let span = match it.name {
        "dateAfter" => Dates::After(moment(text)?),
        "dateBefore" => Dates::Before(moment(text)?),
        "dateEquals" => Dates::Equal(moment(text)?),
        "dateValid" => Dates::Any,
        "dateAge" => match date::duration(text) {
            Some(oldest) => Dates::Age(oldest),
            None => return malformed(format!("`{text}` is not a duration"), example),
        },
        "dateBetween" => between(text, example)?,
        _ => match Format::parse(text).filter(|_| !text.contains('%')) {
            Some(format) => return Ok(it.leaf(format)),
            None => {
                let near =
                    did_you_mean(text, date::NAMES).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
                return malformed(format!("there is no date format `{text}`{near}"), example);
            }
        },
    };
    Ok(it.leaf(span))
}

/// Two dates with a colon between them; the dates may hold colons of their own.
fn between(text: &str, example: &'static str) -> Result<Dates, Malformed> {
    let splits = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let mut pairs = splits.filter_map(|(from, to)| Some((Moment::parse(from)?, Moment::parse(to)?)));
    match pairs.next() {
        Some((Moment::At(from), Moment::At(to))) if from > to => {
            malformed("the first date is after the second", example)
        }
        Some((from, to)) => Ok(Dates::Between(from, to)),
        None => malformed(format!("`{text}` is not two dates with a colon between them"), example),
    }
}

impl Named<'_> {
    fn leaf(&self, rule: impl Rule) -> Tree {
        Leaf::tree(format!("match:{}", self.name), self.span, self.written.clone(), rule)
    }
}

#[derive(Debug)]
struct Never(String);

impl Rule for Never {
    fn judge(&self, _actual: &Json) -> Verdict {
        Verdict::Fails
    }

    fn reason(&self, _actual: &Json) -> String {
        self.0.clone()
    }
}

/// Every name and key of the family, for the tests that must cover them all.
#[cfg(test)]
pub(super) fn names_for_tests() -> impl Iterator<Item = &'static str> {
    names::all().chain(object::KEYS)
}
