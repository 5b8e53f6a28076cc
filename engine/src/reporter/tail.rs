//! The last things that crossed the pipes before a test went wrong.
//!
//! Frames and logs of a step arrive before its end; those of a passed step are let go there, so that only the step that
//! went wrong is left when the test finishes. Bounded, whatever the server sends.

use super::text::cut_middle;
use crate::event::{Body, Direction, Frame, Log, LogFrom, Status, StepId};
use std::collections::VecDeque;

/// Frames that are shown after a failure.
const FRAMES: usize = 8;
/// Lines of stderr that are shown after a failure.
const LINES: usize = 20;
/// Characters of one frame or line that are kept.
const CHARACTERS: usize = 4000;

/// What came last.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) frames: Last<KeptFrame>,
    pub(super) stderr: Last<KeptLine>,
}

/// The last few of many.
#[derive(Debug)]
pub(super) struct Last<T> {
    pub(super) kept: VecDeque<T>,
    pub(super) dropped: usize,
}

/// A frame, cut.
#[derive(Debug)]
pub(super) struct KeptFrame {
    pub(super) step: Option<u32>,
    pub(super) direction: Direction,
    pub(super) text: String,
}

/// A line of stderr, cut.
#[derive(Debug)]
pub(super) struct KeptLine {
    pub(super) step: Option<u32>,
    pub(super) text: String,
}

impl Tail {
    /// Follows the stream; everything is let go when a test ends, so read before handing in `test-finished`.
    pub(super) fn event(&mut self, body: &Body) {
        match body {
            Body::Frame(frame) => self.frame(frame),
            Body::Log(log) if log.from == LogFrom::Stderr => self.log(log),
            Body::StepFinished(finished) if finished.status == Status::Passed => self.forget(&finished.step),
            Body::Attempt(_) | Body::TestFinished(_) if !self.is_empty() => *self = Tail::default(),
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.kept.is_empty() && self.stderr.kept.is_empty()
    }

    /// The last lines of stderr, if there are any.
    pub(super) fn stderr_text(&self) -> Option<String> {
        let lines: Vec<&str> = self.stderr.kept.iter().map(|line| &*line.text).collect();
        if lines.is_empty() { None } else { Some(lines.join("\n")) }
    }

    fn frame(&mut self, frame: &Frame) {
        let (step, text) = (number(&frame.step), cut_middle(&frame.text, CHARACTERS));
        self.frames.push(KeptFrame { step, direction: frame.direction, text }, FRAMES);
    }

    fn log(&mut self, log: &Log) {
        let text = log.text.strip_suffix('\n').unwrap_or(&log.text);
        let lines = text.split('\n').count();
        self.stderr.dropped += lines.saturating_sub(LINES);
        for line in text.split('\n').skip(lines.saturating_sub(LINES)) {
            self.stderr.push(KeptLine { step: number(&log.step), text: cut_middle(line, CHARACTERS) }, LINES);
        }
    }

    fn forget(&mut self, step: &StepId) {
        self.frames.forget(|frame| frame.step == Some(step.number));
        self.stderr.forget(|line| line.step == Some(step.number));
    }
}

impl<T> Last<T> {
    fn push(&mut self, item: T, limit: usize) {
        if self.kept.len() == limit {
            self.kept.pop_front();
            self.dropped += 1;
        }
        self.kept.push_back(item);
    }

    fn forget(&mut self, of_step: impl Fn(&T) -> bool) {
        if !self.kept.is_empty() {
            self.kept.retain(|item| !of_step(item));
            self.dropped = 0;
        }
    }
}

impl<T> Default for Last<T> {
    fn default() -> Last<T> {
        Last { kept: VecDeque::new(), dropped: 0 }
    }
}

fn number(step: &Option<StepId>) -> Option<u32> {
    step.as_ref().map(|step| step.number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::StepFinished;
    use crate::reporter::sample;
    use crate::suite::Lane;

    fn step(number: u32) -> StepId {
        StepId { test: sample::test("a.yml", "A", "s", Lane::Tools, "t", 1), number }
    }

    fn stderr(step: Option<StepId>, text: &str) -> Body {
        Body::Log(Log { from: LogFrom::Stderr, session: None, step, text: text.to_owned() })
    }

    fn ends(step: StepId, status: Status) -> Body {
        Body::StepFinished(StepFinished { step, status, duration_ms: 0.0, failures: vec![] })
    }

    #[test]
    fn keeps_the_end_of_much_in_little() {
        let mut tail = Tail::default();
        let lines: Vec<String> = (1..=1000).map(|number| number.to_string()).collect();
        tail.event(&stderr(Some(step(1)), &lines.join("\n")));
        tail.event(&stderr(Some(step(1)), &"x".repeat(1_000_000)));
        assert_eq!(tail.stderr.kept.len(), LINES);
        assert_eq!(tail.stderr.dropped, 981);
        let text = tail.stderr_text().unwrap();
        assert!(text.starts_with("982\n983\n") && text.len() < 2 * CHARACTERS, "{text}");
    }

    #[test]
    fn what_a_passed_step_said_is_let_go() {
        let mut tail = Tail::default();
        tail.event(&stderr(None, "at the start\n"));
        tail.event(&stderr(Some(step(1)), "one\n"));
        tail.event(&ends(step(1), Status::Passed));
        tail.event(&stderr(Some(step(2)), "two\n"));
        tail.event(&ends(step(2), Status::Failed));
        assert_eq!(tail.stderr_text().unwrap(), "at the start\ntwo");
    }
}
