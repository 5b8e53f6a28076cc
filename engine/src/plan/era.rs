//! What a step asks for that the modern era does not have.

use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::suite::{Action, Listing, Step};
use std::sync::Arc;

/// A step that cannot be taken, and what to do instead.
#[derive(Debug, Clone, Copy)]
pub struct Removed {
    /// What is wrong.
    pub message: &'static str,
    /// The next action.
    pub hint: &'static str,
}

/// Why a step cannot be taken in the modern era.
pub fn removed(step: &Step) -> Option<Removed> {
    if matches!(step.action, Action::Ping) {
        return Some(Removed {
            message: "the modern era has no `ping`: the method was removed in 2026-07-28",
            hint: "how the server refuses it is seen with `request: { method: ping, params: { _meta: \"${session:meta}\" } }`",
        });
    }
    matches!(step.action, Action::List(Listing::Tasks)).then_some(Removed {
        message: "the modern era has no `tasks/list`: tasks became an extension of the protocol in 2026-07-28, without it",
        hint: "`task` on a `tool` runs the call as a task, and `$.task.taskId` can be captured",
    })
}

impl Removed {
    pub(super) fn diagnostic(self, source: &Arc<Source>, step: &Step) -> Diagnostic {
        Diagnostic::error(self.message).at(source, step.span).hint(self.hint)
    }
}
