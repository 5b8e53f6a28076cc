//! A running plugin and the pipes to it: one request out, one answer in, within a deadline.
//!
//! The pipes don't block, and are waited for with poll(2) on the caller's own thread: a round trip costs three system
//! calls. Whatever the plugin does meanwhile (writes to stderr, floods stdout, does not read) goes on in the same loop.

use super::line::{self, Answer, Bad};
use crate::child::{Ends, Exit, Plain, Spawn, SpawnError};
use crate::extension::Limits;
use crate::extension::hurry::{Hurry, Patience};
use crate::extension::plugin::words::INVALID;
use crate::ndjson::{Framer, Item};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

/// The longest line: the largest result there may be, and an envelope around it.
const LONGEST: usize = Limits::OUTPUT + 64 * 1024;
/// How often a plugin is looked after that is silent: one that has ended may have left its stdout to a child of its own.
const LOOK: Duration = Duration::from_millis(50);
/// How long a process that closed its stdout may take to end by itself.
const ENDING: Duration = Duration::from_millis(200);

/// A running plugin.
#[derive(Debug)]
pub(super) struct Pipe {
    process: Plain,
    stdin: Option<PipeWriter>,
    stdout: PipeReader,
    stderr: Option<PipeReader>,
    framer: Framer,
    /// What the plugin has not read yet of earlier requests and this one.
    unsent: Vec<u8>,
    last_id: u64,
    /// Requests that were given up, and whether for want of time: their answers may still come, and are dropped.
    given_up: BTreeMap<u64, bool>,
    /// The line at hand was too long, and the call that met it is over.
    skipping: bool,
    said: VecDeque<u8>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No answer in time.
    Late {
        /// It has closed its stdin, so that it cannot have read the request.
        deaf: bool,
        /// The line it had begun.
        half: String,
    },
    /// It ended, or closed its stdout while it lived on.
    Ended {
        /// How it ended, if it did so by itself.
        exit: Option<Exit>,
        /// The line it had begun.
        half: String,
    },
    /// A line that is no answer.
    Bad {
        /// The JSON-RPC code.
        code: i64,
        /// Why.
        why: String,
        /// The line.
        raw: String,
    },
}

impl Pipe {
    pub(super) fn open(spawn: &Spawn) -> Result<Pipe, SpawnError> {
        let (process, Ends { stdin, stdout, stderr }) = Plain::spawn(spawn)?;
        Ok(Pipe {
            process,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            framer: Framer::new(LONGEST),
            unsent: Vec::new(),
            last_id: 0,
            given_up: BTreeMap::new(),
            skipping: false,
            said: VecDeque::new(),
        })
    }

