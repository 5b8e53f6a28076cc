//! How a call's end becomes a fault, when it leaves nothing to judge.

use super::call::{Call, End};
use super::fault::{Code, Fault};
use super::line::Awaits;
use super::window::Window;
use crate::mcp::connection::plain;

/// What happened, in words.
pub(super) fn fault_of(end: &End, call: &Call, window: &Window) -> Fault {
    let what = call.line.method.as_deref().map_or("the line".to_owned(), |method| format!("`{method}`"));
    let nameless = || {
        let error = window.received_errors_without_id().next()?;
        Some(format!("the server sent an error that names no request: {error}"))
    };
    match end {
        End::NotSent => Fault::new(
            Code::Timeout,
            format!("{what} could not be sent within {}: the server does not read", plain(call.timeout)),
        ),
        End::TimedOut | End::Done if call.until_exit => {
            Fault::new(Code::Timeout, format!("the server did not end within {}", plain(call.timeout)))
                .hint("if it needs longer, give the step a `timeout`")
        }
        End::TimedOut if call.look_at().is_some() => {
            let status = task_status(call).unwrap_or_default();
            Fault::new(Code::Timeout, format!("the task is still `{status}` after {}", plain(call.timeout)))
                .hint("if the task needs longer, give the step a `timeout`")
        }
        End::TimedOut => {
            let known = task_status(call).map(|status| format!(", and the task was still `{status}` before it"));
            let message = format!("no answer to {what} within {}{}", plain(call.timeout), known.unwrap_or_default());
            let fault = Fault::new(Code::Timeout, message);
            match nameless() {
                Some(hint) => fault.hint(hint),
                None if window.oversize => {
                    fault.hint("a line came that was too long to be read: raise `maxLine` in the server's config")
                }
                None => fault.hint(unheard(call, window).or_else(|| call.not_taken_back()).unwrap_or_else(|| {
                    "if the server needs longer, raise `timeout` on the step or on the server".to_owned()
                })),
            }
        }
        End::Exited(exit) => Fault::new(Code::Crashed, format!("the server ended before it answered {what} ({exit})")),
        End::StdinClosed => Fault::new(
            Code::ConnectionLost,
            format!("{what} could not be sent: the server closed its stdin, and lives on"),
        ),
        End::StdoutClosed => {
            Fault::new(Code::ConnectionLost, format!("the server closed its stdout before it answered {what}"))
        }
        End::Failed(fault) => fault.clone(),
        End::Unanswered => match (&call.http.exit, &call.http.outcome) {
            (Some(exit), _) => fault_of(&End::Exited(*exit), call, window),
            (None, Some(outcome)) => outcome.fault(&what),
            (None, None) => Fault::new(Code::ConnectionLost, format!("no answer to {what}")),
        },
        End::Malformed(why) => {
            Fault::new(Code::MalformedResponse, format!("the answer to {what} cannot be read: {why}"))
        }
        End::Done | End::Interrupted => Fault::new(Code::ConnectionLost, "the step did not run to its end"),
    }
}

/// What the server last told of the task that a call became.
fn task_status(call: &Call) -> Option<&str> {
    call.task.as_ref()?.told.as_ref()?.get("status")?.as_str()
}

/// What came instead of the answer, and may have been meant as it.
fn unheard(call: &Call, window: &Window) -> Option<String> {
    let stray = || match (&window.stray, &call.line.awaits) {
        (Some(theirs), Awaits::Answer { id, .. }) => Some(format!(
            "an answer came to id {theirs}, and the request has id {id}: an answer carries the id of its request"
        )),
        _ => None,
    };
    window.suspicion().or_else(stray)
}
