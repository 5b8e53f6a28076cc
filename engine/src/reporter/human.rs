//! The report that people read while it happens.
//!
//! ```text
//! Files  fs.test.mcp.yml · fs (file-server 1.2.0)
//!   ✓ passed    1.2ms  reads an existing file
//!   ✗ failed    2.1ms  rejects a missing file
//!
//!     … the failure, the frames exchanged, the end of stderr …
//!
//!   - skipped          agents (not run by this version)
//!
//! Failed
//!   ✗ fs.test.mcp.yml:14  rejects a missing file
//!
//! 1 failed, 1 passed, 1 skipped in 340ms
//! ```
//!
//! Symbols come with words and colours only repeat them, so nothing is lost in a file. On a terminal a last line shows
//! what is running.

mod closing;
mod extensions;
mod paint;
mod progress;
mod screen;
mod suite;
pub(super) mod trouble;

use super::Reporter;
use super::tail::Tail;
use super::text::duration;
use super::visible::{visible, visible_lines};
use crate::event::{Body, Event, Log, LogFrom, SessionClosed, SessionOpened, Status, StepFinished, TestFinished};
use closing::Closing;
use paint::{Paint, symbol, word};
use progress::Progress;
use screen::Screen;
use std::io::{self, Write};
use std::sync::Arc;
use suite::Header;

/// How the report looks, and how much it says.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Colours.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// A line that moves.
    pub live: bool,
    /// Only failures and the summary.
    pub quiet: bool,
    /// Steps, logs and sessions too.
    pub verbose: bool,
    /// Every frame as it crosses the pipe.
    pub show_frames: bool,
}

/// Writes for people.
pub struct Human {
    name: String,
    look: Look,
    paint: Paint,
    screen: Screen,
    header: Header,
    progress: Progress,
    closing: Closing,
    tail: Tail,
    notes: Vec<String>,
    /// The file and the message of the failure shown last.
    told: Option<(Arc<str>, String)>,
}

impl Human {
    /// A reporter called `name` that writes to `output`.
    pub fn new(name: impl Into<String>, output: Box<dyn Write + Send>, look: Look) -> Human {
        Human {
            name: name.into(),
            look,
            paint: Paint { color: look.color },
            screen: Screen::new(output),
            header: Header::default(),
            progress: Progress::default(),
            closing: Closing::default(),
            tail: Tail::default(),
            notes: Vec::new(),
            told: None,
        }
    }

    /// The same, when this stood on the command line beside the files.
    #[must_use]
    pub fn run_with(mut self, words: Vec<String>) -> Human {
        self.closing.again = words;
        self
    }

    fn session_opened(&mut self, opened: &SessionOpened) -> io::Result<()> {
        self.header.session_opened(opened);
        if !self.look.verbose {
            return Ok(());
        }
        let era = opened.era.map(|era| format!(" ({era})")).unwrap_or_default();
        let revision =
            opened.protocol_version.as_deref().map(|version| format!(", protocol {}{era}", visible(version)));
        let line = format!(
            "session {} opened in {}{}",
            visible(&opened.session),
            duration(opened.duration_ms),
            revision.unwrap_or_default()
        );
        self.screen.line(&self.paint.dim(&line))
    }

    fn session_closed(&mut self, closed: &SessionClosed) -> io::Result<()> {
        if !self.look.verbose {
            return Ok(());
        }
        let (session, exit) = (visible(&closed.session), visible(&closed.exit));
        // Of a connection that was just closed there is no more to say.
        let by = if closed.by == "closed" { String::new() } else { format!(", by {}", closed.by) };
        let line = format!("session {session} closed in {}: {exit}{by}", duration(closed.duration_ms));
        self.screen.line(&self.paint.dim(&line))
    }

    fn log(&mut self, log: &Log) -> io::Result<()> {
        match log.from {
            LogFrom::Stderr if self.look.verbose => {
                for line in visible_lines(&log.text) {
                    self.screen.line(&format!("    {} {line}", self.paint.dim("│")))?;
                }
                Ok(())
            }
            LogFrom::Stderr => Ok(()),
            LogFrom::Engine | LogFrom::Extension => {
                let label = self.paint.warning("note:");
                let note = format!("  {label} {}", visible_lines(&log.text).collect::<Vec<_>>().join("\n        "));
                if self.look.quiet {
                    self.notes.push(note);
                    return Ok(());
                }
                if let Some(step) = &log.step {
                    self.header.show(&step.test, self.look, &mut self.screen)?;
                }
                self.screen.line(&note)
            }
        }
    }

    fn step_finished(&mut self, finished: &StepFinished) -> io::Result<()> {
        if !self.look.verbose {
            return Ok(());
        }
        let (status, number) = (finished.status, finished.step.number);
        let mark = self.paint.status(status, symbol(status));
        self.screen.line(&format!(
            "    {mark} {}",
            self.paint.dim(&format!("step {number} {} in {}", word(status), duration(finished.duration_ms)))
        ))
    }

