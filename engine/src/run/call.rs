//! One line that is sent, and what became of it.

use super::fault::Fault;
use super::line::{Awaits, Line};
use super::pages::Pages;
use super::task::TaskRun;
use super::window::Window;
use crate::child::Exit;
use crate::mcp::message::{Kind, Message, same_id};
use crate::mcp::transport::http::outcome::Ended;
use crate::reporter::text;
use crate::source::Json;
use crate::suite::CancelAfter;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// One line and what became of it.
#[derive(Debug)]
pub(super) struct Call {
    /// What is sent.
    pub(super) line: Line,
    /// Everything that belongs to it.
    pub(super) window: Window,
    /// How long it may take.
    pub(super) timeout: Duration,
    /// Whether it stays open until the process has ended.
    pub(super) until_exit: bool,
    /// Whether no answer is what is hoped for.
    pub(super) hopes_for_silence: bool,
    /// How long it stays open after its answer.
    pub(super) settle: Duration,
    /// The pages of a listing.
    pub(super) pages: Option<Pages>,
    /// The token under which the server tells of its progress.
    pub(super) token: Option<Json>,
    /// When it is taken back.
    pub(super) cancel: Option<Cancel>,
    /// How far it has come as a task.
    pub(super) task: Option<TaskRun>,
    /// What it is sent again with, where its result may ask for input.
    pub(super) retry: Option<Retry>,
    /// What a subscription is about; it has what it awaits when the server acknowledges it.
    pub(super) listen: Option<String>,
    /// Why it is no success, whatever the answer says.
    pub(super) unfit: Option<Unfit>,
    /// The answer, once it came.
    pub(super) answer: Option<Rc<Message>>,
    /// How long the answer took.
    pub(super) took: Duration,
    /// How it ended.
    pub(super) end: Option<End>,
    /// When its first line was sent; pages, rounds and looks at a task follow in the same time.
    pub(super) sent_at: Option<Instant>,
    /// What became of it over HTTP.
    pub(super) http: Http,
}

/// The side of a call that only HTTP has.
#[derive(Debug, Default)]
pub(super) struct Http {
    /// How the process ended that was to answer.
    pub(super) exit: Option<Exit>,
    /// The request that carries it.
    pub(super) ticket: Option<u64>,
    /// The answer so far: its head first, the rest when the request is over.
    pub(super) outcome: Option<Box<Ended>>,
    /// Whether it stays open until the request is over, if one carries it.
    pub(super) to_the_end: bool,
    /// Whether the request is over.
    pub(super) over: bool,
    /// What was sent, for a session that is opened anew.
    pub(super) again: Option<Vec<u8>>,
}

impl Http {
    /// Whether it ended before a body came whole, as when the server ends meanwhile.
    pub(super) fn is_broken_off(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.body.is_none())
    }

    /// Whether more of it is waited for.
    pub(super) fn is_under_way(&self) -> bool {
        self.to_the_end && self.ticket.is_some() && !self.over
    }
}

/// A request that is taken back.
#[derive(Debug)]
pub(super) struct Cancel {
    /// When.
    pub(super) after: CancelAfter,
    /// How long an answer that must not come is waited for then.
    pub(super) grace: Duration,
    /// Whether the server was told.
    pub(super) sent: bool,
    /// How many progress notifications came.
    pub(super) progress: u32,
}

/// A request whose result may ask for input.
#[derive(Debug)]
pub(super) struct Retry {
    /// Its parameters, as they were first sent.
    pub(super) params: Json,
    /// How often the server asked.
    pub(super) rounds: usize,
}

/// Why a call is no success, and what to do about it.
#[derive(Debug)]
pub(super) struct Unfit {
    pub(super) message: String,
    pub(super) hint: String,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// It has what it awaits.
    Done,
    /// The time is over.
    TimedOut,
    /// The server did not read the line in time.
    NotSent,
    /// The process ended.
    Exited(Exit),
    /// The server closed its stdin and lives on.
    StdinClosed,
    /// The server closed its stdout and lives on.
    StdoutClosed,
    /// An answer that is none.
    Malformed(String),
    /// A cassette lacks what was asked.
    Failed(Fault),
    /// The request over HTTP is over, and no answer came.
    Unanswered,
    /// The run was interrupted.
    Interrupted,
}

