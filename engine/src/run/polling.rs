//! A call that a server of the modern era made a task of (`io.modelcontextprotocol/tasks`).
//!
//! ```text
//! tools/call   → resultType: task, taskId
//! tasks/get    → working           asked again after `pollIntervalMs`
//! tasks/get    → input_required    answered from `respond` with tasks/update
//! tasks/get    → completed, failed the result or the error is the answer to the call
//! ```

use super::call::{Call, End, Unfit};
use super::exchange::Exchange;
use super::line;
use crate::mcp::input::Asked;
use crate::mcp::message::{Kind, Line, Message, parse_line};
use crate::source::Json;
use serde_json::json;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a task is left alone when the server does not say.
const INTERVAL: Duration = Duration::from_millis(100);
/// The least time between two looks, whatever the server says: it is not to be flooded.
const LEAST_INTERVAL: Duration = Duration::from_millis(10);

/// How a task is asked about.
#[derive(Debug)]
pub(super) struct Polling {
    /// The `_meta` of every request about it, which has to declare the extension.
    meta: Json,
    /// When it is looked at next.
    pub(super) due: Option<Instant>,
    /// Questions that were answered already: the server may go on telling them for a while.
    answered: HashSet<String>,
}

impl Polling {
    pub(super) fn new(mut meta: Json) -> Polling {
        if let Some(members) = meta.as_object_mut() {
            members.remove("progressToken");
        }
        Polling { meta, due: None, answered: HashSet::new() }
    }
}

impl Call {
    /// When its task is to be looked at.
    pub(super) fn look_at(&self) -> Option<Instant> {
        self.task.as_ref()?.polling.as_ref()?.due
    }

    /// Whether it is run as a task of the legacy era.
    pub(super) fn is_legacy_task(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.polling.is_none())
    }

    /// Whether an answer makes a task of a call that has not asked for it.
    pub(super) fn is_surprised_by(&self, message: &Message) -> bool {
        self.task.is_none() && self.retry.is_some() && is_task(message)
    }

    fn finish(&mut self, answer: Rc<Message>) {
        self.answer = Some(answer);
        self.end = Some(End::Done);
    }

    /// Leaves the task alone for a while; whatever comes meanwhile is no answer to this call.
    fn look_later(&mut self, at_once: bool) {
        let Some(task) = &mut self.task else { return };
        let told = task.told.as_ref().and_then(|told| told.get("pollIntervalMs")?.as_u64());
        let interval = told.map_or(INTERVAL, Duration::from_millis).max(LEAST_INTERVAL);
        let Some(polling) = &mut task.polling else { return };
        polling.due = Some(Instant::now() + if at_once { Duration::ZERO } else { interval });
        self.line.awaits = line::Awaits::Nothing;
    }
}

impl Exchange<'_> {
    /// An answer came to a call that may become a task, or to a question about that task.
    pub(super) async fn go_on_polling(&mut self, at: usize, message: Rc<Message>) {
        let call = &mut self.calls[at];
        let Some(task) = &mut call.task else { return };
        call.window.received(message.clone());
        let result = match message.value() {
            Ok(mut value) => value.get_mut("result").map(Json::take),
            Err(malformed) => return call.end = Some(End::Malformed(malformed.to_string())),
        };
        // An error ends it, wherever it comes.
        let Some(result) = result else { return call.finish(message) };
        if call.line.method.as_deref() == Some("tasks/update") {
            return call.look_later(false);
        }
        let created = task.told.is_none();
        if created && !is_task(&message) {
            return call.finish(message);
        }
        if result.get("taskId").and_then(Json::as_str).is_none() {
            return call.end = Some(End::Malformed("a task without a `taskId`".into()));
        }
        let status = result.get("status").and_then(Json::as_str).unwrap_or_default().to_owned();
        let wait = task.wait;
        task.told = Some(result);
        match status.as_str() {
            _ if !wait => call.finish(message),
            "working" => call.look_later(false),
            // What a task asks for, and what it came to, is told by `tasks/get` alone.
            _ if created => call.look_later(true),
            "input_required" => self.tell_task(at, message).await,
            "completed" => self.finish_task(at, "result", &message),
            "failed" => self.finish_task(at, "error", &message),
            "cancelled" => {
                let hint = "if that is right, expect it with `task: { status: cancelled }` and a `result`".to_owned();
                call.unfit = Some(Unfit { message: "the task was cancelled".to_owned(), hint });
                call.finish(message);
            }
            other => call.end = Some(End::Malformed(format!("a task whose `status` is `{other}`"))),
        }
    }

    /// Looks at a task again.
    pub(super) async fn look(&mut self, at: usize) {
        let id = self.session.connection.fresh_id();
        let call = &mut self.calls[at];
        let Some(task) = &mut call.task else { return };
        let (task_id, Some(polling)) = (task.id(), &mut task.polling) else { return };
        polling.due = None;
        call.line = line::composed("tasks/get", &json!({"taskId": task_id, "_meta": polling.meta}), id);
        self.send(at).await;
    }

    /// A task asks for input: tells it what the suite scripts, each question once.
    async fn tell_task(&mut self, at: usize, message: Rc<Message>) {
        let call = &mut self.calls[at];
        let Some(task) = &mut call.task else { return };
        let mut asked = Asked::of(task.told.as_ref().unwrap_or(&Json::Null));
        let (task_id, Some(polling)) = (task.id(), &mut task.polling) else { return };
        asked.requests.retain(|request| polling.answered.insert(request.key.clone()));
        if asked.requests.is_empty() {
            return call.look_later(false);
        }
        let meta = polling.meta.clone();
        for request in &asked.requests {
            call.window.asked(request.method.clone(), request.params.clone());
        }
        let told = match self.tell(&asked) {
            Ok(told) => told,
            Err(unfit) => {
                let call = &mut self.calls[at];
                call.unfit = Some(unfit);
                return call.finish(message);
            }
        };
        let params = json!({"taskId": task_id, "inputResponses": told, "_meta": meta});
        self.calls[at].line = line::composed("tasks/update", &params, self.session.connection.fresh_id());
        self.send(at).await;
    }

    /// What a task came to is the answer to the call.
    fn finish_task(&mut self, at: usize, key: &str, message: &Message) {
        let call = &mut self.calls[at];
        let came_to = call.task.as_mut().and_then(|task| task.told.as_mut()?.as_object_mut()?.remove(key));
        let Some(came_to) = came_to else {
            return call.end = Some(End::Malformed(format!("the task is over and has no `{key}`")));
        };
        let answer = json!({"jsonrpc": "2.0", "id": message.id(), key: came_to}).to_string();
        match parse_line(answer.as_bytes()) {
            Line::Message(Message { kind: Kind::Invalid { why, .. }, .. }) => call.end = Some(End::Malformed(why)),
            Line::Message(answer) => call.finish(Rc::new(answer)),
            Line::Batch(_) | Line::Noise(_) => {}
        }
    }
}

/// Whether a result says that the call became a task.
fn is_task(message: &Message) -> bool {
    let Kind::Response { is_error: false, .. } = message.kind else { return false };
    let told = message.body_text().is_some_and(|text| text.contains("resultType"));
    told && message.body().is_ok_and(|result| result.get("resultType").is_some_and(|kind| kind == "task"))
}
