//! Results of the modern era that ask for input: `resultType: input_required`.
//!
//! The client answers what stands under `inputRequests`, and sends its request again with the answers under
//! `inputResponses` and with `requestState` exactly as it came.

use super::message::{Kind, Line, Message, parse_line};
use crate::source::Json;
use serde_json::{Map, json};

/// How often a server may ask before it is taken to never stop.
pub const MOST_ROUNDS: usize = 16;

/// The types of results; the last one is that of an extension.
const KNOWN_TYPES: [&str; 3] = ["complete", "input_required", "task"];

/// A result that asks for input.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What is asked, in order.
    pub requests: Vec<Request>,
    /// To be returned as it is.
    pub state: Option<Json>,
}

/// One thing that is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The server's name for it.
    pub key: String,
    /// Such as `elicitation/create`.
    pub method: String,
    /// Its parameters; `null` if there are none.
    pub params: Json,
}

impl Request {
    /// As the message that a server of the legacy era would have sent.
    pub fn message(&self) -> Option<Message> {
        let mut message = json!({"jsonrpc": "2.0", "id": self.key, "method": self.method});
        if !self.params.is_null() {
            message["params"] = self.params.clone();
        }
        match parse_line(message.to_string().as_bytes()) {
            Line::Message(message) => Some(message),
            Line::Batch(_) | Line::Noise(_) => None,
        }
    }
}

impl Asked {
    /// What a result, or a task, asks for.
    pub fn of(asking: &Json) -> Asked {
        let requests = asking.get("inputRequests").and_then(Json::as_object).into_iter().flatten();
        let requests = requests.map(|(key, request)| Request {
            key: key.clone(),
            method: request.get("method").and_then(Json::as_str).unwrap_or_default().to_owned(),
            params: request.get("params").cloned().unwrap_or_default(),
        });
        Asked { requests: requests.collect(), state: asking.get("requestState").cloned() }
    }

    /// Whether the request may be sent again: one that asks for nothing and has no state would only go round.
    pub fn can_go_on(&self) -> bool {
        !self.requests.is_empty() || self.state.is_some()
    }

    /// The parameters of the request to send again.
    pub fn retry(self, params: &Json, told: Map<String, Json>) -> Json {
        let mut params = params.clone();
        if let Some(params) = params.as_object_mut() {
            if !self.requests.is_empty() {
                params.insert("inputResponses".into(), Json::Object(told));
            }
            if let Some(state) = self.state {
                params.insert("requestState".into(), state);
            }
        }
        params
    }
}

/// What a result asks for; none when it is a whole one.
pub fn asked(answer: &Message) -> Option<Asked> {
    let Kind::Response { is_error: false, .. } = answer.kind else { return None };
    if !answer.body_text()?.contains("input_required") {
        return None;
    }
    let result = answer.body().ok()?;
    (result.get("resultType")? == "input_required").then(|| Asked::of(&result))
}

/// The type of a result, when it is none that the protocol or its extensions know.
pub fn unknown_type(answer: &Message) -> Option<String> {
    let Kind::Response { is_error: false, .. } = answer.kind else { return None };
    if !answer.body_text()?.contains("resultType") {
        return None;
    }
    match answer.body().ok()?.get("resultType")? {
        Json::String(kind) if KNOWN_TYPES.contains(&kind.as_str()) => None,
        Json::String(kind) => Some(kind.clone()),
        other => Some(other.to_string()),
    }
}

/// Why a result of the modern era is of no use to whoever asked: it still asks for input, or is of a type that nobody knows.
pub fn unfit(method: &str, answer: &Message) -> Option<String> {
    if let Some(kind) = unknown_type(answer) {
        return Some(format!(
            "the result of `{method}` is of the type `{kind}`, and clients must refuse what they do not know"
        ));
    }
    let Asked { requests, .. } = asked(answer)?;
    let mut methods: Vec<&str> = requests.iter().map(|request| request.method.as_str()).collect();
    methods.dedup();
    let what = if methods.is_empty() { String::new() } else { format!(": `{}`", methods.join("`, `")) };
    Some(format!("`{method}` asks for input that nobody gives{what}"))
}

/// Why nothing more is answered.
pub fn endless(method: &str) -> String {
    format!("`{method}` asked for input {MOST_ROUNDS} times and never came to an end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: Json) -> Option<Asked> {
        let line = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        match parse_line(line.as_bytes()) {
            Line::Message(message) => asked(&message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_asked_keeps_its_names_and_the_state_its_form() {
        let request = json!({"method": "elicitation/create", "params": {"message": "?"}});
        let result = json!({"resultType": "input_required", "inputRequests": {"a": request}, "requestState": "s\u{1}"});
        let asked = of(result).expect("it asks");
        assert_eq!((asked.requests[0].key.as_str(), asked.requests[0].method.as_str()), ("a", "elicitation/create"));
        let mut told = Map::new();
        told.insert("a".into(), json!({"action": "decline"}));
        let again = asked.retry(&json!({"name": "x"}), told);
        let expected = json!({"name": "x", "inputResponses": {"a": {"action": "decline"}}, "requestState": "s\u{1}"});
        assert_eq!(again, expected);
    }

    #[test]
    fn what_asks_for_input_and_what_nobody_knows_is_no_result() {
        let unfit = |result: Json| {
            let line = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
            match parse_line(line.as_bytes()) {
                Line::Message(message) => unfit("tools/call", &message),
                other => panic!("{other:?}"),
            }
        };
        let unknown =
            "the result of `tools/call` is of the type `dreaming`, and clients must refuse what they do not know";
        assert_eq!(unfit(json!({"content": [], "resultType": "dreaming"})).as_deref(), Some(unknown));
        let form = json!({"method": "elicitation/create"});
        let asking = json!({"resultType": "input_required", "inputRequests": {"a": form, "b": form}});
        let expected = "`tools/call` asks for input that nobody gives: `elicitation/create`";
        assert_eq!(unfit(asking).as_deref(), Some(expected));
        assert_eq!(unfit(json!({"content": [], "resultType": "complete"})), None);
        assert_eq!(unfit(json!({"content": []})), None);
    }

    #[test]
    fn a_whole_result_asks_for_nothing() {
        assert_eq!(of(json!({"content": [], "resultType": "complete"})), None);
        assert_eq!(of(json!({"content": [{"type": "text", "text": "input_required"}]})), None);
        assert!(!of(json!({"resultType": "input_required"})).expect("it asks").can_go_on());
    }
}
