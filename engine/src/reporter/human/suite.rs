//! The header of a suite and the lines of its tests.

use super::Look;
use super::paint::{Paint, symbol, word};
use super::screen::Screen;
use crate::event::{Attempt, SessionOpened, Status, Test, TestFinished};
use crate::reporter::text::{columns, duration};
use crate::reporter::visible::visible;
use crate::suite::Lane;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Where names begin.
const NAME_COLUMN: usize = 21;

/// The suite that is being shown.
#[derive(Default)]
pub(super) struct Header {
    shown: Option<(Arc<str>, Arc<str>)>,
    /// What servers call themselves, by their name in the config.
    servers: HashMap<Arc<str>, String>,
}

impl Header {
    pub(super) fn session_opened(&mut self, opened: &SessionOpened) {
        let info = opened.server_info.as_ref();
        let text = |key: &str| info?.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty());
        let itself = match (text("name"), text("version")) {
            (Some(name), Some(version)) => format!("{} {}", visible(name), visible(version)),
            (Some(name), None) => visible(name).into_owned(),
            _ => return,
        };
        self.servers.insert(opened.server.clone(), itself);
    }

    /// Shows the header of the test's suite, unless it stands above already.
    pub(super) fn show(&mut self, test: &Test, look: Look, screen: &mut Screen) -> io::Result<()> {
        if self.shown.as_ref().is_some_and(|(file, _)| *file == test.file) {
            return Ok(());
        }
        self.shown = Some((test.file.clone(), test.server.clone()));
        let paint = Paint { color: look.color };
        let (title, file, server) = (visible(&test.suite), visible(&test.file), visible(&test.server));
        let mut place = if title == file { String::new() } else { format!("{file} · ") };
        place.push_str(&server);
        if let Some(itself) = self.servers.get(&test.server).filter(|itself| **itself != server) {
            place.push_str(&format!(" ({itself})"));
        }
        screen.gap()?;
        let fits = columns(&title) + 2 + columns(&place) <= look.width;
        let between = if fits { "  " } else { "\n  " };
        screen.line(&format!("{}{between}{}", paint.bold(&title), paint.dim(&place)))
    }

    fn is_other_server(&self, test: &Test) -> bool {
        self.shown.as_ref().is_some_and(|(_, server)| *server != test.server)
    }
}

/// `  ✓ passed    1.2ms  reads an existing file`.
///
/// `also` is a remark beside those that the result itself asks for.
pub(super) fn test_line(finished: &TestFinished, also: Option<&str>, header: &Header, look: Look) -> String {
    let paint = Paint { color: look.color };
    let (status, test) = (finished.status, &finished.test);
    let flaky = status == Status::Passed && finished.attempts.is_some();
    let mark = match status {
        Status::Passed if flaky => paint.warning(&format!("{} flaky  ", symbol(status))),
        Status::Failed | Status::Faulted => paint.strong(status, &format!("{} {:<7}", symbol(status), word(status))),
        _ => paint.status(status, &format!("{} {:<7}", symbol(status), word(status))),
    };
    let time = if status == Status::Skipped { String::new() } else { duration(finished.duration_ms) };
    let mut line = format!("  {mark} {} ", paint.dim(&format!("{time:>7}")));
    if matches!(test.lane, Lane::Before | Lane::After) {
        line.push_str(&paint.dim(&format!(" {}:", test.lane.key())));
    }
    let name = visible(&test.name);
    line.push(' ');
    line.push_str(&if matches!(status, Status::Failed | Status::Faulted) {
        paint.bold(&name)
    } else {
        name.into_owned()
    });
    let mut remarks = remarks(finished, header);
    remarks.extend(also.map(|remark| visible(remark).into_owned()));
    remark(&mut line, &test.name, &remarks.join("; "), look);
    line
}

/// `  ↻ retry            connects (attempt 2 of 3: no answer within 30s)`.
pub(super) fn attempt_line(attempt: &Attempt, look: Look) -> String {
    let Attempt { test, attempt, of, reason } = attempt;
    let paint = Paint { color: look.color };
    let mut line = format!("  {} {:7}  {}", paint.warning("↻ retry  "), "", visible(&test.name));
    remark(&mut line, &test.name, &format!("attempt {attempt} of {of}: {}", visible(reason)), look);
    line
}

/// Adds a remark in parentheses behind the name, or below it where the line would be too long.
fn remark(line: &mut String, name: &str, remark: &str, look: Look) {
    if remark.is_empty() {
        return;
    }
    let fits = NAME_COLUMN + columns(&visible(name)) + columns(remark) + 3 <= look.width;
    let between = if fits { " ".to_owned() } else { format!("\n{}", " ".repeat(NAME_COLUMN)) };
    line.push_str(&between);
    line.push_str(&Paint { color: look.color }.dim(&format!("({remark})")));
}

fn remarks(finished: &TestFinished, header: &Header) -> Vec<String> {
    let mut remarks = Vec::new();
    if header.is_other_server(&finished.test) {
        remarks.push(format!("server {}", visible(&finished.test.server)));
    }
    match (finished.status, finished.attempts) {
        (Status::Passed, Some(attempts)) => remarks.push(format!("passed on attempt {attempts}")),
        (_, Some(attempts)) => remarks.push(format!("{attempts} attempts")),
        _ => {}
    }
    remarks.extend(finished.reason.as_deref().map(|reason| visible(reason).into_owned()));
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_leaves_empty_leaves_no_gap() {
        let mut header = Header::default();
        let mut introduce = |info: serde_json::Value| {
            header.servers.clear();
            header.session_opened(&SessionOpened {
                session: "s#1".into(),
                server: "s".into(),
                server_info: Some(info),
                era: None,
                protocol_version: None,
                duration_ms: 1.0,
            });
            header.servers.get("s").cloned()
        };
        assert_eq!(introduce(serde_json::json!({"name": "files", "version": "1"})).as_deref(), Some("files 1"));
        assert_eq!(introduce(serde_json::json!({"name": "files", "version": ""})).as_deref(), Some("files"));
        assert_eq!(introduce(serde_json::json!({"name": "", "version": "1"})), None);
    }
}
