//! What a step keeps for the steps after it.

use super::judge::Judge;
use crate::event::Failure;
use crate::source::Json;
use crate::suite::Step;
use std::collections::HashMap;

/// Looks every capture up in the outcome; one that gives no single value is a failure.
pub(super) fn capture(
    step: &Step,
    outcome: &Json,
    judge: &Judge<'_>,
    captured: &mut HashMap<String, Json>,
    failures: &mut Vec<Failure>,
) {
    for capture in &step.captures {
        let nodes = capture.path.query(outcome).all();
        let value = match nodes.as_slice() {
            _ if capture.all => Json::Array(nodes.into_iter().cloned().collect()),
            [node] => (*node).clone(),
            nodes => {
                let count = if nodes.is_empty() { "nothing".to_owned() } else { format!("{} values", nodes.len()) };
                let message = format!("`{}` cannot be captured: `{}` gives {count}", capture.name, capture.path);
                let mut failure = judge.mismatch(message, capture.span);
                if !nodes.is_empty() {
                    failure.hints.push(format!("`\"{}[]\"` takes all of them, as a list", capture.name));
                }
                failures.push(failure);
                continue;
            }
        };
        captured.insert(capture.name.clone(), value);
    }
}
