//! `$compare`: one part of a value against another, or against a given value.

use super::argument::Call;
use super::equality;
use super::leaf::{Leaf, Rule, Verdict};
use super::query::Query;
use super::tree::Tree;
use super::{date, shown};
use crate::source::{Json, Kind, Node};
use std::cmp::Ordering;

/// How two values must relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// Longest first, so that `<=` is not read as `<`.
pub(super) const OPERATORS: [(&str, Operator); 7] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("!=", Operator::NotEqual),
    ("==", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=", Operator::Equal),
];

impl Operator {
    pub(super) fn parse(text: &str) -> Option<Operator> {
        OPERATORS.iter().find(|(name, _)| *name == text).map(|(_, operator)| *operator)
    }

    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
        }
    }

    /// Whether two values relate so; `None` when they have no order.
    pub(super) fn holds(self, left: &Json, right: &Json) -> Option<bool> {
        match self {
            Operator::Equal => Some(is_same(left, right)),
            Operator::NotEqual => Some(!is_same(left, right)),
            Operator::Less => order(left, right).map(Ordering::is_lt),
            Operator::LessOrEqual => order(left, right).map(Ordering::is_le),
            Operator::Greater => order(left, right).map(Ordering::is_gt),
            Operator::GreaterOrEqual => order(left, right).map(Ordering::is_ge),
        }
    }
}

fn is_same(left: &Json, right: &Json) -> bool {
    order(left, right).map_or_else(|| equality::same(left, right), Ordering::is_eq)
}

/// Numbers (as numbers or as text) by value, dates as instants, other texts by their characters. A number beside a
/// written date is one too; a date beside other text has no order.
fn order(left: &Json, right: &Json) -> Option<Ordering> {
    let numbers = (number(left), number(right));
    if let (Some(left), Some(right)) = &numbers {
        return equality::compare(left, right);
    }
    let instant = |value: &Json, number: Option<serde_json::Number>| match number {
        Some(number) => date::of_json(&Json::Number(number)),
        None => value.as_str().and_then(date::written),
    };
    match (instant(left, numbers.0), instant(right, numbers.1), left, right) {
        (Some(left), Some(right), ..) => Some(left.cmp(&right)),
        (None, None, Json::String(left), Json::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn number(value: &Json) -> Option<serde_json::Number> {
    match value {
        Json::Number(number) => Some(number.clone()),
        Json::String(text) if text.trim().starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            serde_json::from_str(text.trim()).ok()
        }
        _ => None,
    }
}

#[derive(Debug)]
enum Operand {
    At(Query),
    Given(Json),
}

#[derive(Debug)]
struct Comparison {
    left: Operand,
    operator: Operator,
    right: Operand,
}

pub(super) fn build(mut call: Call<'_, '_>) -> Option<Tree> {
    let items = call.items()?;
    let [left, operator, right] = items.as_slice() else {
        return call.bad(call.node.span, "`$compare` takes a path, an operator, and another path or value");
    };
    let Some(sign) = operator.as_str().and_then(Operator::parse) else {
        return call.bad(operator.span, "the operators of `$compare` are `<`, `<=`, `>`, `>=`, `=` and `!=`");
    };
    let rule = Comparison { left: operand(&mut call, left)?, operator: sign, right: operand(&mut call, right)? };
    Some(Leaf::tree(call.head(), rule))
}

fn operand(call: &mut Call<'_, '_>, node: &Node) -> Option<Operand> {
    match &node.kind {
        // What was captured is no path, however it begins.
        Kind::String(text) if text.starts_with('$') => match Query::parse(text) {
            Ok(query) if query.is_singular() => Some(Operand::At(query)),
            Ok(_) => call.bad(node.span, format!("`{text}` can select several values, and `$compare` needs one")),
            Err(problem) => call.bad(node.span, problem),
        },
        _ => Some(Operand::Given(node.to_json())),
    }
}

impl Operand {
    fn value<'v>(&'v self, actual: &'v Json) -> Option<std::borrow::Cow<'v, Json>> {
        match self {
            Operand::At(query) => query.select(actual),
            Operand::Given(value) => Some(std::borrow::Cow::Borrowed(value)),
        }
    }

    fn say(&self, actual: &Json) -> String {
        match (self, self.value(actual)) {
            (Operand::At(query), Some(value)) => format!("`{}` is {}", query.text(), shown::inline(&value, 60)),
            (Operand::At(query), None) => format!("`{}` is missing", query.text()),
            (Operand::Given(value), _) => shown::inline(value, 60),
        }
    }
}

impl Rule for Comparison {
    fn judge(&self, actual: &Json) -> Verdict {
        match (self.left.value(actual), self.right.value(actual)) {
            (Some(left), Some(right)) => (self.operator.holds(&left, &right) == Some(true)).into(),
            _ => Verdict::Fails,
        }
    }

    fn reason(&self, actual: &Json) -> String {
        let (left, right) = (self.left.say(actual), self.right.say(actual));
        match (self.left.value(actual), self.right.value(actual)) {
            (Some(a), Some(b)) if self.operator.holds(&a, &b).is_none() => {
                format!("{left} and {right}: they have no order")
            }
            (Some(_), Some(value)) => {
                let right = match &self.right {
                    Operand::At(query) => format!("`{}`, {}", query.text(), shown::inline(&value, 60)),
                    Operand::Given(_) => right,
                };
                format!("{left}, which is not {} {right}", self.operator.sign())
            }
            _ => format!("{left}, {right}: there is nothing to compare"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{compile, node};
    use crate::source::{Entry, Kind, Node, Span};
    use serde_json::json;

    #[test]
    fn a_captured_text_is_no_path() {
        let captured = Node::new(Kind::Literal(json!("$.b")), Span::default());
        let sides = Kind::List(vec![node(&json!("$.a")), node(&json!("=")), captured]);
        let entry =
            Entry { key: "$compare".into(), key_span: Span::default(), value: Node::new(sides, Span::default()) };
        let (compare, diagnostics) = compile(&Node::new(Kind::Map(vec![entry]), Span::default()));
        assert!(diagnostics.list.is_empty(), "{:?}", diagnostics.list);
        assert!(compare.holds(Some(&json!({"a": "$.b", "b": 1}))) && !compare.holds(Some(&json!({"a": 1, "b": 1}))));
    }
}