impl Call {
    pub(super) fn new(line: Line, timeout: Duration) -> Call {
        Call {
            line,
            window: Window::default(),
            timeout,
            until_exit: false,
            hopes_for_silence: false,
            settle: Duration::ZERO,
            pages: None,
            token: None,
            cancel: None,
            task: None,
            retry: None,
            listen: None,
            unfit: None,
            answer: None,
            took: Duration::ZERO,
            end: None,
            sent_at: None,
            http: Http::default(),
        }
    }

    /// A call that sends nothing and lasts until the process has ended.
    pub(super) fn until_exit(timeout: Duration) -> Call {
        let line = Line { bytes: Vec::new(), awaits: Awaits::Nothing, method: None };
        Call { until_exit: true, ..Call::new(line, timeout) }
    }

    /// A call that sends nothing and awaits nothing.
    pub(super) fn nothing(timeout: Duration) -> Call {
        let line = Line { bytes: Vec::new(), awaits: Awaits::Nothing, method: None };
        Call { end: Some(End::Done), ..Call::new(line, timeout) }
    }

    pub(super) fn deadline(&self) -> Instant {
        self.sent_at.unwrap_or_else(Instant::now) + self.timeout
    }

    /// When it is to be taken back, if that depends on the time alone.
    fn cancel_at(&self) -> Option<Instant> {
        let cancel = self.cancel.as_ref().filter(|cancel| !cancel.sent && self.answer.is_none())?;
        match cancel.after {
            CancelAfter::Time(time) => Some(self.sent_at? + time),
            CancelAfter::Progress(_) => None,
        }
    }

    /// Whether it is to be taken back now.
    pub(super) fn is_to_be_cancelled(&self) -> bool {
        let enough = |cancel: &Cancel| match cancel.after {
            CancelAfter::Time(_) => self.cancel_at().is_some_and(|at| at <= Instant::now()),
            CancelAfter::Progress(count) => cancel.progress >= count,
        };
        self.end.is_none() && self.cancel.as_ref().is_some_and(|cancel| !cancel.sent && enough(cancel))
    }

    /// Whether no answer is as it should be: one that was to be taken back first must have been.
    pub(super) fn may_be_silent(&self) -> bool {
        self.hopes_for_silence && self.not_taken_back().is_none()
    }

    /// What is to be done about a cancellation that never came about.
    pub(super) fn not_taken_back(&self) -> Option<String> {
        let cancel = self.cancel.as_ref().filter(|cancel| !cancel.sent)?;
        Some(match cancel.after {
            CancelAfter::Progress(count) => format!(
                "the request was never taken back: {} of {} came",
                cancel.progress,
                text::count(count as usize, "progress notification")
            ),
            CancelAfter::Time(_) => {
                "the request was never taken back: give the step a `timeout` longer than `cancelAfter`".to_owned()
            }
        })
    }

    /// When something is to be done about it, whatever comes.
    pub(super) fn alarm(&self) -> Instant {
        [self.cancel_at(), self.look_at()].into_iter().flatten().fold(self.deadline(), Instant::min)
    }

    /// How long ago its first line was sent.
    pub(super) fn age(&self) -> Duration {
        self.sent_at.map_or(Duration::ZERO, |at| at.elapsed())
    }

    pub(super) fn awaits(&self, message: &Message) -> bool {
        let Some(id) = message.id() else { return false };
        self.end.is_none()
            && self.answer.is_none()
            && match &self.line.awaits {
                Awaits::Nothing => false,
                Awaits::AnyAnswer => matches!(message.kind, Kind::Response { .. }),
                Awaits::Answer { id: own, or_null } => same_id(id, own) || (*or_null && id.is_null()),
            }
    }
}
