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

pub(super) use names::without_prefix;

use super::compare::Operator;
use super::date::{self, Format, Moment, Span as Dates};
use super::leaf::{Leaf, Rule, Verdict};
use super::logic::Not;
use super::regex::Pattern;
use super::text::{Related, Relation};
use super::tree::Tree;
use super::words::Words;
use super::{Compiler, Head, size};
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
            Ok(inner) if negated => {
                Tree::Matcher(Box::new(Not { head: Head::whole("match:not", span, written), inner }))
            }
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
        self.malformed += 1;
        Leaf::tree(Head::whole("match", span, written), Never(message))
    }

    /// Warns where bare text was probably meant to call a pattern.
    fn near_name(&mut self, words: &Words, negated: bool, span: Span) {
        let (typed, line) = if let Some(key) = object::key_in_text(words.head()) {
            (key, format!("`match:{key}` is a key of a mapping: `match:{key}: …`"))
        } else if let Some((typed, said)) = names::compared_length(words.head()) {
            (typed, if negated { format!("`$not: {{ {said} }}` says that") } else { format!("`{said}` says that") })
        } else {
            let Some(meant) = names::meant(words.head()) else { return };
            let rest = words.after(meant.typed).map(|rest| rest.plain()).unwrap_or_default();
            let not = if negated != meant.negates { "not:" } else { "" };
            let line = match rest.is_empty() && names::takes_argument(meant.name) {
                true => format!("`match:{}` takes an argument: `{}`", meant.name, names::example(meant.name)),
                false => format!("did you mean `match:{not}{}{rest}`?", meant.name),
            };
            (meant.typed.trim(), line)
        };
        let message = format!("there is no pattern `{typed}`, so this is taken as text to search for");
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

/// What negates a malformed pattern: it holds as little as the pattern itself.
pub(super) fn never(head: Head) -> Tree {
    Leaf::tree(head, Never("a pattern inside is malformed".to_owned()))
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
        "exists" => Ok(Tree::Matcher(Box::new(field::Exists::new(it.span)))),
        "crossField" => field::condition(&text).map(|condition| it.leaf(condition)),
        _ => dates(it, &text),
    }
}

