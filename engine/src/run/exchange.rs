//! Sends the lines of one step, or of several in parallel, and listens until each has what it awaits.
//!
//! Correlation is by id only: answers may come in any order, between notifications and requests of the server. Everything
//! that is read while a call is open belongs to the earliest open one.

use super::call::{Call, End};
use super::line::{Awaits, of_task, page};
use super::respond::{Scripts, Turns};
use super::session::Session;
use super::stop::Listener;
use super::window::Window;
use crate::mcp::lifecycle;
use crate::mcp::message::{Kind, Message};
use crate::mcp::transport::{Incoming, OVERTIME};
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// What an exchange hears.
enum Heard {
    Incoming(Incoming),
    Alarm,
    Signal,
}

/// What became of a line.
enum Sent {
    Whole(u64),
    Failed(io::Error),
    Late,
    Signal,
}

/// The calls that are under way in one session.
pub(super) struct Exchange<'a> {
    pub(super) session: &'a mut Session,
    pub(super) calls: &'a mut [Call],
    pub(super) scripts: &'a Scripts<'a>,
    pub(super) turns: &'a mut Turns,
    pub(super) listener: &'a mut Listener,
}

impl Exchange<'_> {
    /// Runs the calls to their ends.
    pub(super) async fn run(&mut self) {
        if let Some(first) = self.calls.first_mut() {
            first.window = std::mem::take(&mut self.session.between);
        }
        for at in 0..self.calls.len() {
            self.send(at).await;
        }
        while let Some(deadline) = self.next_deadline() {
            match self.next(deadline).await {
                Heard::Incoming(incoming) => self.hear(incoming).await,
                Heard::Alarm => self.time_out().await,
                Heard::Signal => return self.end_all(&End::Interrupted),
            }
        }
        self.settle().await;
    }

    /// Listens without sending anything until `deadline`, or until `enough` says so after something came.
    pub(super) async fn wait(&mut self, deadline: Instant, mut enough: impl FnMut(&Window) -> bool) {
        self.calls[0].window = std::mem::take(&mut self.session.between);
        loop {
            match self.next(deadline).await {
                Heard::Incoming(incoming) => self.hear(incoming).await,
                Heard::Alarm => break,
                Heard::Signal => return self.end_all(&End::Interrupted),
            }
            while let Some(queued) = self.session.connection.transport.next_queued() {
                self.hear(queued).await;
            }
            if self.session.connection.exit.is_some() || enough(&self.calls[0].window) {
                break;
            }
        }
        self.calls[0].end.get_or_insert(End::Done);
    }

    /// Whatever comes first: something from the server, the deadline, or a signal.
    async fn next(&mut self, deadline: Instant) -> Heard {
        if Instant::now() >= deadline + OVERTIME {
            return Heard::Alarm;
        }
        let Session { connection, alarm, .. } = &mut *self.session;
        let listener = &mut *self.listener;
        let mut receive = std::pin::pin!(connection.transport.receive());
        std::future::poll_fn(|cx| {
            // First, because a server that never pauses would keep a signal from being heard.
            if listener.poll(cx).is_ready() {
                return Poll::Ready(Heard::Signal);
            }
            if let Poll::Ready(incoming) = receive.as_mut().poll(cx) {
                return Poll::Ready(Heard::Incoming(incoming));
            }
            alarm.poll(deadline, cx).map(|()| Heard::Alarm)
        })
        .await
    }

    /// Writes bytes until `deadline`, or until a signal comes; after either the session is broken.
    async fn deliver(&mut self, bytes: &[u8], deadline: Instant) -> Sent {
        let Session { connection, alarm, broken, .. } = &mut *self.session;
        let listener = &mut *self.listener;
        let mut send = std::pin::pin!(connection.transport.send(bytes));
        let sent = std::future::poll_fn(|cx| {
            if let Poll::Ready(sent) = send.as_mut().poll(cx) {
                return Poll::Ready(sent.map_or_else(Sent::Failed, Sent::Whole));
            }
            if alarm.poll(deadline, cx).is_ready() {
                return Poll::Ready(Sent::Late);
            }
            listener.poll(cx).map(|()| Sent::Signal)
        })
        .await;
        // A pipe that the server closed says by itself that nothing more can be sent.
        *broken |= match &sent {
            Sent::Whole(_) => false,
            Sent::Failed(error) => error.kind() != io::ErrorKind::BrokenPipe,
            Sent::Late | Sent::Signal => true,
        };
        sent
    }

    pub(super) async fn send(&mut self, at: usize) {
        let call = &mut self.calls[at];
        call.sent_at = Some(Instant::now());
        let deadline = call.deadline();
        if call.line.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut call.line.bytes);
        let sent = self.deliver(&bytes, deadline).await;
        let over_http = self.session.connection.transport.http().is_some();
        let call = &mut self.calls[at];
        if over_http && self.session.server.reinitialize {
            call.http.again = Some(bytes.clone());
        }
        call.window.sent(bytes);
        match sent {
            Sent::Whole(ticket) => call.http.ticket = over_http.then_some(ticket),
            // A closed pipe shows in what the server did next: its exit is awaited like an answer.
            Sent::Failed(error) => call.window.note(format!("the line could not be sent whole: {error}")),
            Sent::Late => {
                call.end = Some(End::NotSent);
                return;
            }
            // It is heard again by whoever listens next.
            Sent::Signal => return,
        }
        // Over HTTP even a notification is answered, with a status.
        if call.line.awaits == Awaits::Nothing && !over_http && !call.until_exit && !call.hopes_for_silence {
            call.end = Some(End::Done);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.calls.iter().filter(|call| call.end.is_none()).map(Call::alarm).min()
    }

    async fn hear(&mut self, incoming: Incoming) {
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
            Incoming::Failed(fault) => self.end_all(&End::Failed(*fault)),
        }
    }

    async fn hear_message(&mut self, message: Message) {
        if matches!(message.kind, Kind::Request { .. }) {
            return self.reply(message).await;
        }
        if matches!(message.kind, Kind::Notification { .. }) {
            return self.hear_notification(message).await;
        }
        let Some(at) = self.calls.iter().position(|call| call.awaits(&message)) else {
            self.note_stray(&message);
            self.window().received(Rc::new(message));
            return;
        };
        let message = Rc::new(message);
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
        if call.task.is_some() {
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
        let call = &mut self.calls[at];
        if let Some(retry) = &call.retry {
            call.took += retry.spent;
        }
        call.window.received(message.clone());
        call.answer = Some(message);
        if !call.until_exit && (call.http.over || !call.http.to_the_end) {
            call.end = Some(End::Done);
        }
    }

    /// A page of a listing came: asks for the next one, or ends the call.
    async fn turn_page(&mut self, at: usize, message: Rc<Message>) {
        let call = &mut self.calls[at];
        let Some(pages) = &mut call.pages else { return };
        let next = message.value().map_err(|malformed| malformed.to_string()).and_then(|value| pages.take(value));
        call.window.received(message.clone());
        match next {
            Err(why) => call.end = Some(End::Malformed(why)),
            Ok(None) => {
                call.answer = Some(message);
                call.end = Some(End::Done);
            }
            Ok(Some(cursor)) => {
                let id = self.session.connection.fresh_id();
                let line = page(pages.listing, Some(&cursor), pages.meta.as_ref(), id);
                let left = call.timeout.saturating_sub(call.took);
                (call.line, call.timeout) = (line, left);
                self.send(at).await;
            }
        }
    }

    /// A notification belongs to the window that is open; one of progress to the call that it names.
    async fn hear_notification(&mut self, message: Message) {
        let Kind::Notification { method } = &message.kind else { return };
        let at = match method.as_str() {
            "notifications/progress" => self.progressing(&message),
            "notifications/subscriptions/acknowledged" => self.acknowledged(&message),
            "notifications/tasks/status" => {
                let told = super::window::params(&message);
                let task = self.calls.iter_mut().filter_map(|call| call.task.as_mut());
                let task = task.into_iter().find(|task| task.id().as_deref() == told["taskId"].as_str());
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
        let token = super::window::params(message).get("progressToken").cloned();
        let at = self.calls.iter().position(|call| awaited(call) && call.token == token)?;
        if let Some(cancel) = &mut self.calls[at].cancel {
            cancel.progress += 1;
        }
        Some(at)
    }

    /// Takes a request back; from then on an answer that must not come is waited for only so long.
    async fn cancel(&mut self, at: usize) {
        let call = &mut self.calls[at];
        let age = call.age();
        let (Some(cancel), Awaits::Answer { id, .. }) = (&mut call.cancel, &call.line.awaits) else { return };
        cancel.sent = true;
        let message = lifecycle::cancelled(id, "cancelled by the suite");
        if call.hopes_for_silence {
            call.timeout = age + cancel.grace;
        }
        if self.session.connection.abandon(id) {
            return;
        }
        let line = format!("{message}\n");
        call.window.sent(line.as_str());
        let patience = Instant::now() + self.session.server.timeout;
        self.deliver(line.as_bytes(), patience).await;
    }

    /// An answer came to a call that is run as a task: awaits its result, looks at it once more, or ends the call.
    async fn go_on_as_task(&mut self, at: usize, message: Rc<Message>) {
        let call = &mut self.calls[at];
        let Some(task) = &mut call.task else { return };
        call.window.received(message.clone());
        task.spent += call.took;
        call.took = task.spent;
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
        let left = call.timeout.saturating_sub(call.age());
        let id = self.session.connection.fresh_id();
        let call = &mut self.calls[at];
        (call.line, call.timeout) = (of_task(method, &task, id), left);
        self.send(at).await;
    }

    /// The server asks the client something.
    async fn reply(&mut self, message: Message) {
        let Kind::Request { id, method } = &message.kind else { return };
        let params = super::window::params(&message);
        if self.session.connection.modern().is_some() {
            let note = format!("the server sent the request `{method}`, and the modern era has none");
            self.window().note(note);
        }
        let told = self.scripts.answer(method, &params, self.turns, &mut self.session.turns);
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
        let late = self.session.connection.overdue.iter().position(|overdue| overdue == id);
        let note = match late {
            Some(_) => format!("a late answer came: to id {id}, which had timed out"),
            None => format!("an answer came that nobody awaits: to id {id}"),
        };
        self.window().note(note);
    }

    /// The window that is open now: the earliest call's that has not ended, or else the last one's.
    pub(super) fn window(&mut self) -> &mut Window {
        let last = self.calls.len() - 1;
        let at = self.calls.iter().position(|call| call.end.is_none()).unwrap_or(last);
        &mut self.calls[at].window
    }

    fn end_all(&mut self, end: &End) {
        for call in self.calls.iter_mut().filter(|call| call.end.is_none()) {
            call.end = Some(match end {
                End::Exited(_) if call.until_exit => End::Done,
                end => end.clone(),
            });
        }
    }

    /// Ends the calls whose time is over, and tells the server that nobody waits any more.
    async fn time_out(&mut self) {
        for at in 0..self.calls.len() {
            if self.calls[at].is_to_be_cancelled() {
                self.cancel(at).await;
            }
        }
        let now = Instant::now();
        for at in 0..self.calls.len() {
            let call = &mut self.calls[at];
            if call.end.is_some() || call.deadline() > now {
                continue;
            }
            call.took = call.age();
            call.end = Some(End::TimedOut);
            let Awaits::Answer { id, .. } = &call.line.awaits else { continue };
            if call.answer.is_some() || id.is_null() {
                continue;
            }
            self.session.connection.overdue.push(id.clone());
            if call.hopes_for_silence || call.line.method.as_deref() == Some("initialize") {
                continue;
            }
            if self.session.connection.abandon(id) {
                continue;
            }
            let line = format!("{}\n", lifecycle::cancelled(id, "timeout"));
            call.window.sent(line.as_str());
            let patience = Instant::now() + Duration::from_millis(100);
            self.deliver(line.as_bytes(), patience).await;
        }
    }

    /// Takes in what is in the pipes already, and what comes while a step settles.
    async fn settle(&mut self) {
        self.session.connection.transport.drain().await;
        while let Some(queued) = self.session.connection.transport.next_queued() {
            self.hear(queued).await;
        }
        let settle = self.calls.iter().map(|call| call.settle).max().unwrap_or_default();
        if settle.is_zero() || self.session.connection.exit.is_some() {
            return;
        }
        let deadline = Instant::now() + settle;
        while let Heard::Incoming(incoming) = self.next(deadline).await {
            self.hear(incoming).await;
            if self.session.connection.exit.is_some() {
                return;
            }
        }
    }
}
