//! Patterns over numbers. A text that begins with a number counts as that number, as JavaScript's `parseFloat` has it.

use super::bare::text_of;
use super::{Malformed, Named, malformed, names};
use crate::matcher::equality;
use crate::matcher::leaf::{Rule, Verdict};
use crate::matcher::number::{Arithmetic, Order};
use crate::matcher::tree::Tree;
use crate::source::Json;
use serde_json::Number;
use std::cmp::Ordering;

#[derive(Debug)]
enum Numeric {
    Bound(Order, Number),
    Equal(Number, bool),
    Arithmetic(Arithmetic),
}

pub(super) fn compile(it: &Named<'_>) -> Result<Option<Tree>, Malformed> {
    let rule = match it.name {
        "greaterThan" => Numeric::Bound(Order::Greater, one(it)?),
        "greaterThanOrEqual" => Numeric::Bound(Order::GreaterOrEqual, one(it)?),
        "lessThan" => Numeric::Bound(Order::Less, one(it)?),
        "lessThanOrEqual" => Numeric::Bound(Order::LessOrEqual, one(it)?),
        "equals" | "notEquals" => match leading(&it.argument.plain()) {
            Some((number, _)) => Numeric::Equal(number, it.name == "equals"),
            None => return Ok(Some(it.leaf(Text { is: it.argument.plain(), equal: it.name == "equals" }))),
        },
        "between" | "range" => {
            let (low, high) = two(it)?;
            if equality::compare(&low, &high) == Some(Ordering::Greater) {
                return malformed(format!("nothing is between {low} and {high}"), names::example(it.name));
            }
            Numeric::Arithmetic(Arithmetic::Between(low, high))
        }
        "approximately" => {
            let (to, by) = two(it)?;
            Numeric::Arithmetic(Arithmetic::Approx { to, by })
        }
        "multipleOf" | "divisibleBy" => match one(it)? {
            of if of.as_f64() == Some(0.0) => return malformed("nothing is a multiple of 0", names::example(it.name)),
            of => Numeric::Arithmetic(Arithmetic::MultipleOf(of)),
        },
        "decimalPlaces" => match whole(&it.argument.plain()) {
            Some((places @ 0..=400, _)) => Numeric::Arithmetic(Arithmetic::DecimalPlaces(places as usize)),
            _ => return malformed("`decimalPlaces` takes a whole number from 0 on", names::example(it.name)),
        },
        _ => return Ok(None),
    };
    Ok(Some(it.leaf(rule)))
}

/// `equals` with something that is no number, which mcp-aegis never finds equal.
#[derive(Debug)]
struct Text {
    is: String,
    equal: bool,
}

impl Rule for Text {
    fn judge(&self, actual: &Json) -> Verdict {
        match text_of(actual) {
            Some(text) => ((text == self.is) == self.equal).into(),
            None => Verdict::Needs("text"),
        }
    }

    fn reason(&self, _actual: &Json) -> String {
        format!("the text is {}{:?}", if self.equal { "not " } else { "" }, self.is)
    }
}

fn one(it: &Named<'_>) -> Result<Number, Malformed> {
    let text = it.argument.plain();
    match leading(&text) {
        Some((number, _)) => Ok(number),
        None => malformed(format!("`{}` takes a number, and this is `{text}`", it.name), names::example(it.name)),
    }
}

fn two(it: &Named<'_>) -> Result<(Number, Number), Malformed> {
    let text = it.argument.plain();
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        [a, b] => match (leading(a), leading(b)) {
            (Some((a, _)), Some((b, _))) => Ok((a, b)),
            _ => malformed(format!("`{}` takes two numbers, and this is `{text}`", it.name), names::example(it.name)),
        },
        _ => malformed(format!("`{}` takes two numbers with a colon between them", it.name), names::example(it.name)),
    }
}

/// The number that a text begins with, and the rest.
pub(super) fn leading(text: &str) -> Option<(Number, &str)> {
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = text.len() - unsigned.len();
    if let Some(rest) = unsigned.strip_prefix("Infinity") {
        // No number of an answer is beyond it.
        let bound = if text.starts_with('-') { f64::MIN } else { f64::MAX };
        return Some((Number::from_f64(bound)?, rest));
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(unsigned);
    let mut end = whole;
    if unsigned[end..].starts_with('.') {
        let fraction = digits(&unsigned[end + 1..]);
        if whole + fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    }
    if end == 0 {
        return None;
    }
    if let Some(exponent) = unsigned[end..].strip_prefix(['e', 'E']) {
        let unsigned_exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let count = digits(unsigned_exponent);
        if count > 0 {
            end += 1 + exponent.len() - unsigned_exponent.len() + count;
        }
    }
    let (number, rest) = text.split_at(sign + end);
    let exact = number.parse::<i64>().ok().map(Number::from);
    let number = exact.or_else(|| number.parse::<f64>().ok().and_then(Number::from_f64))?;
    Some((number, rest))
}

/// The whole number that a text begins with, and the rest, as JavaScript's `parseInt` has it.
pub(super) fn whole(text: &str) -> Option<(i64, &str)> {
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(text.len() - unsigned.len() + digits);
    Some((number.parse().ok()?, rest))
}

/// What stands after the number of a pattern and is not read.
pub(super) fn idle_rest<'a>(name: &str, argument: &'a str) -> Option<&'a str> {
    let takes_whole = matches!(
        name,
        "length"
            | "arrayLength"
            | "count"
            | "stringLength"
            | "stringLengthGreaterThan"
            | "stringLengthGreaterThanOrEqual"
            | "stringLengthLessThan"
            | "stringLengthLessThanOrEqual"
            | "decimalPlaces"
    );
    let takes_one = matches!(
        name,
        "greaterThan"
            | "greaterThanOrEqual"
            | "lessThan"
            | "lessThanOrEqual"
            | "equals"
            | "notEquals"
            | "multipleOf"
            | "divisibleBy"
    );
    let rest = match (takes_whole, takes_one) {
        (true, _) => whole(argument)?.1.trim(),
        (_, true) => leading(argument)?.1.trim(),
        _ => return None,
    };
    (!rest.is_empty()).then_some(rest)
}

fn number_of(actual: &Json) -> Option<Number> {
    match actual {
        Json::Number(number) => Some(number.clone()),
        Json::String(text) => leading(text).map(|(number, _)| number),
        _ => None,
    }
}

impl Rule for Numeric {
    fn judge(&self, actual: &Json) -> Verdict {
        let Some(number) = number_of(actual) else { return Verdict::Needs("a number") };
        Verdict::from(match self {
            Numeric::Bound(order, to) => equality::compare(&number, to).is_some_and(|it| order.admits(it)),
            Numeric::Equal(to, equal) => (equality::compare(&number, to) == Some(Ordering::Equal)) == *equal,
            Numeric::Arithmetic(arithmetic) => arithmetic.holds(&number),
        })
    }

    fn reason(&self, actual: &Json) -> String {
        let Some(number) = number_of(actual) else { return String::new() };
        match self {
            Numeric::Bound(order, to) => format!("{number} is not {} {to}", order.words()),
            Numeric::Equal(to, true) => format!("{number} is not {to}"),
            Numeric::Equal(to, false) => format!("{number} is {to}, which it must not be"),
            Numeric::Arithmetic(arithmetic) => arithmetic.say(&number),
        }
    }
}
