//! What belongs to the judgement at hand, on the thread that judges: which step it is, the values that were already
//! written out as text, and the fault that ends it.
//!
//! Matchers nest (`$not`, `$any`, `$each`), and most of them only ask their inner one for a yes or a no. A fault is
//! neither: it is kept here, beside the verdicts, so that no combination of matchers can turn it into one.

use super::foreign::{Broken, Objection};
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use crate::event::StepId;
use crate::source::{Json, Span};
use std::cell::RefCell;
use std::sync::Arc;

/// Texts from this length on are kept: shorter ones are written again faster than they are compared.
const KEPT_FROM: usize = 16 * 1024;
/// How many are kept: the answer, its text, its structured content, one more.
const KEPT: usize = 4;
/// How many objections are remembered: as many as a report lists.
const MOST_OBJECTIONS: usize = super::Found::LIMIT;

#[derive(Default)]
struct Judgement {
    step: Option<StepId>,
    step_text: Option<Arc<str>>,
    texts: Vec<(Json, Arc<str>)>,
    /// Where the check at hand begins.
    root: String,
    objections: Vec<Remembered>,
    fault: Option<Mismatch>,
}

/// What a matcher objected to a value during the check at hand.
struct Remembered {
    matcher: usize,
    value: String,
    objection: Objection,
}

thread_local! {
    static JUDGEMENT: RefCell<Judgement> = RefCell::default();
}

/// The judgement of one step; what was kept for it goes with it.
#[derive(Debug)]
pub struct Scope(());

impl Scope {
    /// Begins the judgement of a step.
    pub fn enter(step: StepId) -> Scope {
        JUDGEMENT.with_borrow_mut(|judgement| *judgement = Judgement { step: Some(step), ..Judgement::default() });
        Scope(())
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        JUDGEMENT.with_borrow_mut(|judgement| *judgement = Judgement::default());
    }
}

/// Begins a check of the value at `root`: what was objected in the last one is of no use any more.
pub(super) fn begin_check(root: &str) {
    JUDGEMENT.with_borrow_mut(|judgement| {
        root.clone_into(&mut judgement.root);
        judgement.objections.clear();
    });
}

/// Where a value stands in the outcome. A matcher that only asks its inner one for a yes or a no does not say where that
/// is: there it is the place of the check.
pub(super) fn place(path: &Path<'_>) -> String {
    match path.to_string() {
        path if path.starts_with('$') => path,
        _ => JUDGEMENT.with_borrow(|judgement| match judgement.root.as_str() {
            "" => "$".to_owned(),
            root => root.to_owned(),
        }),
    }
}

/// What the matcher at this address objected to the same value a moment ago: first it is asked whether, then why.
pub(super) fn remembered(matcher: usize, value: &str) -> Option<Objection> {
    JUDGEMENT.with_borrow(|judgement| {
        let found = judgement.objections.iter().find(|known| known.matcher == matcher && known.value == value);
        found.map(|known| known.objection.clone())
    })
}

/// Remembers an objection until the check is over.
pub(super) fn remember(matcher: usize, value: &str, objection: &Objection) {
    if value.len() < KEPT_FROM {
        JUDGEMENT.with_borrow_mut(|judgement| {
            if judgement.objections.len() < MOST_OBJECTIONS {
                let objection = objection.clone();
                judgement.objections.push(Remembered { matcher, value: value.to_owned(), objection });
            }
        });
    }
}

/// Whether a fault has ended the check at hand: further calls would only add to its time.
pub(super) fn is_broken() -> bool {
    JUDGEMENT.with_borrow(|judgement| judgement.fault.is_some())
}

/// Ends the check at hand with a fault.
pub(super) fn break_off(broken: Broken, matcher: String, path: String, span: Span) {
    let Broken { code, source, message, hints } = broken;
    let mut fault = Mismatch::new(Rank::Kind, &Path::root(&path), span, message).by(matcher).hints(hints);
    fault.fault = Some((code, source));
    JUDGEMENT.with_borrow_mut(|judgement| {
        judgement.fault.get_or_insert(fault);
    });
}

/// The fault that ended the check at hand.
pub(super) fn take_fault() -> Option<Mismatch> {
    JUDGEMENT.with_borrow_mut(|judgement| judgement.fault.take())
}

/// Hands a value on as JSON text, together with the id of the step. A large value is written out once per step.
pub(super) fn with_text<T>(value: &Json, work: impl FnOnce(&str, &str) -> T) -> T {
    let (known, step) = JUDGEMENT.with_borrow_mut(|judgement| {
        let step = judgement.step_text.clone().unwrap_or_else(|| {
            let text: Arc<str> = judgement
                .step
                .as_ref()
                .map_or_else(String::new, |step| format!("{}/{}", step.test.id, step.number))
                .into();
            judgement.step_text = Some(text.clone());
            text
        });
        let known = judgement.texts.iter().find(|(kept, _)| is_same_text(kept, value)).map(|(_, text)| text.clone());
        (known, step)
    });
    if let Some(text) = known {
        return work(&text, &step);
    }
    let text = value.to_string();
    if text.len() < KEPT_FROM {
        return work(&text, &step);
    }
    let text: Arc<str> = text.into();
    JUDGEMENT.with_borrow_mut(|judgement| {
        if judgement.step.is_some() {
            if judgement.texts.len() == KEPT {
                judgement.texts.remove(0);
            }
            judgement.texts.push((value.clone(), text.clone()));
        }
    });
    work(&text, &step)
}

/// Whether two values are written the same: keys in the same order, numbers of the same kind.
fn is_same_text(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_text(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && is_same_text(a, b))
        }
        (Json::Number(a), Json::Number(b)) => a == b && a.is_f64() == b.is_f64() && !is_zero(a),
        (a, b) => a == b,
    }
}

/// Zero is equal to minus zero, and not written like it.
fn is_zero(number: &serde_json::Number) -> bool {
    number.is_f64() && number.as_f64() == Some(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_text_means_the_same_bytes() {
        let values = [
            json!({"a": 1, "b": 2}),
            json!({"b": 2, "a": 1}),
            json!({"a": 1.0, "b": 2}),
            json!([1, 2]),
            json!("1"),
            json!(null),
            json!([0.0]),
            json!([-0.0]),
            json!([]),
            json!({}),
        ];
        for a in &values {
            for b in &values {
                let (written_a, written_b) = (a.to_string(), b.to_string());
                assert!(!is_same_text(a, b) || written_a == written_b, "{a} {b}");
            }
        }
        assert!(is_same_text(&values[0], &values[0]));
    }

    #[test]
    fn a_large_value_is_written_once_per_step() {
        let test = crate::reporter::sample::test("a.yml", "A", "s", crate::suite::Lane::Tests, "t", 1);
        let large = json!(["x".repeat(KEPT_FROM), {"a": 1}]);
        let address = |value: &Json| with_text(value, |text, _| text.as_ptr() as usize);
        {
            let _scope = Scope::enter(StepId { test: test.clone(), number: 2 });
            assert_eq!(address(&large), address(&large.clone()));
            with_text(&json!(1), |text, step| assert_eq!((text, step), ("1", &*format!("{}/2", test.id))));
        }
        JUDGEMENT.with_borrow(|judgement| assert!(judgement.texts.is_empty()));
    }
}
