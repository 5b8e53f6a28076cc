//! Sends the lines of one step, or of several in parallel, and listens until each has what it awaits.
//!
//! Correlation is by id only: answers may come in any order, between notifications and requests of the server. Everything
//! that is read while a call is open belongs to the earliest open one.

use super::call::{Call, End};
use super::line::Awaits;
use super::respond::{Scripts, Turns};
use super::session::Session;
use super::stop::Listener;
use super::window::Window;
use crate::mcp::lifecycle;
use crate::mcp::transport::{Incoming, OVERTIME};
use std::io;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// How long a server that closed its stdin may take to end, so that the exit can be told.
const ENDING: Duration = Duration::from_secs(1);

/// What an exchange hears.
enum Heard {
    Incoming(Incoming),
    Alarm,
    Signal,
}

/// What became of a line.
pub(super) enum Sent {
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

    /// Listens without sending anything until `deadline`, or until `enough` says so after something came, or every so
    /// often.
    pub(super) async fn wait(
        &mut self,
        deadline: Instant,
        every: Option<Duration>,
        mut enough: impl FnMut(&Window) -> bool,
    ) {
        self.calls[0].window = std::mem::take(&mut self.session.between);
        self.calls[0].sent_at = Some(Instant::now());
        loop {
            let look = every.map_or(deadline, |every| deadline.min(Instant::now() + every));
            match self.next(look).await {
                Heard::Incoming(incoming) => self.hear(incoming).await,
                Heard::Alarm if look == deadline => break,
                Heard::Alarm => {}
                Heard::Signal => return self.end_all(&End::Interrupted),
            }
            while let Some(queued) = self.session.connection.transport.next_queued() {
                self.hear(queued).await;
            }
            if self.session.connection.exit.is_some() || enough(&self.calls[0].window) {
                break;
            }
        }
        self.calls[0].took = self.calls[0].age();
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
    pub(super) async fn deliver(&mut self, bytes: &[u8], deadline: Instant) -> Sent {
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
        call.sent_at.get_or_insert_with(Instant::now);
        let deadline = call.deadline();
        if call.line.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut call.line.bytes);
        let sent = self.deliver(&bytes, deadline).await;
        let over_http = self.session.connection.transport.http().is_some() || matches!(sent, Sent::Whole(1..));
        let call = &mut self.calls[at];
        if over_http && self.session.server.reinitialize {
            call.http.again = Some(bytes.clone());
        }
        call.window.sent(bytes);
        match sent {
            Sent::Whole(ticket) => call.http.ticket = (ticket > 0).then_some(ticket),
            // A closed pipe shows in what the server did next: its exit is awaited like an answer.
            Sent::Failed(error) => {
                call.window.note(format!("the line could not be sent whole: {error}"));
                let asks = !matches!(call.line.awaits, Awaits::Nothing) && !call.until_exit;
                let patience = deadline.min(Instant::now() + ENDING);
                if asks && error.kind() == io::ErrorKind::BrokenPipe && self.outlives(patience).await {
                    self.session.broken = true;
                    self.calls[at].end = Some(End::StdinClosed);
                    return;
                }
            }
            Sent::Late => {
                call.end = Some(End::NotSent);
                return;
            }
            // It is heard again by whoever listens next.
            Sent::Signal => return,
        }
        // Over HTTP even a notification is answered, with a status.
        let call = &mut self.calls[at];
        if call.line.awaits == Awaits::Nothing && !over_http && !call.until_exit && !call.hopes_for_silence {
            call.end = Some(End::Done);
        }
    }

    /// Whether the process lives on until then.
    async fn outlives(&mut self, patience: Instant) -> bool {
        let Some(process) = self.session.connection.transport.process() else { return false };
        tokio::time::timeout_at(patience, process.child().wait()).await.is_err()
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.calls.iter().filter(|call| call.end.is_none()).map(Call::alarm).min()
    }

    /// Takes a request back; from then on an answer that must not come is waited for only so long.
    pub(super) async fn cancel(&mut self, at: usize) {
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

    /// The window that is open now: the earliest call's that has not ended, or else the last one's.
    pub(super) fn window(&mut self) -> &mut Window {
        let last = self.calls.len() - 1;
        let at = self.calls.iter().position(|call| call.end.is_none()).unwrap_or(last);
        &mut self.calls[at].window
    }

    pub(super) fn end_all(&mut self, end: &End) {
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
            if call.end.is_some() {
                continue;
            }
            if call.deadline() > now {
                if call.look_at().is_some_and(|due| due <= now) {
                    self.look(at).await;
                }
                continue;
            }
            call.took = call.age();
            call.end = Some(End::TimedOut);
            call.window.unfinished = self.session.connection.transport.unfinished();
            let Awaits::Answer { id, .. } = &call.line.awaits else { continue };
            if call.answer.is_some() || id.is_null() {
                continue;
            }
            self.session.connection.overdue.push(id.clone());
            if call.may_be_silent() || call.line.method.as_deref() == Some("initialize") {
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
