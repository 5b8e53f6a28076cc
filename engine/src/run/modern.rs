//! What is different about steps in the modern era.
//!
//! Requests that the engine composes carry the `_meta` of the session; one with `task` declares that extension too. A result that asks for input is answered from
//! `respond`, and the request is sent again. `subscribe` opens a `subscriptions/listen` that stays open until `unsubscribe`
//! or the end of the session; `logLevel` sends nothing, and is asked for by every request from then on.

use super::call::{Call, End, Retry, Unfit};
use super::exchange::Exchange;
use super::line::{self, Awaits, Line};
use super::respond::Told;
use super::session::Session;
use super::window;
use crate::mcp::era::{self, LOG_LEVEL, SUBSCRIPTION_ID, TASKS};
use crate::mcp::input::{self, Asked};
use crate::mcp::lifecycle;
use crate::mcp::message::{Kind, Message};
use crate::source::{Json, Node};
use crate::suite::Action;
use crate::suite::template::text_of;
use serde_json::{Map, json};
use std::rc::Rc;
use std::time::Duration;

/// Lists that a client can want to hear of, and the key that asks for it.
const LISTS: [(&str, &str); 3] =
    [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")];

/// The `_meta` of what is composed for an action, with the step's own over it; `None` where nothing is to be added.
pub(super) fn meta(session: &Session, action: &Action, written: Option<&Node>) -> Option<Node> {
    let modern = session.connection.modern()?;
    let raw = matches!(action, Action::Request(_) | Action::Notify(_) | Action::Raw(_) | Action::Bytes(_));
    (!raw).then(|| line::meta_node(&modern.meta, written))
}

/// The same for a call that may become a task, which says that the client can deal with one.
pub(super) fn task_meta(session: &Session, written: Option<&Node>) -> Option<Node> {
    let mut meta = session.connection.modern()?.meta.clone();
    era::declare_extension(&mut meta, TASKS);
    Some(line::meta_node(&meta, written))
}

/// The call of an action that has another form in this era; `None` where it has not.
pub(super) fn call(action: &Action, meta: Option<&Node>, session: &mut Session, timeout: Duration) -> Option<Call> {
    let is_modern = session.connection.modern().is_some();
    let is_list = |what: &str| LISTS.iter().any(|(list, _)| *list == what);
    match action {
        Action::LogLevel(level) if is_modern => {
            session.connection.set_meta(LOG_LEVEL, Json::from(*level));
            Some(Call::nothing(timeout))
        }
        Action::Subscribe(what) if is_modern => Some(listen(&text_of(what), meta, session, timeout)),
        Action::Unsubscribe(what) if is_modern => Some(stop_listening(&text_of(what), session, timeout)),
        // A server of the legacy era tells of its lists unasked.
        Action::Subscribe(what) | Action::Unsubscribe(what) if is_list(&text_of(what)) => Some(Call::nothing(timeout)),
        _ => None,
    }
}

/// What the request is sent again with, where its result may ask for input.
pub(super) fn retry(action: &Action, line: &Line, session: &Session) -> Option<Retry> {
    session.connection.modern()?;
    let may_ask =
        matches!(action, Action::Tool { .. } | Action::Read(_) | Action::Template { .. } | Action::Prompt { .. });
    let request: Json = may_ask.then(|| serde_json::from_slice(&line.bytes).ok())??;
    Some(Retry { params: request.get("params")?.clone(), rounds: 0 })
}

fn listen(what: &str, meta: Option<&Node>, session: &mut Session, timeout: Duration) -> Call {
    let filter = match LISTS.iter().find(|(list, _)| *list == what) {
        Some((_, key)) => json!({*key: true}),
        None => json!({"resourceSubscriptions": [what]}),
    };
    let params = json!({"notifications": filter, "_meta": meta.map_or_else(|| json!({}), Node::to_json)});
    let line = line::composed("subscriptions/listen", &params, session.connection.fresh_id());
    Call { listen: Some(what.to_owned()), ..Call::new(line, timeout) }
}

fn stop_listening(what: &str, session: &mut Session, timeout: Duration) -> Call {
    let Some(at) = session.listening.iter().position(|(subscribed, _)| subscribed == what) else {
        let message = format!("there is no subscription to `{what}` that could end");
        let hint = "`subscribe` to it first, in the same session".to_owned();
        return Call { unfit: Some(Unfit { message, hint }), ..Call::nothing(timeout) };
    };
    let (_, id) = session.listening.remove(at);
    if session.connection.abandon(&id) {
        return Call::nothing(timeout);
    }
    let mut bytes = lifecycle::cancelled(&id, "the subscription is over").to_string().into_bytes();
    bytes.push(b'\n');
    Call::new(Line { bytes, awaits: Awaits::Nothing, method: Some("notifications/cancelled".into()) }, timeout)
}

impl Exchange<'_> {
    /// What the answer to a call asks for, where it may ask.
    pub(super) fn asked(&self, at: usize, message: &Message) -> Option<Asked> {
        self.calls[at].retry.as_ref().and_then(|_| input::asked(message))
    }

    /// The answer asks for input: sends the request again with what the suite scripts, or ends the call with it.
    pub(super) async fn go_on_with_input(&mut self, at: usize, message: Rc<Message>, asked: Asked) {
        let call = &mut self.calls[at];
        let Some(retry) = &mut call.retry else { return };
        call.window.received(message.clone());
        for request in &asked.requests {
            call.window.asked(request.method.clone(), request.params.clone());
        }
        let method = call.line.method.clone().unwrap_or_default();
        retry.rounds += 1;
        if retry.rounds >= input::MOST_ROUNDS {
            return call.end = Some(End::Malformed(input::endless(&method)));
        }
        let told = match self.tell(&asked) {
            Ok(told) => told,
            Err(unfit) => {
                let call = &mut self.calls[at];
                (call.unfit, call.answer) = (Some(unfit), Some(message));
                return call.end = Some(End::Done);
            }
        };
        let id = self.session.connection.fresh_id();
        let call = &mut self.calls[at];
        let Some(retry) = &call.retry else { return };
        call.line = line::composed(&method, &asked.retry(&retry.params, told), id);
        self.send(at).await;
    }

    /// The suite's answers, by the server's names for its questions; what is to be ignored is left out.
    pub(super) fn tell(&mut self, asked: &Asked) -> Result<Map<String, Json>, Unfit> {
        let mut told = Map::new();
        let stuck = |message: String, hint: &str| Err(Unfit { message, hint: hint.to_owned() });
        let as_it_is = "the question itself is expected with `result: { $partial: { resultType: input_required } }`";
        if !asked.can_go_on() {
            return stuck("the server asks for input, and says neither which nor how to go on".into(), as_it_is);
        }
        for request in &asked.requests {
            let (method, params) = (request.method.as_str(), &request.params);
            if !self.scripts.has(method) {
                let message = format!("the server asks for input, and nothing answers `{method}`");
                return stuck(message, &format!("script the answer with `respond`; {as_it_is}"));
            }
            match self.scripts.answer(method, params, self.turns, &mut self.session.turns) {
                Some(Told::Result(result)) => drop(told.insert(request.key.clone(), result)),
                Some(Told::Error(error)) => {
                    let error = lifecycle::error_text(&error);
                    let message = format!("the modern era cannot tell a server that `{method}` failed ({error})");
                    return stuck(
                        message,
                        "answer with a result: a user declines with `{ result: { action: decline } }`",
                    );
                }
                None => {}
            }
        }
        if told.is_empty() && !asked.requests.is_empty() {
            return stuck("the server asks for input, and the suite ignores all of it".into(), as_it_is);
        }
        Ok(told)
    }

    /// The open call whose subscription a notification acknowledges; it has what it awaits then.
    pub(super) fn acknowledged(&mut self, message: &Message) -> Option<usize> {
        let params = window::params(message);
        let id = params.get("_meta")?.get(SUBSCRIPTION_ID)?;
        let at = self.calls.iter().position(|call| {
            let own = matches!(&call.line.awaits, Awaits::Answer { id: own, .. } if own == id);
            own && call.end.is_none() && call.listen.is_some()
        })?;
        let call = &mut self.calls[at];
        let what = call.listen.clone()?;
        call.took = call.age();
        call.end = Some(End::Done);
        let honoured = params.get("notifications");
        let granted = match LISTS.iter().find(|(list, _)| *list == what) {
            Some((_, key)) => honoured.and_then(|filter| filter.get(key)) == Some(&Json::Bool(true)),
            None => {
                let uris = honoured.and_then(|filter| filter.get("resourceSubscriptions")?.as_array());
                uris.is_some_and(|uris| uris.iter().any(|uri| *uri == what))
            }
        };
        if !granted {
            let message = format!("the server acknowledged the subscription, but not for `{what}`");
            let hint = "what it will tell of stands in the params of `notifications/subscriptions/acknowledged`";
            call.unfit = Some(Unfit { message, hint: hint.to_owned() });
        }
        self.session.listening.push((what, id.clone()));
        Some(at)
    }

    /// The server ended a subscription; in words.
    pub(super) fn ended_subscription(&mut self, message: &Message) -> Option<String> {
        let Kind::Response { id, .. } = &message.kind else { return None };
        Some(format!("the server ended the subscription to `{}`", self.end_subscription(id)?))
    }

    /// Nothing comes of a subscription any more: to what it was.
    pub(super) fn end_subscription(&mut self, id: &Json) -> Option<String> {
        let at = self.session.listening.iter().position(|(_, listening)| listening == id)?;
        Some(self.session.listening.remove(at).0)
    }
}