fn kind(it: &Named<'_>, text: &str) -> Result<Tree, Malformed> {
    match size::KINDS.iter().find(|kind| **kind == text) {
        Some(kind) => Ok(it.leaf(size::Type(vec![kind]))),
        None => {
            let near = size::near_kind(text).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
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
        let head = Head::whole(format!("match:{}", self.name), self.span, self.written.clone());
        Leaf::tree(head, rule)
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

#[cfg(test)]
mod tests {
    use super::super::testing::{compile, node};
    use crate::diagnostic::{Diagnostics, Severity};
    use crate::matcher::{Compiler, Mode};
    use crate::source::{Kind, Node, Piece, Source, Span};
    use serde_json::{Value, json};

    /// What is warned of, with its hints.
    fn warnings(pattern: &str) -> Vec<String> {
        let (_, diagnostics) = compile(&node(&json!(pattern)));
        assert!(!diagnostics.has_errors(), "{pattern}");
        diagnostics.list.iter().map(|it| format!("{}; {}", it.message, it.hints.join("; "))).collect()
    }

    /// Whether it holds where suites are read leniently; everything that is said of it is a warning.
    fn holds_leniently(expected: Value, actual: Value) -> bool {
        let source = Source::new("suite.yml", "suite.yml", String::new());
        let mut diagnostics = Diagnostics::default();
        let mut compiler = Compiler::new(&source, &mut diagnostics);
        compiler.lenient = true;
        let compiled = compiler.compile(&node(&expected), Mode::Exact);
        assert!(!diagnostics.list.is_empty() && !diagnostics.has_errors(), "{expected}: {:?}", diagnostics.list);
        compiled.holds(Some(&actual))
    }

    #[test]
    fn what_negates_a_malformed_pattern_never_holds_either() {
        for expected in [
            json!("match:not:type:strng"),
            json!({"match:not:partial": {"t": "match:type:strng"}}),
            json!({"match:not:arrayElements": "match:regex:["}),
            json!({"match:not:extractField": "t", "value": "match:regex:["}),
            json!({"$not": {"t": "match:regex:["}}),
            json!({"$not": {"$not": {"t": "match:regex:["}}}),
            json!({"$none": "match:regex:["}),
            json!({"$one": [{"$type": "array"}, {"$type": "object"}, "match:regex:["]}),
        ] {
            for actual in [json!({"t": "x"}), json!(["x"]), json!([]), json!("x")] {
                assert!(!holds_leniently(expected.clone(), actual.clone()), "{expected} {actual}");
            }
        }
        let beside = json!([{"$not": {"t": 1}}, "match:regex:["]);
        assert!(!holds_leniently(beside, json!([{"t": 2}, "x"])));
    }

    #[test]
    fn unknown_matchers_are_keys_of_the_answer_where_suites_are_read_leniently() {
        for value in [
            json!({"_id": {"$oid": "abc"}, "at": {"$date": "2024-01-15"}}),
            json!({"$regx": "^a"}),
            json!({"$gt": 1, "a": 2}),
            json!({"$gt": 1, "$foo": 2}),
        ] {
            assert!(holds_leniently(value.clone(), value.clone()), "{value}");
            assert!(!holds_leniently(value.clone(), json!("abc")), "{value}");
        }
        assert!(holds_leniently(json!({"$oid": "match:^a", "n": {"$gt": 1}}), json!({"$oid": "abc", "n": 2})));
    }

    #[test]
    fn near_names_are_warned_of_with_the_corrected_line() {
        for (typed, corrected) in [
            ("match:arrayLenght:3", "`match:arrayLength:3`"),
            ("match:contians:x", "`match:contains:x`"),
            ("match:not:contians:x", "`match:not:contains:x`"),
            ("match:icontains:x", "`match:containsIgnoreCase:x`"),
            ("match:greaterthan:5", "`match:greaterThan:5`"),
            ("match:minLength:5", "`match:stringLengthGreaterThanOrEqual:5`"),
            ("match:dateVaild", "`match:dateValid`"),
            ("match:exist", "`match:exists`"),
            ("match:contains", "`match:contains` takes an argument"),
            ("match:array_length:3", "`match:arrayLength:3`"),
            ("match:starts-with:a", "`match:startsWith:a`"),
            ("match: contains:x", "`match:contains:x`"),
            ("match:contains :x", "`match:contains:x`"),
            ("match:notContains:x", "`match:not:contains:x`"),
            ("match:not:notContains:x", "`match:contains:x`"),
            ("match:does_not_contain:x", "`match:not:contains:x`"),
            ("match:doesNotContain:x", "`match:not:contains:x`"),
            ("match:notEqual:5", "`match:notEquals:5`"),
            ("match:notExists", "`match:not:exists`"),
            ("match:notEmpty", "`match:stringNotEmpty`"),
            ("match:approx:3:1", "`match:approximately:3:1`"),
            ("match:len:3", "`match:length:3`"),
            ("match:partial:x", "`match:partial` is a key of a mapping"),
            ("match:arrayLengthGreaterThan:2", "`$length: { $gt: 2 }` says that"),
            ("match:not:array_length_lte:2", "`$not: { $length: { $lte: 2 } }` says that"),
            ("match:arrayMinLength:1", "`$length: { $gte: 1 }` says that"),
            ("match:countBetween:1:5", "`$length: { $between: [1, 5] }` says that"),
            ("match:arrayNotEmpty", "`$empty: false` says that"),
        ] {
            let said = warnings(typed);
            assert!(said.len() == 1 && said[0].contains(corrected), "{typed}: {said:?}");
        }
    }

    #[test]
    fn prose_urls_and_patterns_are_not() {
        for text in [
            "match:File not found",
            "match:https://x",
            "match:Error: no",
            "match:Total: 5",
            "match:note:",
            "match:^[a-z]+:x",
            "match:12:30",
            "match:not-found:x",
            "match:no-reply:x",
            "match:my_key:1",
            "match:partial: yes",
            "match:a",
            "match:array",
            "match:countGt",
            "match:exists ",
        ] {
            assert_eq!(warnings(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn stray_keys_are_warned_of() {
        for key in ["match:partail", "match:arrayElement", "match:contains"] {
            let (_, diagnostics) = compile(&node(&json!({ key: 1 })));
            assert_eq!(diagnostics.list.len(), 1, "{key}");
            assert_eq!(diagnostics.list[0].severity, Severity::Warning);
        }
        assert!(compile(&node(&json!({"match:whatever": 1}))).1.list.is_empty());
    }

    #[test]
    fn inserted_text_is_literal() {
        let mixed = |pieces: &[Piece]| compile(&Node::new(Kind::Mixed(pieces.to_vec()), Span::default())).0;
        let (written, inserted) = (|text: &str| Piece::Written(text.into()), |text: &str| Piece::Inserted(text.into()));
        let pattern = mixed(&[written("match:^"), inserted("a.*("), written("\\d$")]);
        assert!(pattern.holds(Some(&json!("a.*(5"))) && !pattern.holds(Some(&json!("abc5"))));
        let part = mixed(&[written("match:hello "), inserted("[x]")]);
        assert!(part.holds(Some(&json!("oh, hello [x]!"))));
        let named = mixed(&[written("match:contains:"), inserted("a:b")]);
        assert!(named.holds(Some(&json!("xa:bx"))));
        let captured = mixed(&[inserted("match:.*")]);
        assert!(captured.holds(Some(&json!("match:.*"))) && !captured.holds(Some(&json!("x"))));
        let late = mixed(&[inserted("match:"), written(".*")]);
        assert!(late.holds(Some(&json!("match:.*"))) && !late.holds(Some(&json!("x"))));
        let value = compile(&Node::new(Kind::Literal(json!({"$gt": 1})), Span::default())).0;
        assert!(value.holds(Some(&json!({"$gt": 1}))) && !value.holds(Some(&json!(2))));
    }
}
