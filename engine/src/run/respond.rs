//! Answers to what the server asks of its client: scripted, innermost first, or a plain refusal.

use crate::mcp::lifecycle;
use crate::plan::scope::{Moment, Scope};
use crate::source::{Json, Node, Span};
use crate::suite::template::Filler;
use crate::suite::{Answer, Respond, Row};
use serde_json::json;
use std::collections::HashMap;

/// The scripts that hold for a step.
#[derive(Debug)]
pub(super) struct Scripts<'a> {
    /// The step's own; its variables are filled in.
    pub(super) step: &'a Respond,
    /// The suite's.
    pub(super) suite: &'a Respond,
    /// The server's.
    pub(super) server: &'a Respond,
    /// Where the names in the suite's answers are looked up.
    pub(super) scope: &'a Scope,
    /// The row of the test.
    pub(super) row: Option<&'a Row>,
    /// What is known now.
    pub(super) moment: Moment<'a>,
}

/// How often each answer was used.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Of the step.
    pub(super) step: HashMap<String, usize>,
    /// Of the suite.
    pub(super) suite: HashMap<String, usize>,
}

impl Scripts<'_> {
    /// The answer to a request of the server; `None` when it is to stay unanswered.
    pub(super) fn answer(
        &self,
        id: &Json,
        method: &str,
        turns: &mut Turns,
        server_turns: &mut HashMap<String, usize>,
    ) -> Option<Json> {
        let levels = [(self.step, &mut turns.step), (self.suite, &mut turns.suite), (self.server, server_turns)];
        for (respond, used) in levels {
            let Some(entry) = respond.entries.iter().find(|entry| entry.method == method) else { continue };
            let turn = used.entry(method.to_owned()).or_insert(0);
            let answer = entry.answers.get(*turn).or(entry.answers.last());
            *turn += 1;
            return match answer? {
                Answer::Result(node) => Some(json!({"jsonrpc": "2.0", "id": id, "result": self.value(node)})),
                Answer::Error(node) => Some(json!({"jsonrpc": "2.0", "id": id, "error": self.value(node)})),
                Answer::Ignore => None,
            };
        }
        Some(lifecycle::refusal(id, method))
    }

    fn value(&self, node: &Node) -> Json {
        let mut scope = |name: &str, _: Span| self.scope.lookup(name, self.row, Some(&self.moment));
        Filler::new(&mut scope).fill(node).as_ref().unwrap_or(node).to_json()
    }
}
