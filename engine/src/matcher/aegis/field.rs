//! Paths to fields, `exists`, and conditions between fields.

use super::{Malformed, Operator, malformed, names};
use crate::matcher::compare::OPERATORS;
use crate::matcher::leaf::{Rule, Verdict};
use crate::matcher::{Found, Head, Matcher, Path, Rank, hint, shown};
use crate::source::{Json, Span};
use std::borrow::Cow;

/// A path of keys, indexes and wildcards: `tools.*.name`, `tools[0].name`.
#[derive(Debug)]
pub(super) struct Steps {
    steps: Vec<String>,
    wildcards: bool,
}

impl Steps {
    /// Dots only: `a.b.0`.
    pub(super) fn dotted(path: &str) -> Steps {
        Steps { steps: path.split('.').map(str::to_owned).collect(), wildcards: false }
    }

    /// Dots, brackets and wildcards; empty steps are none, and a dot in brackets is part of the key.
    pub(super) fn with_wildcards(path: &str) -> Steps {
        let mut in_brackets = false;
        let ends = |c: char| {
            in_brackets = c == '[' || in_brackets && c != ']';
            matches!(c, '[' | ']') || c == '.' && !in_brackets
        };
        let steps = path.split(ends).filter(|step| !step.is_empty()).map(str::to_owned);
        Steps { steps: steps.collect(), wildcards: true }
    }

    /// Where the path ends in an object: a key that is near.
    pub(super) fn lost(&self, value: &Json) -> Option<String> {
        let mut here = value;
        for step in &self.steps {
            here = match here {
                Json::Object(members) => match members.get(step) {
                    Some(member) => member,
                    None => {
                        let near = hint::near_key(step, members.keys().map(String::as_str))?;
                        return Some(format!("there is no `{step}`, and there is `{near}`"));
                    }
                },
                Json::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        None
    }

    /// The value there.
    pub(super) fn get<'v>(&self, value: &'v Json) -> Option<Cow<'v, Json>> {
        follow(&self.steps, value, self.wildcards)
    }
}

fn follow<'v>(steps: &[String], value: &'v Json, wildcards: bool) -> Option<Cow<'v, Json>> {
    let Some((step, rest)) = steps.split_first() else { return Some(Cow::Borrowed(value)) };
    match value {
        Json::Array(items) if wildcards && step == "*" => {
            // An element without the field counts as null, so that the list keeps its length.
            let found = items.iter().map(|item| follow(rest, item, wildcards).map_or(Json::Null, Cow::into_owned));
            Some(Cow::Owned(Json::Array(found.collect())))
        }
        Json::Array(items) if !wildcards && step == "length" && rest.is_empty() => Some(Cow::Owned(items.len().into())),
        Json::Array(items) => follow(rest, items.get(step.parse::<usize>().ok()?)?, wildcards),
        Json::Object(members) => follow(rest, members.get(step)?, wildcards),
        _ => None,
    }
}

/// `match:exists`: there, and not null.
#[derive(Debug)]
pub(super) struct Exists {
    head: Head,
}

impl Exists {
    pub(super) fn new(span: Span) -> Exists {
        Exists { head: Head::whole("match:exists", span, "match:exists".into()) }
    }
}

impl Matcher for Exists {
    fn head(&self) -> &Head {
        &self.head
    }

    fn judges_absence(&self) -> bool {
        true
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        if actual.is_none_or(Json::is_null) {
            found.add(|| {
                let message = if actual.is_some() { "it is null" } else { "there is no value" };
                self.head.mismatch(Rank::Missing, path, message).actual(actual)
            });
        }
    }
}

/// A condition between two fields of one object.
#[derive(Debug)]
pub(super) struct Condition {
    left: String,
    operator: Operator,
    right: String,
}

pub(super) fn condition(text: &str) -> Result<Condition, Malformed> {
    for (sign, operator) in OPERATORS {
        let parts: Vec<&str> = text.split(sign).map(str::trim).collect();
        if let [left, right] = parts.as_slice()
            && !left.is_empty()
            && !right.is_empty()
            && !right.contains(['<', '>', '=', '!'])
            && !left.contains(['<', '>', '=', '!'])
        {
            return Ok(Condition { left: (*left).to_owned(), operator, right: (*right).to_owned() });
        }
    }
    let message = format!("`{text}` is not two fields with one of `<`, `<=`, `>`, `>=`, `=`, `!=` between them");
    malformed(message, names::example("crossField"))
}

impl Condition {
    fn sides<'v>(&self, actual: &'v Json) -> (Option<Cow<'v, Json>>, Option<Cow<'v, Json>>) {
        (Steps::dotted(&self.left).get(actual), Steps::dotted(&self.right).get(actual))
    }
}

impl Rule for Condition {
    fn judge(&self, actual: &Json) -> Verdict {
        if !actual.is_object() && !actual.is_array() {
            return Verdict::Needs("an object");
        }
        match self.sides(actual) {
            (Some(left), Some(right)) => (self.operator.holds(&left, &right) == Some(true)).into(),
            _ => Verdict::Fails,
        }
    }

    fn reason(&self, actual: &Json) -> String {
        let say = |name: &str, value: &Json| format!("`{name}` is {}", shown::inline(value, 60));
        match self.sides(actual) {
            (Some(left), Some(right)) => {
                let (left, right) = (say(&self.left, &left), shown::inline(&right, 60));
                format!("{left}, which is not {} `{}`, {right}", self.operator.sign(), self.right)
            }
            (None, None) => format!("neither `{}` nor `{}` is there", self.left, self.right),
            (None, _) => format!("there is no `{}`", self.left),
            (_, None) => format!("there is no `{}`", self.right),
        }
    }

    fn hints(&self, actual: &Json) -> Vec<String> {
        let given = |side: &str| side.parse::<f64>().is_ok() || side.starts_with(['"', '\'']);
        match self.sides(actual) {
            (_, None) if given(&self.right) => {
                vec![format!(
                    "both sides are fields: to compare with a value, use `$compare: [\"$.{}\", \"{}\", {}]`",
                    self.left,
                    self.operator.sign(),
                    self.right
                )]
            }
            _ => Vec::new(),
        }
    }
}