    fn test_finished(&mut self, finished: &TestFinished) -> io::Result<()> {
        let bad = matches!(finished.status, Status::Failed | Status::Faulted);
        self.progress.finished(finished.status);
        self.closing.add(finished);
        let again = trouble::again(finished, &self.tail, &self.told);
        if bad || !self.look.quiet {
            self.header.show(&finished.test, self.look, &mut self.screen)?;
            self.screen.line(&suite::test_line(finished, again, &self.header, self.look))?;
        }
        if bad && again.is_none() {
            self.told = finished.failures.first().map(|failure| (finished.test.file.clone(), failure.message.clone()));
            let notes = std::mem::take(&mut self.notes);
            trouble::show(finished, &self.tail, &notes, self.look, &mut self.screen)?;
        }
        self.notes.clear();
        Ok(())
    }
}

impl Reporter for Human {
    fn name(&self) -> &str {
        &self.name
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.body {
            Body::RunStarted(started) => {
                self.progress.run_started(started);
                self.closing.run_started(started);
                for used in started.extensions.iter().filter(|_| !self.look.quiet) {
                    for line in extensions::lines(used, self.paint) {
                        self.screen.line(&line)?;
                    }
                }
            }
            Body::SessionOpened(opened) => self.session_opened(opened)?,
            Body::SessionClosed(closed) => self.session_closed(closed)?,
            Body::TestStarted { test } => {
                self.progress.started(test);
                if self.look.verbose || self.look.show_frames {
                    self.header.show(test, self.look, &mut self.screen)?;
                    self.screen.line(&self.paint.dim(&format!("  › {}", visible(&test.name))))?;
                }
            }
            Body::Attempt(attempt) if !self.look.quiet => {
                let line = suite::attempt_line(attempt, self.look);
                self.header.show(&attempt.test, self.look, &mut self.screen)?;
                self.screen.line(&line)?;
            }
            Body::Frame(frame) if self.look.show_frames => {
                self.screen.block("    ", &trouble::frame(frame.direction, &frame.text, self.look, usize::MAX))?;
            }
            Body::Log(log) => self.log(log)?,
            Body::StepFinished(finished) => self.step_finished(finished)?,
            Body::TestFinished(finished) => self.test_finished(finished)?,
            Body::RunFinished(finished) => self.closing.show(finished, self.look, &mut self.screen)?,
            Body::StepStarted { .. } | Body::Frame(_) | Body::Attempt(_) => {}
        }
        self.tail.event(&event.body);
        Ok(())
    }

    fn tick(&mut self) -> io::Result<()> {
        if self.look.live {
            self.screen.draw(|| self.progress.line(self.look.width, self.paint))?;
        }
        self.screen.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.screen.erase()?;
        self.screen.flush()
    }

    fn wants_frames(&self) -> bool {
        self.look.show_frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::RunStarted;
    use crate::reporter::sample;
    use crate::suite::Lane;
    use std::time::SystemTime;

    #[test]
    fn the_moving_line_is_erased_before_anything_else() {
        let output = sample::Output::default();
        let look = Look { color: false, width: 40, live: true, quiet: false, verbose: false, show_frames: false };
        let mut human = Human::new("human", Box::new(output.clone()), look);
        let test = sample::test("a.yml", "A", "s", Lane::Tools, "a name that is far too long for forty columns", 1);
        let finished = TestFinished {
            test: test.clone(),
            status: Status::Passed,
            duration_ms: 1.0,
            failures: vec![],
            reason: None,
            attempts: None,
        };
        let started = RunStarted { version: "0", files: 1, tests: 7, jobs: 1, seed: None, extensions: Vec::new() };
        for body in [Body::RunStarted(started), Body::TestStarted { test }] {
            human.event(&Event { seq: 1, at: SystemTime::UNIX_EPOCH, body }).unwrap();
        }
        human.tick().unwrap();
        human.event(&Event { seq: 2, at: SystemTime::UNIX_EPOCH, body: Body::TestFinished(finished) }).unwrap();
        human.tick().unwrap();
        human.finish().unwrap();

        let written = output.text();
        let parts: Vec<&str> = written.split("\r\x1b[2K").collect();
        let [before, moving, report, last, end] = parts[..] else { panic!("{parts:?}") };
        assert_eq!((before, end), ("", ""));
        assert!(moving.starts_with("  0/7 · ") && moving.ends_with('…'), "{moving}");
        assert_eq!(super::super::text::columns(moving), 39);
        assert_eq!(report, "A  a.yml · s\n  ✓ passed    1.0ms  a name that is far too long for forty columns\n");
        assert!(last.starts_with("  1/7 · "), "{last}");
    }
}
