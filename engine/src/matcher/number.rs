//! `$gt $gte $lt $lte` `$between` `$approx` `$multipleOf` `$decimalPlaces`.

mod decimal;

use super::argument::Call;
use super::equality;
use super::leaf::{Leaf, Rule, Verdict};
use super::tree::Tree;
use crate::source::Json;
use decimal::Decimal;
use serde_json::Number;
use std::cmp::Ordering;

/// An order that the actual number must have to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Debug)]
struct Bound {
    order: Order,
    to: Number,
}

pub(super) fn gt(call: Call<'_, '_>) -> Option<Tree> {
    bound(call, Order::Greater)
}

pub(super) fn gte(call: Call<'_, '_>) -> Option<Tree> {
    bound(call, Order::GreaterOrEqual)
}

pub(super) fn lt(call: Call<'_, '_>) -> Option<Tree> {
    bound(call, Order::Less)
}

pub(super) fn lte(call: Call<'_, '_>) -> Option<Tree> {
    bound(call, Order::LessOrEqual)
}

fn bound(mut call: Call<'_, '_>, order: Order) -> Option<Tree> {
    let to = call.number()?;
    Some(Leaf::tree(call.head(), Bound { order, to }))
}

impl Order {
    pub(super) fn admits(self, order: Ordering) -> bool {
        match self {
            Order::Greater => order == Ordering::Greater,
            Order::GreaterOrEqual => order != Ordering::Less,
            Order::Less => order == Ordering::Less,
            Order::LessOrEqual => order != Ordering::Greater,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Order::Greater => "greater than",
            Order::GreaterOrEqual => "at least",
            Order::Less => "less than",
            Order::LessOrEqual => "at most",
        }
    }
}

impl Rule for Bound {
    fn judge(&self, actual: &Json) -> Verdict {
        let Json::Number(actual) = actual else { return Verdict::Needs("a number") };
        equality::compare(actual, &self.to).is_some_and(|order| self.order.admits(order)).into()
    }

    fn reason(&self, actual: &Json) -> String {
        format!("{actual} is not {} {}", self.order.words(), self.to)
    }
}

/// A test of one number with no order in it.
#[derive(Debug)]
pub(super) enum Arithmetic {
    /// Inclusive.
    Between(Number, Number),
    Approx {
        to: Number,
        by: Number,
    },
    MultipleOf(Number),
    DecimalPlaces(usize),
}

pub(super) fn between(mut call: Call<'_, '_>) -> Option<Tree> {
    let [low, high] = call.pair("two numbers")?;
    let (low, high) = (call.number_at(&low)?, call.number_at(&high)?);
    if equality::compare(&low, &high) == Some(Ordering::Greater) {
        return call.bad(call.node.span, format!("nothing is between {low} and {high}"));
    }
    Some(Leaf::tree(call.head(), Arithmetic::Between(low, high)))
}

pub(super) fn approx(mut call: Call<'_, '_>) -> Option<Tree> {
    let [to, by] = call.pair("a number and a tolerance")?;
    let (to, tolerance) = (call.number_at(&to)?, call.number_at(&by)?);
    if tolerance.as_f64().is_some_and(|tolerance| tolerance < 0.0) {
        return call.bad(by.span, "a tolerance is not negative");
    }
    Some(Leaf::tree(call.head(), Arithmetic::Approx { to, by: tolerance }))
}

pub(super) fn multiple_of(mut call: Call<'_, '_>) -> Option<Tree> {
    let of = call.number()?;
    if of.as_f64() == Some(0.0) {
        return call.bad(call.node.span, "nothing is a multiple of 0");
    }
    Some(Leaf::tree(call.head(), Arithmetic::MultipleOf(of)))
}

pub(super) fn decimal_places(mut call: Call<'_, '_>) -> Option<Tree> {
    match call.number()?.as_u64() {
        Some(places) if places <= 400 => {
            let rule = Arithmetic::DecimalPlaces(places as usize);
            Some(Leaf::tree(call.head(), rule))
        }
        _ => call.bad(call.node.span, "`$decimalPlaces` takes a whole number from 0 on"),
    }
}

/// Digits after the point in the shortest way to write the number.
fn places(number: &Number) -> usize {
    let float = number.as_f64().filter(|_| number.is_f64()).unwrap_or(0.0);
    format!("{float}").split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// In decimal, or but for the last binary digits: a server that adds 0.1 and 0.2 sends 0.30000000000000004.
fn is_multiple(number: &Number, of: &Number) -> bool {
    let exact = Decimal::of(number).zip(Decimal::of(of)).is_some_and(|(number, of)| number.is_multiple_of(of));
    exact
        || number.as_f64().zip(of.as_f64()).is_some_and(|(number, of)| {
            let rounding = rounding(number);
            let rest = (number - (number / of).round() * of).abs();
            rest <= rounding && rounding <= of.abs() / 1000.0
        })
}

fn is_near(number: &Number, to: &Number, by: &Number) -> bool {
    let decimals = Decimal::of(number).zip(Decimal::of(by)).zip(Decimal::of(to));
    let exact = decimals.and_then(|((number, by), to)| number.is_within(by, to));
    let whole = !number.is_f64() && !to.is_f64();
    if exact == Some(true) || exact.is_some() && whole {
        return exact == Some(true);
    }
    match (number.as_f64(), to.as_f64(), by.as_f64()) {
        (Some(number), Some(to), Some(by)) => (number - to).abs() <= by + rounding(number).max(rounding(to)),
        _ => false,
    }
}

/// What arithmetic with binary fractions may add to a number.
fn rounding(number: f64) -> f64 {
    2.0 * f64::EPSILON * number.abs()
}

impl Arithmetic {
    pub(super) fn holds(&self, number: &Number) -> bool {
        match self {
            Arithmetic::Between(low, high) => {
                equality::compare(number, low).is_some_and(Ordering::is_ge)
                    && equality::compare(number, high).is_some_and(Ordering::is_le)
            }
            Arithmetic::Approx { to, by } => is_near(number, to, by),
            Arithmetic::MultipleOf(of) => is_multiple(number, of),
            Arithmetic::DecimalPlaces(expected) => places(number) == *expected,
        }
    }

    pub(super) fn say(&self, number: &Number) -> String {
        match self {
            Arithmetic::Between(low, high) => format!("{number} is not between {low} and {high}"),
            Arithmetic::Approx { to, by } => {
                format!("{number} is more than {by} away from {to}")
            }
            Arithmetic::MultipleOf(of) => format!("{number} is not a multiple of {of}"),
            Arithmetic::DecimalPlaces(_) => format!("{number} has {} decimal places", places(number)),
        }
    }
}

impl Rule for Arithmetic {
    fn judge(&self, actual: &Json) -> Verdict {
        match actual {
            Json::Number(number) => self.holds(number).into(),
            _ => Verdict::Needs("a number"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        actual.as_number().map(|number| self.say(number)).unwrap_or_default()
    }
}
