//! What a person needs to understand a failure: the last frames, the end of stderr, and what was odd.
//!
//! Passed steps leave nothing behind unless it was asked for, so that memory grows with the suite and not with the traffic.

use super::session::Session;
use super::slot::Desk;
use super::window::Window;
use crate::event::{Body, Frame, Log, LogFrom, Status, StepId};
use crate::extension::log;
use crate::mcp::message::BATCHED;
use crate::reporter::text::cut_middle;
use std::borrow::Cow;
use std::sync::Arc;

/// How many kinds of odd messages the passed steps of a session tell of.
const MOST_TOLD: usize = 10;
/// The revision whose messages may come in batches.
const WITH_BATCHES: &str = "2025-03-26";
/// How many frames of a failed step are shown.
const MOST_FRAMES: usize = 12;
/// How much of a frame is shown: the beginning and the end.
const MOST_FRAME: usize = 2000;
/// How many of the last lines of stderr are shown.
const MOST_LINES: usize = 20;

/// Posts what belongs to a step that ended.
pub(super) fn post(desk: &Desk<'_>, step: &StepId, session: &mut Session, window: &Window, status: Status) {
    let options = &desk.shared.options;
    let failed = matches!(status, Status::Failed | Status::Faulted);
    let batches = session.revision.as_deref() == Some(WITH_BATCHES);
    let mut odd = window.oddities();
    odd.retain(|note| !(batches && *note == BATCHED));
    if !options.logs && !failed {
        // Stricter clients would not have got as far: a step that passed says so too, but once in a session.
        odd.retain(|note| session.told.len() < MOST_TOLD && session.told.insert((*note).to_owned()));
    }
    notes(desk, Some(&session.name), step, window, &odd);
    if window.dropped > 0 {
        let text = format!("the server sent too much: {} messages were not kept", window.dropped);
        let log = Log { from: LogFrom::Engine, session: Some(session.name.clone()), step: Some(step.clone()), text };
        desk.post(Body::Log(log));
    }
    if options.frames || failed {
        let most = if options.frames { usize::MAX } else { MOST_FRAMES };
        frames(desk, &session.name, Some(step), window, most, if options.frames { usize::MAX } else { MOST_FRAME });
    }
    if options.logs || failed {
        stderr(desk, Some(&session.name), step, window, if options.logs { usize::MAX } else { MOST_LINES });
    }
}

/// Posts what extensions said while a step was judged: warnings always, the rest when it was asked for.
pub(super) fn post_said(desk: &Desk<'_>, step: &StepId) {
    for said in log::take() {
        if desk.shared.options.logs || said.level >= log::Level::Warn {
            let text = format!("{} ({}): {}", said.by, said.level.name(), said.text);
            desk.post(Body::Log(Log { from: LogFrom::Extension, session: None, step: Some(step.clone()), text }));
        }
    }
}

/// Posts what a server said that never got ready.
pub(super) fn post_failed_start(desk: &Desk<'_>, step: &StepId, window: &Window) {
    let none: Arc<str> = "start".into();
    notes(desk, None, step, window, &window.oddities());
    frames(desk, &none, Some(step), window, MOST_FRAMES, MOST_FRAME);
    stderr(desk, None, step, window, MOST_LINES);
}

/// Posts what is worth knowing and no failure, and what was odd about messages.
fn notes(desk: &Desk<'_>, session: Option<&Arc<str>>, step: &StepId, window: &Window, odd: &[&str]) {
    let odd = odd.iter().map(|note| format!("the server sent a message that is odd: {note}"));
    for text in window.notes.iter().cloned().chain(odd) {
        desk.post(Body::Log(Log { from: LogFrom::Engine, session: session.cloned(), step: Some(step.clone()), text }));
    }
}

/// Posts what crossed outside of every step, where every frame was asked for: the handshake, and the end of a session.
pub(super) fn post_frames(desk: &Desk<'_>, session: &Arc<str>, window: &Window) {
    if desk.shared.options.frames {
        frames(desk, session, None, window, usize::MAX, usize::MAX);
    }
}

fn frames(desk: &Desk<'_>, session: &Arc<str>, step: Option<&StepId>, window: &Window, most: usize, size: usize) {
    let skipped = window.frames().count().saturating_sub(most);
    let redactor = desk.shared.redactor();
    for (direction, text) in window.frames().skip(skipped) {
        let text = if text.len() > size { Cow::Owned(redactor.text(&text).into_owned()) } else { text };
        let shown = cut_middle(&text, size);
        desk.post(Body::Frame(Frame {
            session: session.clone(),
            step: step.cloned(),
            direction,
            cut: text.len().saturating_sub(shown.len()),
            text: shown,
        }));
    }
}

fn stderr(desk: &Desk<'_>, session: Option<&Arc<str>>, step: &StepId, window: &Window, most: usize) {
    let text = window.stderr.trim_end();
    if text.is_empty() {
        return;
    }
    let lines = text.lines().count();
    let text = text.lines().skip(lines.saturating_sub(most)).collect::<Vec<_>>().join("\n");
    let log = Log { from: LogFrom::Stderr, session: session.cloned(), step: Some(step.clone()), text };
    desk.post(Body::Log(log));
}
