//! Answers to what the server asks of its client: scripted, innermost first, or a plain refusal.

use crate::mcp::instance;
use crate::plan::scope::{Moment, Scope};
use crate::source::{Json, Node, Span};
use crate::suite::template::Filler;
use crate::suite::{Answer, Respond, Row};
use serde_json::json;
use std::collections::HashMap;

/// Nobody here knows the method.
const METHOD_NOT_FOUND: i32 = -32601;
/// The request asks for what was never declared.
const INVALID_PARAMS: i32 = -32602;

/// The scripts that hold for a step.
#[derive(Debug)]
pub(super) struct Scripts<'a> {
    /// The step's own; its variables are filled in.
    pub(super) step: &'a Respond,
    /// The suite's.
    pub(super) suite: &'a Respond,
    /// The server's.
    pub(super) server: &'a Respond,
    /// What the client declared.
    pub(super) capabilities: &'a Json,
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

/// What the server is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    /// A result.
    Result(Json),
    /// An error.
    Error(Json),
}

impl Told {
    /// As the answer to the request with this id.
    pub(super) fn envelope(self, id: &Json) -> Json {
        match self {
            Told::Result(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Told::Error(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        }
    }
}

impl Scripts<'_> {
    /// The answer to a request of the server; `None` when it is to stay unanswered.
    pub(super) fn answer(
        &self,
        method: &str,
        params: &Json,
        turns: &mut Turns,
        server_turns: &mut HashMap<String, usize>,
    ) -> Option<Told> {
        if let Some(refusal) = undeclared_mode(method, params, self.capabilities) {
            return Some(refusal);
        }
        let levels = [(self.step, &mut turns.step), (self.suite, &mut turns.suite), (self.server, server_turns)];
        for (respond, used) in levels {
            let Some(entry) = respond.entries.iter().find(|entry| entry.method == method) else { continue };
            let turn = used.entry(method.to_owned()).or_insert(0);
            let answer = entry.answers.get(*turn).or(entry.answers.last());
            *turn += 1;
            return match answer? {
                Answer::Result(node) => Some(Told::Result(self.value(node))),
                Answer::Error(node) => Some(Told::Error(self.value(node))),
                Answer::Accept(node) => {
                    Some(Told::Result(accepted(params, node.as_ref().map(|node| self.value(node)))))
                }
                Answer::Ignore => None,
            };
        }
        Some(unscripted(method))
    }

    /// Whether something is scripted for a method.
    pub(super) fn has(&self, method: &str) -> bool {
        let levels = [self.step, self.suite, self.server];
        levels.into_iter().any(|respond| respond.entries.iter().any(|entry| entry.method == method))
    }

    fn value(&self, node: &Node) -> Json {
        let mut scope = |name: &str, _: Span| self.scope.lookup(name, self.row, Some(&self.moment));
        Filler::new(&mut scope).fill(node).as_ref().unwrap_or(node).to_json()
    }
}

/// What a request gets that nothing answers: `ping` is answered, the rest is refused.
fn unscripted(method: &str) -> Told {
    match method {
        "ping" => Told::Result(json!({})),
        _ => Told::Error(json!({"code": METHOD_NOT_FOUND, "message": format!("method not found: {method}")})),
    }
}

/// The user accepts, with the fields that are given over the form's own.
fn accepted(params: &Json, given: Option<Json>) -> Json {
    let mut answer = instance::accepted(params);
    match (answer.get_mut("content"), given) {
        (Some(Json::Object(content)), Some(Json::Object(given))) => content.extend(given),
        (Some(content), Some(given)) => *content = given,
        _ => {}
    }
    answer
}

/// A client refuses an elicitation in a mode that it never declared; without a word about modes, forms are declared.
fn undeclared_mode(method: &str, params: &Json, capabilities: &Json) -> Option<Told> {
    if method != "elicitation/create" {
        return None;
    }
    let declared = capabilities.get("elicitation")?.as_object()?;
    let mode = if instance::is_url(params) { "url" } else { "form" };
    let known = declared.contains_key(mode) || (mode == "form" && !declared.contains_key("url"));
    let message = format!("the client does not declare elicitation in `{mode}` mode");
    (!known).then(|| Told::Error(json!({"code": INVALID_PARAMS, "message": message})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accepted_form_has_its_defaults_under_the_given_fields() {
        let schema = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "age": {"type": "integer", "default": 30}, "note": {"type": "string"},
        }});
        let form = json!({"message": "who?", "requestedSchema": schema});
        let accept = |content: Json| json!({"action": "accept", "content": content});
        assert_eq!(accepted(&form, None), accept(json!({"name": "example", "age": 30})));
        let given = json!({"name": "Ada", "note": "x"});
        assert_eq!(accepted(&form, Some(given)), accept(json!({"name": "Ada", "age": 30, "note": "x"})));
        let url = json!({"mode": "url", "url": "https://example.com/"});
        assert_eq!(accepted(&url, Some(json!({"name": "Ada"}))), json!({"action": "accept"}));
    }

    #[test]
    fn a_mode_that_was_not_declared_is_refused() {
        let (form, url) = (json!({"message": "?"}), json!({"mode": "url"}));
        let refused = |params: &Json, declared: Json| {
            undeclared_mode("elicitation/create", params, &json!({"elicitation": declared})).is_some()
        };
        assert!(!refused(&form, json!({})) && refused(&url, json!({})));
        assert!(refused(&form, json!({"url": {}})) && !refused(&url, json!({"url": {}})));
        assert!(!refused(&form, json!({"form": {}, "url": {}})) && refused(&url, json!({"form": {}})));
    }
}
