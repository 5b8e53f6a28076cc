//! The end of the report: which tests went wrong and where, the sums, and how to run only those again.

use super::Look;
use super::paint::{Paint, symbol};
use super::screen::Screen;
use crate::event::{RunFinished, Status, Summary, Test, TestFinished};
use crate::reporter::text::{columns, count, duration};
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
}

impl Closing {
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
            screen.line(&paint.warning("interrupted"))?;
        }
        screen.line(&self.sums(&finished.summary, paint))?;
        match self.rerun() {
            Some(command) => screen.line(&paint.dim(&format!("run the files that failed again: {command}"))),
            None => Ok(()),
        }
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
        Some(format!("mcptest run {}", files.iter().map(|file| shell(file)).collect::<Vec<_>>().join(" ")))
    }
}

/// A word for a shell, quoted when it needs to be.
fn shell(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", visible(word).replace('\'', r"'\''"))
}
