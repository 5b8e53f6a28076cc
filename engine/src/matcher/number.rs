//! `$gt $gte $lt $lte` `$between` `$approx` `$multipleOf` `$decimalPlaces`.

use super::argument::Call;
use super::equality;
use super::leaf::{Leaf, Rule, Verdict};
use super::tree::Tree;
use crate::source::Json;
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
    Some(Leaf::tree(call.name(), call.span(), call.written(), Bound { order, to }))
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