    /// Sends a request and awaits its answer.
    pub(super) fn exchange(&mut self, method: &str, params: &str, patience: Patience<'_>) -> Result<Answer, Trouble> {
        self.said.clear();
        let unasked = self.unasked();
        self.last_id += 1;
        let id = self.last_id;
        let method = serde_json::Value::from(method);
        let _ = writeln!(self.unsent, r#"{{"method":{method},"params":{params},"id":{id}}}"#);
        let answer = unasked.and_then(|()| self.until_answered(id, patience));
        if let Err(trouble) = &answer {
            self.given_up.insert(id, matches!(trouble, Trouble::Late { .. }));
            self.flush();
        }
        answer
    }

    /// Takes what was written before the next request: it answers nothing, whatever id it has.
    fn unasked(&mut self) -> Result<(), Trouble> {
        if self.last_id > 0 {
            self.read_stdout();
        }
        self.next_answer(None).map(drop)
    }

    fn until_answered(&mut self, id: u64, Patience { hook, most, hurry }: Patience<'_>) -> Result<Answer, Trouble> {
        let began = Instant::now();
        loop {
            self.flush();
            if let Some(answer) = self.next_answer(Some(id))? {
                return Ok(answer);
            }
            let left = hurry.hasten(hook, began, began + most).saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Late { deaf: self.is_deaf(), half: lossy(self.framer.head()) });
            }
            if !self.wait(left.min(LOOK)) && self.process.try_exit().is_some() {
                // It may have answered and ended since: what is in the pipe counts.
                self.read_stdout();
                return self.next_answer(Some(id))?.ok_or_else(|| self.ended());
            }
            if self.read_stdout() {
                return self.next_answer(Some(id))?.ok_or_else(|| self.ended());
            }
        }
    }

    /// Waits until a pipe is ready, and takes what is on stderr; says whether one was.
    fn wait(&mut self, most: Duration) -> bool {
        let mut ends = Vec::with_capacity(3);
        ends.push(PollFd::new(&self.stdout, PollFlags::IN));
        if let Some(stderr) = &self.stderr {
            ends.push(PollFd::new(stderr, PollFlags::IN));
        }
        if let Some(stdin) = self.stdin.as_ref().filter(|_| !self.unsent.is_empty()) {
            ends.push(PollFd::new(stdin, PollFlags::OUT));
        }
        let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos().into() };
        let ready = poll(&mut ends, Some(&timeout)).unwrap_or(0) > 0;
        let said = self.stderr.is_some() && !ends[1].revents().is_empty();
        if said {
            self.read_stderr();
        }
        ready
    }

    /// The answer to `id`, if it is among the lines read so far.
    fn next_answer(&mut self, id: Option<u64>) -> Result<Option<Answer>, Trouble> {
        let last = self.last_id;
        while let Some(item) = self.framer.next_line() {
            let (given_up, skipping) = (&mut self.given_up, &mut self.skipping);
            match item {
                Item::Line { bytes, .. } => match line::read(bytes, |number| wanted(number, id, last, given_up)) {
                    Ok(Some(((), answer))) => return Ok(Some(answer)),
                    Ok(None) => {}
                    Err(Bad { code, why }) => return Err(Trouble::Bad { code, why, raw: lossy(bytes) }),
                },
                Item::Oversize { .. } if std::mem::take(skipping) => {}
                Item::Oversize { head, .. } => {
                    let raw = lossy(head);
                    return Err(too_long(raw));
                }
            }
        }
        if self.framer.is_over() && !self.skipping {
            self.skipping = true;
            return Err(too_long(lossy(self.framer.head())));
        }
        Ok(None)
    }

    /// Writes as much as the plugin takes. One that has closed its stdin will not answer either: that is seen elsewhere.
    fn flush(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        while !self.unsent.is_empty() {
            match stdin.write(&self.unsent) {
                Ok(count) if count == self.unsent.len() => self.unsent.clear(),
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.unsent.clear();
                    self.stdin = None;
                    return;
                }
            }
        }
    }

    /// Takes one piece of stdout; says whether it has ended.
    fn read_stdout(&mut self) -> bool {
        match self.stdout.read(self.framer.space()) {
            Ok(0) => true,
            Ok(count) => {
                self.framer.filled(count);
                false
            }
            Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        }
    }

    fn read_stderr(&mut self) {
        let mut piece = [0; 8 * 1024];
        let Some(stderr) = &mut self.stderr else { return };
        match stderr.read(&mut piece) {
            Ok(0) => self.stderr = None,
            Ok(count) => {
                self.said.extend(&piece[..count]);
                let over = self.said.len().saturating_sub(Limits::TAIL);
                self.said.drain(..over);
            }
            Err(_) => {}
        }
    }

    fn ended(&mut self) -> Trouble {
        let half = match self.framer.finish() {
            Some(Item::Line { bytes, .. }) => lossy(bytes),
            Some(Item::Oversize { head, .. }) => lossy(head),
            None => String::new(),
        };
        let exit = self.process.wait(ENDING);
        self.process.kill();
        Trouble::Ended { exit, half }
    }

    /// The end of what it wrote to stderr during the last exchange.
    pub(super) fn said(&mut self) -> String {
        let mut before = usize::MAX;
        while self.stderr.is_some() && before != self.said.len() && self.said.len() < Limits::TAIL {
            before = self.said.len();
            self.read_stderr();
        }
        String::from_utf8_lossy(self.said.make_contiguous()).into_owned()
    }

    /// Closes stdin, waits for the plugin to end, and kills what is left; says what is worth telling.
    pub(super) fn close(mut self, grace: Duration, hurry: &Hurry) -> Vec<String> {
        self.stdin = None;
        let began = Instant::now();
        let deadline = || began + hurry.grace(grace);
        let (mut surplus, mut closed, overdue) = (0, false, self.overdue());
        while !closed && self.process.try_exit().is_none() {
            let left = deadline().saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.wait(left.min(LOOK));
            closed = self.read_stdout();
            surplus += self.surplus();
        }
        let mut ended = self.process.try_exit().is_some();
        while !ended && Instant::now() < deadline() {
            ended = self.process.wait(deadline().saturating_duration_since(Instant::now()).min(LOOK)).is_some();
        }
        while ended && !closed && surplus == 0 && self.stdout_is_ready() {
            closed = self.read_stdout();
            surplus += self.surplus();
        }
        surplus += self.surplus();
        self.process.kill();
        let mut notices = Vec::new();
        if !ended {
            let waited = hurry.grace(grace);
            notices.push(format!("did not end within {waited:?} of the end of its stdin, and was killed"));
        }
        if self.overdue() < overdue {
            notices
                .push("answered only once its stdin had ended: it must flush its stdout after every answer".to_owned());
        }
        if surplus > 0 {
            notices.push("wrote more than it was asked for, after its last answer".to_owned());
        }
        notices
    }

    /// How many answers came too late, and have not come yet.
    fn overdue(&self) -> usize {
        self.given_up.values().filter(|late| **late).count()
    }

    /// Whether nobody holds the other end of its stdin any more.
    fn is_deaf(&self) -> bool {
        let Some(stdin) = &self.stdin else { return true };
        let mut end = [PollFd::new(stdin, PollFlags::OUT)];
        let _ = poll(&mut end, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        end[0].revents().contains(PollFlags::ERR)
    }

    fn stdout_is_ready(&self) -> bool {
        let mut end = [PollFd::new(&self.stdout, PollFlags::IN)];
        poll(&mut end, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap_or(0) > 0
    }

    /// Lines that answer nothing that was given up.
    fn surplus(&mut self) -> usize {
        let (mut surplus, last) = (0, self.last_id);
        while let Some(item) = self.framer.next_line() {
            let (given_up, skipping) = (&mut self.given_up, &mut self.skipping);
            match item {
                Item::Line { bytes, .. } => {
                    surplus += usize::from(line::read(bytes, |number| wanted(number, None, last, given_up)).is_err());
                }
                Item::Oversize { .. } => surplus += usize::from(!std::mem::take(skipping)),
            }
        }
        surplus
    }
}

/// Whether the answer to `number` is wanted: that to `id` is; that to a request that was given up is dropped. `last` is the
/// last id that was issued.
fn wanted(number: u64, id: Option<u64>, last: u64, given_up: &mut BTreeMap<u64, bool>) -> Result<Option<()>, Bad> {
    if id == Some(number) {
        return Ok(Some(()));
    }
    if given_up.remove(&number).is_some() {
        return Ok(None);
    }
    let why = match id {
        _ if (1..=last).contains(&number) => format!("the id {number} was answered before"),
        None if number == last + 1 => format!("the id {number} was not issued yet: it answers before it is asked"),
        _ => format!("the id {number} was never issued"),
    };
    Err(Bad { code: INVALID, why })
}

fn too_long(raw: String) -> Trouble {
    Trouble::Bad { code: INVALID, why: format!("the line is longer than {LONGEST} bytes"), raw }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(crate::ndjson::HEAD)]).into_owned()
}
