//! The end of the report: which tests went wrong and where, the sums, and how to run only those again.

use super::Look;
use super::paint::{Paint, symbol};
use super::screen::Screen;
use crate::event::{RunFinished, RunStarted, Status, Summary, Test, TestFinished};
use crate::reporter::text::{columns, count, duration, shell};
use crate::reporter::visible::visible;
use std::io;
use std::sync::Arc;

/// More than a screen of names helps nobody.
const LISTED: usize = 40;
/// A command of more files is no longer one to copy.
const RERUN_FILES: usize = 8;

/// What the end needs to know of the run.
#[derive(Default)]
pub(super) struct Closing {
    bad: Vec<(Arc<Test>, Status, Option<&'static str>)>,
    files: Vec<Arc<str>>,
    flaky: usize,
    seed: Option<u64>,
    planned: usize,
    /// What stood on the command line beside the files.
    pub(super) again: Vec<String>,
}

impl Closing {
    pub(super) fn run_started(&mut self, started: &RunStarted) {
        self.seed = started.seed;
        self.planned = started.tests;
    }

    pub(super) fn add(&mut self, finished: &TestFinished) {
        let test = &finished.test;
        if self.files.last().is_none_or(|last| *last != test.file) {
            self.files.push(test.file.clone());
        }
        match finished.status {
            Status::Passed => self.flaky += usize::from(finished.attempts.is_some()),
            Status::Skipped => {}
            status => {
                let code = finished.failures.iter().find_map(|failure| failure.code);
                self.bad.push((test.clone(), status, code));
            }
        }
    }

    pub(super) fn show(&self, finished: &RunFinished, look: Look, screen: &mut Screen) -> io::Result<()> {
        let paint = Paint { color: look.color };
        if finished.summary.total > 1 {
            self.list(look, screen)?;
        }
        screen.gap()?;
        if finished.interrupted {
            let Summary { total, skipped, .. } = finished.summary;
            let (done, planned) = (total - skipped, self.planned.max(total));
            screen.line(&paint.warning(&format!("interrupted after {done} of {}", count(planned, "test"))))?;
        }
        screen.line(&self.sums(&finished.summary, paint))?;
        if let Some(seed) = self.seed {
            screen.line(&paint.dim(&format!("shuffled; the same order again: --shuffle --seed {seed}")))?;
        }
        if let Some(command) = self.rerun() {
            screen.line(&paint.dim(&format!("only the files that failed, again:\n  {command}")))?;
        }
        Ok(())
    }

    fn list(&self, look: Look, screen: &mut Screen) -> io::Result<()> {
        if self.bad.is_empty() {
            return Ok(());
        }
        let paint = Paint { color: look.color };
        screen.gap()?;
        screen.line(&paint.bold("Failed"))?;
        let place = |test: &Test| format!("{}:{}", visible(&test.file), test.line);
        let listed = &self.bad[..self.bad.len().min(LISTED)];
        let widest = listed.iter().map(|(test, ..)| columns(&place(test))).max().unwrap_or(0).min(look.width / 2);
        for (test, status, code) in listed {
            let place = place(test);
            let padding = " ".repeat(widest.saturating_sub(columns(&place)));
            let code = code.map(|code| paint.dim(&format!(" ({code})"))).unwrap_or_default();
            let mark = paint.status(*status, symbol(*status));
            screen.line(&format!("  {mark} {}{padding}  {}{code}", paint.dim(&place), visible(&test.name)))?;
        }
        match self.bad.len() - listed.len() {
            0 => Ok(()),
            rest => screen.line(&format!("  … and {rest} more")),
        }
    }

    fn sums(&self, summary: &Summary, paint: Paint) -> String {
        let time = paint.dim(&format!(" in {}", duration(summary.duration_ms)));
        if summary.total == 0 {
            return format!("no tests ran{time}");
        }
        let flaky = if self.flaky == 0 { String::new() } else { paint.warning(&format!(" ({} flaky)", self.flaky)) };
        let counts = [
            (Status::Failed, summary.failed, "failed", ""),
            (Status::Faulted, summary.faulted, "faulted", ""),
            (Status::Passed, summary.passed, "passed", &flaky),
            (Status::Skipped, summary.skipped, "skipped", ""),
        ];
        let shown: Vec<String> = counts
            .into_iter()
            .filter(|(_, number, ..)| *number > 0)
            .map(|(status, number, word, more)| format!("{}{more}", paint.strong(status, &format!("{number} {word}"))))
            .collect();
        format!("{}: {}{time}", count(summary.total, "test"), shown.join(", "))
    }

    /// The command that runs only the files with failures, when that is fewer than ran and few enough to type.
    fn rerun(&self) -> Option<String> {
        let mut files: Vec<&str> = self.bad.iter().map(|(test, ..)| &*test.file).collect();
        files.dedup();
        if files.is_empty() || files.len() == self.files.len() || files.len() > RERUN_FILES {
            return None;
        }
        let words = files.into_iter().chain(self.again.iter().map(String::as_str)).map(shell);
        Some(format!("mcptest run {}", words.collect::<Vec<_>>().join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::sample;
    use crate::suite::Lane;

    const LOOK: Look = Look { color: false, width: 80, live: false, quiet: false, verbose: false, show_frames: false };

    fn shown(closing: &Closing, finished: RunFinished) -> String {
        let output = sample::Output::default();
        let mut screen = Screen::new(Box::new(output.clone()));
        closing.show(&finished, LOOK, &mut screen).unwrap();
        screen.flush().unwrap();
        output.text()
    }

    fn closing(files: usize, bad: usize, of: usize) -> Closing {
        let mut closing = Closing::default();
        closing.run_started(&RunStarted {
            version: "0",
            files,
            tests: files * of,
            jobs: 1,
            seed: None,
            extensions: Vec::new(),
        });
        for file in 0..files {
            for number in 0..of {
                let status = if number < bad && file == 0 { Status::Failed } else { Status::Passed };
                let name = format!("it's {file}.yml");
                let test = sample::test(&name, "A", "s", Lane::Tests, &format!("test {number}"), number as u32);
                let (failures, reason, attempts) = (vec![], None, None);
                closing.add(&TestFinished { test, status, duration_ms: 1.0, failures, reason, attempts });
            }
        }
        closing
    }

    #[test]
    fn lists_no_more_than_a_screen() {
        let summary = Summary { total: 100, passed: 50, failed: 50, duration_ms: 5.0, ..Summary::default() };
        let text = shown(&closing(2, 50, 50), RunFinished { summary, exit_code: 1, interrupted: false });
        assert_eq!(text.matches("✗").count(), LISTED);
        assert!(
            text.ends_with(
                "  … and 10 more\n\n100 tests: 50 failed, 50 passed in 5.0ms\n\
                 only the files that failed, again:\n  mcptest run 'it'\\''s 0.yml'\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn says_when_the_run_was_cut_short_or_empty() {
        let summary = Summary { total: 6, passed: 1, skipped: 5, ..Summary::default() };
        let text = shown(&closing(2, 0, 3), RunFinished { summary, exit_code: 130, interrupted: true });
        assert_eq!(text, "interrupted after 1 of 6 tests\n6 tests: 1 passed, 5 skipped in 0.0ms\n");
        let run = RunFinished { summary: Summary::default(), exit_code: 7, interrupted: false };
        assert_eq!(shown(&Closing::default(), run), "no tests ran in 0.0ms\n");
    }
}
