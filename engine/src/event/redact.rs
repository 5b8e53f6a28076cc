//! Secrets out of everything that leaves the engine.
//!
//! Matching is done by then, so a test may compare a secret; no report shows it. Every string of every event is
//! searched, keys and numbers of JSON values included, for the secret itself and for the shapes it takes on the way:
//! see [`pattern`].

mod cut;
mod pattern;

use super::diff::{Diff, Op};
use super::{At, Attempt, Body, Failure, Frame, Log, SessionClosed, SessionOpened, StepFinished, StepId};
use super::{Test, TestFinished};
use crate::source::Json;
use regex::Regex;
use std::borrow::Cow;
use std::sync::Arc;

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";
/// Shorter values would redact words of everyday text.
pub const MIN_CHARS: usize = 6;

/// Replaces secrets.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    patterns: Vec<Regex>,
    secrets: Vec<String>,
    /// The secrets as they may stand beside a cut.
    forms: Vec<String>,
    /// The last test seen, as it came and as it leaves: a test stands in many events, one after the other.
    last: Option<(Arc<Test>, Arc<Test>)>,
}

impl Redactor {
    /// A redactor for these values; those under [`MIN_CHARS`] characters are left out.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Redactor {
        let secrets = pattern::values(secrets);
        Redactor { patterns: pattern::compile(&secrets), forms: pattern::forms(&secrets), secrets, last: None }
    }

    /// The same for one more value, which came up during the run.
    #[must_use]
    pub fn with(&self, secret: &str) -> Redactor {
        Redactor::new(self.secrets.iter().map(String::as_str).chain([secret]))
    }

    /// Whether there is nothing to redact.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// `text` without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // Cuts first: a long secret is looked for in pieces, and without its first piece its rest is no start of it.
        let mut clean = cut::redact(text, &self.forms).map_or(Cow::Borrowed(text), Cow::Owned);
        for pattern in &self.patterns {
            if let Cow::Owned(replaced) = pattern.replace_all(&clean, REDACTED) {
                clean = Cow::Owned(replaced);
            }
        }
        clean
    }

    /// Takes the secrets out of an event, in place.
    pub fn redact(&mut self, body: &mut Body) {
        if self.is_empty() {
            return;
        }
        match body {
            Body::RunStarted(_) | Body::RunFinished(_) => {}
            Body::SessionOpened(opened) => self.session_opened(opened),
            Body::TestStarted { test } => self.test(test),
            Body::StepStarted { step } => self.step(step),
            Body::Frame(frame) => self.frame(frame),
            Body::Attempt(Attempt { test, reason, attempt: _, of: _ }) => {
                self.test(test);
                self.string(reason);
            }
            Body::Log(log) => self.log(log),
            Body::StepFinished(StepFinished { step, failures, status: _, duration_ms: _ }) => {
                self.step(step);
                self.failures(failures);
            }
            Body::TestFinished(finished) => self.test_finished(finished),
            Body::SessionClosed(SessionClosed { session, server, exit, by: _, duration_ms: _ }) => {
                self.shared(session);
                self.shared(server);
                self.string(exit);
            }
        }
    }

    fn session_opened(&self, opened: &mut SessionOpened) {
        let SessionOpened { session, server, server_info, era: _, protocol_version, duration_ms: _ } = opened;
        self.shared(session);
        self.shared(server);
        server_info.iter_mut().for_each(|info| self.json(info));
        protocol_version.iter_mut().for_each(|version| self.string(version));
    }

    fn frame(&mut self, Frame { session, step, text, direction: _, cut: _ }: &mut Frame) {
        self.shared(session);
        step.iter_mut().for_each(|step| self.step(step));
        self.string(text);
    }

    fn log(&mut self, Log { session, step, text, from: _ }: &mut Log) {
        session.iter_mut().for_each(|session| self.shared(session));
        step.iter_mut().for_each(|step| self.step(step));
        self.string(text);
    }

    fn test_finished(&mut self, finished: &mut TestFinished) {
        let TestFinished { test, failures, reason, status: _, duration_ms: _, attempts: _ } = finished;
        self.test(test);
        self.failures(failures);
        reason.iter_mut().for_each(|reason| self.string(reason));
    }

    fn failures(&self, failures: &mut [Failure]) {
        failures.iter_mut().for_each(|failure| self.failure(failure));
    }

    fn failure(&self, failure: &mut Failure) {
        let Failure { message, matcher, path, expected, actual, source, hints, diff, at, kind: _, code: _, step: _ } =
            failure;
        self.string(message);
        for text in matcher.iter_mut().chain(path).chain(source).chain(hints) {
            self.string(text);
        }
        for value in expected.iter_mut().chain(actual) {
            self.json(value);
        }
        self.diff(diff);
        let At { file, text, line: _, column: _, width: _, cut: _ } = at;
        self.shared(file);
        self.string(text);
    }

    /// A diff shows a text line by line: one through which a secret still runs is left out.
    fn diff(&self, diff: &mut Option<Diff>) {
        let Some(Diff { path, lines, more: _ }) = diff else { return };
        self.string(path);
        for line in lines.iter_mut() {
            let before = line.text.len();
            self.string(&mut line.path);
            self.string(&mut line.text);
            if line.text.len() != before {
                line.marks.clear();
            }
        }
        let sides = [Op::Expected, Op::Actual].map(|side| {
            let texts =
                lines.iter().filter(|line| line.op == side || line.op == Op::Same).map(|line| line.text.as_str());
            texts.collect::<Vec<_>>().join("\n")
        });
        if sides.iter().any(|side| self.holds_secret(side)) {
            *diff = None;
        }
    }

    fn step(&mut self, step: &mut StepId) {
        self.test(&mut step.test);
    }

    fn test(&mut self, test: &mut Arc<Test>) {
        if let Some((seen, clean)) = &self.last
            && Arc::ptr_eq(seen, test)
        {
            *test = clean.clone();
            return;
        }
        let seen = test.clone();
        let Test { id, file, suite, server, lane, name, line } = &**test;
        if [id, name, &**file, &**suite, &**server].iter().any(|text| self.holds_secret(text)) {
            let [mut file, mut suite, mut server] = [file.clone(), suite.clone(), server.clone()];
            [&mut file, &mut suite, &mut server].into_iter().for_each(|text| self.shared(text));
            let (id, name) = (self.text(id).into_owned(), self.text(name).into_owned());
            *test = Arc::new(Test { id, file, suite, server, lane: *lane, name, line: *line });
        }
        self.last = Some((seen, test.clone()));
    }

    /// Takes out of a value what is known, and these, which came up since.
    pub fn json_with(&self, value: &mut Json, learnt: &[String]) {
        if learnt.is_empty() {
            return self.json(value);
        }
        Redactor::new(self.secrets.iter().chain(learnt)).json(value);
    }

    /// Takes the secrets out of a value, in place.
    pub fn json(&self, value: &mut Json) {
        match value {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => {
                if self.holds_secret(&number.to_string()) {
                    *value = Json::String(REDACTED.to_owned());
                }
            }
            Json::String(text) => self.string(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Json::Object(map) => {
                if map.keys().any(|key| self.holds_secret(key)) {
                    let entries = std::mem::take(map);
                    map.extend(entries.into_iter().map(|(key, value)| (self.text(&key).into_owned(), value)));
                }
                map.values_mut().for_each(|value| self.json(value));
            }
        }
    }

    fn string(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    fn shared(&self, text: &mut Arc<str>) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean.into();
        }
    }

    fn holds_secret(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Direction, FailureKind, LogFrom, RunFinished, RunStarted, Status, Summary};
    use crate::suite::Lane;
    use serde_json::json;

    const CANARY: &str = "canary-7f3a";

    fn shared() -> Arc<str> {
        format!("a {CANARY} b").into()
    }

    fn text() -> String {
        format!("{CANARY}{CANARY} and {CANARY}")
    }

    /// Every kind of event, a secret in every string.
    fn events() -> Vec<Body> {
        let test = Arc::new(Test {
            id: text(),
            file: shared(),
            suite: shared(),
            server: shared(),
            lane: Lane::Tools,
            name: text(),
            line: 1,
        });
        let step = StepId { test: test.clone(), number: 1 };
        let failure = Failure {
            kind: FailureKind::Fault,
            message: text(),
            matcher: Some(text()),
            path: Some(text()),
            expected: Some(json!({CANARY: [{"deep": [CANARY]}], "plain": 1})),
            actual: Some(json!([{CANARY: CANARY}, text()])),
            code: Some("timeout"),
            source: Some(text()),
            step: None,
            hints: vec![text(), text()],
            diff: Some(Diff {
                path: text(),
                lines: vec![crate::event::diff::Line {
                    op: Op::Actual,
                    path: text(),
                    depth: 0,
                    text: text(),
                    marks: vec![[0, 4]],
                }],
                more: 0,
            }),
            at: At { file: shared(), line: 1, column: 1, width: 1, text: text(), cut: 0 },
        };
        let failures = vec![failure; 2];
        let (session, server, status, duration_ms) = (shared(), shared(), Status::Faulted, 1.0);
        vec![
            Body::RunStarted(RunStarted {
                version: "0",
                files: 1,
                tests: 1,
                jobs: 1,
                seed: None,
                extensions: Vec::new(),
            }),
            Body::SessionOpened(SessionOpened {
                session: session.clone(),
                server: server.clone(),
                server_info: Some(json!({"name": CANARY})),
                era: Some("legacy"),
                protocol_version: Some(text()),
                duration_ms,
            }),
            Body::TestStarted { test: test.clone() },
            Body::StepStarted { step: step.clone() },
            Body::Frame(Frame {
                session: session.clone(),
                step: Some(step.clone()),
                direction: Direction::Noise,
                text: text(),
                cut: 0,
            }),
            Body::Attempt(Attempt { test: test.clone(), attempt: 2, of: 3, reason: text() }),
            Body::Log(Log {
                from: LogFrom::Stderr,
                session: Some(session.clone()),
                step: Some(step.clone()),
                text: text(),
            }),
            Body::StepFinished(StepFinished { step, status, duration_ms, failures: failures.clone() }),
            Body::TestFinished(TestFinished {
                test,
                status,
                duration_ms,
                failures,
                reason: Some(text()),
                attempts: None,
            }),
            Body::SessionClosed(SessionClosed { session, server, exit: text(), by: "eof", duration_ms }),
            Body::RunFinished(RunFinished { summary: Summary::default(), exit_code: 1, interrupted: false }),
        ]
    }

    #[test]
    fn no_field_of_any_event_keeps_a_secret() {
        let mut redactor = Redactor::new([CANARY]);
        for mut body in events() {
            redactor.redact(&mut body);
            let written = serde_json::to_string(&body).unwrap();
            assert!(!written.contains("canary"), "{written}");
            assert!(!format!("{body:?}").contains("canary"), "{body:?}");
        }
    }

    #[test]
    fn nothing_is_touched_without_a_secret_in_it() {
        let before: Vec<String> = events().iter().map(|body| format!("{body:?}")).collect();
        for mut redactor in [Redactor::default(), Redactor::new(["short", "not there at all"])] {
            for (mut body, before) in events().into_iter().zip(&before) {
                redactor.redact(&mut body);
                assert_eq!(format!("{body:?}"), *before);
            }
        }
    }

    #[test]
    fn a_clean_test_stays_shared() {
        let mut redactor = Redactor::new(["elsewhere"]);
        let Body::TestStarted { mut test } = events().swap_remove(2) else { unreachable!() };
        let before = test.clone();
        redactor.test(&mut test);
        assert!(Arc::ptr_eq(&before, &test));
    }

    #[test]
    fn numbers_can_be_secrets() {
        let redactor = Redactor::new(["12345678"]);
        let mut value = json!({"pin": 12345678, "other": 1234});
        redactor.json(&mut value);
        assert_eq!(value, json!({"pin": "[redacted]", "other": 1234}));
    }

    #[test]
    fn the_rest_of_a_text_stays() {
        let redactor = Redactor::new(["secret-one", "secret-one-longer", "five5"]);
        assert_eq!(redactor.text("a secret-one-longer, secret-one and five5"), "a [redacted], [redacted] and five5");
        assert!(matches!(redactor.text("nothing here"), Cow::Borrowed(_)));
    }
}
