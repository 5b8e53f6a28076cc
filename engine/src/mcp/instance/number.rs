//! Numbers that a schema accepts: between its bounds, in its steps, and small.

use crate::source::Json;
use serde_json::json;

/// The smallest number that the bounds allow where they allow none below zero; otherwise 1, or what is nearest to it.
pub(super) fn number(schema: &Json, whole: bool) -> Json {
    let step = schema.get("multipleOf").and_then(Json::as_f64).filter(|step| *step > 0.0);
    let bound = |inclusive: &str, exclusive: &str, tighter: fn(f64, f64) -> bool| {
        let bound = schema.get(inclusive).and_then(Json::as_f64);
        match schema.get(exclusive) {
            // As draft 4 has it.
            Some(Json::Bool(exclusive)) => bound.map(|bound| (bound, *exclusive)),
            Some(other) => match (other.as_f64(), bound) {
                (Some(other), Some(bound)) if tighter(bound, other) => Some((bound, false)),
                (Some(other), _) => Some((other, true)),
                (None, bound) => bound.map(|bound| (bound, false)),
            },
            None => bound.map(|bound| (bound, false)),
        }
    };
    let least = bound("minimum", "exclusiveMinimum", |a, b| a > b);
    let most = bound("maximum", "exclusiveMaximum", |a, b| a < b);
    let unit = if whole { step.unwrap_or(1.0).max(1.0) } else { step.unwrap_or(1.0) };
    // In steps from zero: the first and the last that lie between the bounds.
    let first = least.map(|(least, exclusive)| {
        let first = (least / unit).ceil();
        if exclusive && first * unit <= least { first + 1.0 } else { first }
    });
    let last = most.map(|(most, exclusive)| {
        let last = (most / unit).floor();
        if exclusive && last * unit >= most { last - 1.0 } else { last }
    });
    let steps = match (first, last) {
        (Some(first), _) if first >= 0.0 => first,
        (first, Some(last)) if last < 1.0 => last.max(first.unwrap_or(last)),
        _ => 1.0,
    };
    let between = last.is_none_or(|last| steps <= last);
    let value = match (least, most) {
        // Between two bounds that no step lies in, halfway is as good as it gets.
        (Some((least, _)), Some((most, _))) if !between && !whole => f64::midpoint(least, most),
        _ => times(steps, unit),
    };
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// So many steps, without what binary fractions add to a decimal one.
fn times(steps: f64, unit: f64) -> f64 {
    let parts = (1.0 / unit).round();
    if unit < 1.0 && (parts * unit - 1.0).abs() < 1e-9 { steps / parts } else { steps * unit }
}
