//! What an exchange hears of the requests that carry its calls over HTTP.

use super::call::{Call, End};
use super::exchange::Exchange;
use super::line::Awaits;
use crate::mcp::transport::http::outcome::{Ended, Head};
use std::sync::Arc;

impl Exchange<'_> {
    /// The head of an answer came.
    pub(super) fn hear_head(&mut self, ticket: u64, head: Arc<Head>) {
        let Some(call) = self.carried_by(ticket) else { return };
        // An error that names no request is the answer to the request it came with.
        if let (false, Awaits::Answer { or_null, .. }) = (head.status.is_success(), &mut call.line.awaits) {
            *or_null = true;
        }
        call.http.outcome = Some(Box::new(Ended { ticket, head: Some(head), ..Ended::default() }));
    }

    /// A request is over: with it the call that it carried, unless its answer comes on another stream.
    pub(super) async fn hear_end(&mut self, ended: Box<Ended>) {
        if let Some(what) = ended.awaits.as_ref().and_then(|id| self.end_subscription(id)) {
            self.window().note(format!("the stream of the subscription to `{what}` has ended"));
        }
        let Some(at) = self.calls.iter().position(|call| call.http.ticket == Some(ended.ticket)) else {
            if let Some(refusal) = ended.refusal() {
                self.window().note(refusal);
            }
            return;
        };
        if self.may_begin_anew(at, &ended) {
            return self.begin_anew(at, ended).await;
        }
        let call = &mut self.calls[at];
        let accepted = ended.refusal().is_none();
        let elsewhere = ended.answers_elsewhere;
        call.http.outcome = Some(ended);
        call.http.over = true;
        if call.end.is_some() || call.until_exit || (call.hopes_for_silence && accepted) {
            return;
        }
        let end = match &call.line.awaits {
            _ if call.answer.is_some() => End::Done,
            // A task that is looked at later has more to come.
            Awaits::Nothing if call.look_at().is_some() => return,
            Awaits::Nothing if accepted => End::Done,
            _ if elsewhere => return,
            _ => End::Unanswered,
        };
        call.took = call.age();
        let broken_off = matches!(end, End::Unanswered) && call.http.is_broken_off();
        call.end = Some(end);
        if broken_off {
            self.calls[at].http.exit = self.session.connection.exit_soon().await;
        }
    }

    fn carried_by(&mut self, ticket: u64) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.http.ticket == Some(ticket))
    }

    /// Whether a message is what a server says that has lost the session: the step is sent again when all of it came.
    pub(super) fn tells_of_a_lost_session(&mut self, at: usize) -> bool {
        self.calls[at].http.outcome.as_deref().is_some_and(is_not_found) && self.may_send_again(at)
    }

    /// Whether the server has lost the session, and the config says what to do then.
    fn may_begin_anew(&mut self, at: usize, ended: &Ended) -> bool {
        is_not_found(ended) && self.may_send_again(at)
    }

    fn may_send_again(&mut self, at: usize) -> bool {
        let had_session = self.session.connection.transport.has_session();
        had_session && self.calls.len() == 1 && self.calls[at].http.again.is_some()
    }

    /// Shakes hands once more and sends the call again; both stand in the report.
    async fn begin_anew(&mut self, at: usize, ended: Box<Ended>) {
        let Some(bytes) = self.calls[at].http.again.take() else { return };
        self.session.connection.transport.forget_session();
        let call = &mut self.calls[at];
        call.window.note("the server has lost the session (404): it is opened anew, and the step sent again".into());
        match self.session.connection.initialize(&mut call.window).await {
            Ok(_) => {
                call.answer = None;
                call.http.outcome = None;
                if let Ok(ticket) = self.session.connection.transport.send(&bytes).await {
                    call.window.sent(bytes);
                    call.http.ticket = Some(ticket);
                }
            }
            Err(fault) => {
                call.window.note(format!("the session could not be opened anew: {fault}"));
                call.http.outcome = Some(ended);
                call.end = Some(End::Unanswered);
            }
        }
    }
}

/// As a server answers to a session that it does not know.
fn is_not_found(ended: &Ended) -> bool {
    ended.head.as_ref().is_some_and(|head| head.status.as_u16() == 404)
}
