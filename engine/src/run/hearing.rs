//! What an exchange makes of everything it hears: an answer goes to the call that awaits it, a request of the server to the
//! scripts, the rest to the window that is open.

use super::call::{Call, End, Unfit};
use super::exchange::Exchange;
use super::line::Awaits;
use super::window::params;
use crate::mcp::input;
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::Incoming;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

impl Exchange<'_> {
    pub(super) async fn hear(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Message(message) => self.hear_message(message).await,
            Incoming::Noise(line) => self.window().noise(line),
            Incoming::Oversize { head, bytes } => {
                let limit = self.session.server.max_line;
                let window = self.window();
                window.noise(format!("{head}… ({bytes} bytes)"));
                window.oversize = true;
                window.note(format!("a line of {bytes} bytes is over the limit of {limit} (`maxLine`)"));
            }
            Incoming::Stderr(text) => self.window().stderr(&text),
            Incoming::StderrClosed => {}
            Incoming::Traffic(line) => self.window().traffic(line),
            Incoming::Note(note) => self.window().note(note),
            Incoming::Secret(value) => self.window().secrets.push(value),
            Incoming::Head { ticket, head } => self.hear_head(ticket, head),
            Incoming::Ended(ended) => self.hear_end(ended).await,
            Incoming::StdoutClosed => {
                // The exit follows when the process ended; a server that only closed its stdout can answer nothing.
                self.session.connection.transport.drain().await;
                let Some(process) = self.session.connection.transport.process() else { return };
                if process.child().try_exit().is_none() {
                    let waited = tokio::time::timeout(Duration::from_millis(200), process.child().wait());
                    if waited.await.is_err() {
                        self.session.broken = true;
                        self.end_all(&End::StdoutClosed);
                    }
                }
            }
            Incoming::Exited(exit) => {
                self.session.connection.exit = Some(exit);
                self.end_all(&End::Exited(exit));
            }
            Incoming::Failed(fault) => {
                // A stream that has ended takes the session with it; a cassette goes on.
                self.session.broken |= self.session.connection.transport.http().is_some();
                self.end_all(&End::Failed(*fault));
            }
        }
    }

    async fn hear_message(&mut self, message: Message) {
        if matches!(message.kind, Kind::Request { .. }) {
            return self.reply(message).await;
        }
        if matches!(message.kind, Kind::Notification { .. }) {
            return self.hear_notification(message).await;
        }
        let is_late = message.id().is_some_and(|id| self.session.connection.is_overdue(id));
        let takes = |call: &Call| call.awaits(&message) && !(is_late && call.line.awaits == Awaits::AnyAnswer);
        let Some(at) = self.calls.iter().position(takes) else {
            self.note_stray(&message);
            self.window().received(Rc::new(message));
            return;
        };
        let message = Rc::new(message);
        if self.tells_of_a_lost_session(at) {
            return self.calls[at].window.received(message);
        }
        let call = &mut self.calls[at];
        call.took = call.age();
        if let Kind::Invalid { why, .. } = &message.kind {
            call.end = Some(End::Malformed(why.clone()));
            call.window.received(message);
            return;
        }
        if call.pages.is_some() {
            return self.turn_page(at, message).await;
        }
        if call.is_legacy_task() {
            return self.go_on_as_task(at, message).await;
        }
        if call.listen.is_some() && matches!(message.kind, Kind::Response { is_error: false, .. }) {
            let why = "the server ended the subscription before it acknowledged it".to_owned();
            call.end = Some(End::Malformed(why));
            return call.window.received(message);
        }
        if let Some(asked) = self.asked(at, &message) {
            return self.go_on_with_input(at, message, asked).await;
        }
        if self.calls[at].task.is_some() {
            return self.go_on_polling(at, message).await;
        }
        let call = &mut self.calls[at];
        if call.is_surprised_by(&message) {
            let hint = "`task: true` awaits its result, `task: { wait: false }` the task alone".to_owned();
            call.unfit = Some(Unfit { message: "the server made a task of the call".to_owned(), hint });
        } else if let Some(kind) = call.retry.as_ref().and_then(|_| input::unknown_type(&message)) {
            let message = format!("the result is of the type `{kind}`, and clients must refuse what they do not know");
            let hint = "if that is right, expect it with `result: { $partial: { resultType: … } }`".to_owned();
            call.unfit = Some(Unfit { message, hint });
        }
        call.window.received(message.clone());
        call.answer = Some(message);
        if !call.until_exit && !call.http.is_under_way() {
            call.end = Some(End::Done);
        }
    }

    /// A notification belongs to the window that is open; one of progress to the call that it names.
    async fn hear_notification(&mut self, message: Message) {
        let Kind::Notification { method } = &message.kind else { return };
        let at = match method.as_str() {
            "notifications/progress" => self.progressing(&message),
            "notifications/subscriptions/acknowledged" => self.acknowledged(&message),
            "notifications/tasks/status" => {
                let told = params(&message);
                let task = self.calls.iter_mut().filter_map(|call| call.task.as_mut());
                // Before it is created it has no id, and is not what a notification without one tells of.
                let task = task.into_iter().find(|task| task.id().is_some_and(|id| told["taskId"] == *id));
                task.into_iter().for_each(|task| task.told = Some(told.clone()));
                None
            }
            _ => None,
        };
        let Some(at) = at else { return self.window().received(Rc::new(message)) };
        self.calls[at].window.received(Rc::new(message));
        if self.calls[at].is_to_be_cancelled() {
            self.cancel(at).await;
        }
    }

    /// The open call whose progress a notification tells of.
    fn progressing(&mut self, message: &Message) -> Option<usize> {
        let awaited = |call: &Call| call.end.is_none() && call.token.is_some();
        if !self.calls.iter().any(awaited) {
            return None;
        }
        let token = params(message).get("progressToken").cloned();
        let at = self.calls.iter().position(|call| awaited(call) && call.token == token)?;
        if let Some(cancel) = &mut self.calls[at].cancel {
            cancel.progress += 1;
        }
        Some(at)
    }

    /// The server asks the client something.
    async fn reply(&mut self, message: Message) {
        let Kind::Request { id, method } = &message.kind else { return };
        let asked = params(&message);
        if self.session.connection.modern().is_some() {
            let note = format!("the server sent the request `{method}`, and the modern era has none");
            self.window().note(note);
        }
        let told = self.scripts.answer(method, &asked, self.turns, &mut self.session.turns);
        let reply = told.map(|told| told.envelope(id));
        self.window().received(Rc::new(message));
        let Some(reply) = reply.filter(|_| !self.session.broken) else { return };
        let line = format!("{reply}\n");
        self.window().sent(line.as_str());
        let patience = Instant::now() + self.session.server.timeout;
        self.deliver(line.as_bytes(), patience).await;
    }

    /// An answer that no open call awaits.
    fn note_stray(&mut self, message: &Message) {
        if let Some(note) = self.ended_subscription(message) {
            return self.window().note(note);
        }
        let Kind::Response { id, .. } = &message.kind else { return };
        let note = if self.session.connection.is_overdue(id) {
            format!("a late answer came: to id {id}, which had timed out")
        } else {
            self.window().stray = Some(id.clone());
            format!("an answer came that nobody awaits: to id {id}")
        };
        self.window().note(note);
    }
}
