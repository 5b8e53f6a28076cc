//! A call that is run as a task: created, awaited, looked at once more. In the modern era it is [polled](super::polling).

use super::call::End;
use super::exchange::Exchange;
use super::line::of_task;
use super::polling::Polling;
use crate::mcp::message::Message;
use crate::source::Json;
use std::rc::Rc;

/// A call on its way as a task: created, awaited, looked at once more.
#[derive(Debug)]
pub(super) struct TaskRun {
    /// Whether its end is awaited.
    pub(super) wait: bool,
    /// The task as the server last told it.
    pub(super) told: Option<Json>,
    /// The answer to `tasks/result`.
    pub(super) result: Option<Rc<Message>>,
    /// How it is asked about in the modern era.
    pub(super) polling: Option<Polling>,
}

impl TaskRun {
    /// Its identifier, once the server has given it one.
    pub(super) fn id(&self) -> Option<String> {
        self.told.as_ref()?.get("taskId")?.as_str().map(str::to_owned)
    }
}

impl Exchange<'_> {
    /// An answer came to a call that is run as a task: awaits its result, looks at it once more, or ends the call.
    pub(super) async fn go_on_as_task(&mut self, at: usize, message: Rc<Message>) {
        let call = &mut self.calls[at];
        let Some(task) = &mut call.task else { return };
        call.window.received(message.clone());
        let value = match message.value() {
            Ok(value) => value,
            Err(malformed) => return call.end = Some(End::Malformed(malformed.to_string())),
        };
        let next = match (&task.told, &task.result) {
            (None, _) => {
                task.told = value.pointer("/result/task").cloned();
                task.id().filter(|_| task.wait).map(|id| ("tasks/result", id))
            }
            (Some(_), None) => {
                task.result = Some(message.clone());
                task.id().map(|id| ("tasks/get", id))
            }
            (Some(_), Some(_)) => {
                task.told = value.get("result").cloned().or(task.told.take());
                None
            }
        };
        let Some((method, task)) = next else {
            call.answer = Some(task.result.take().unwrap_or(message));
            call.end = Some(End::Done);
            return;
        };
        self.calls[at].line = of_task(method, &task, self.session.connection.fresh_id());
        self.send(at).await;
    }
}
