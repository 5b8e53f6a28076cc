//! A run of three suites in which everything happens that can happen, for the tests of every reporter.

use crate::event::*;
use crate::suite::Lane;
use serde_json::json;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// The stream of the run, in order.
pub(crate) fn run() -> Vec<Event> {
    let mut stream = Stream::default();
    stream.push(Body::RunStarted(RunStarted {
        version: "0.1.0",
        files: 3,
        tests: 12,
        jobs: 2,
        seed: Some(42),
        extensions: Vec::new(),
    }));
    stream.push(opened("fs", Some(json!({"name": "file-server", "version": "1.2.0"}))));
    files(&mut stream);
    stream.push(opened("crashy", None));
    crashes(&mut stream);
    let test = test("prompts.test.mcp.yml", "Prompts", "fs", Lane::Prompts, "renders ✨ for 日本語", 4);
    stream.passed(&test, 0.31);
    stream.push(closed("fs", "exit code 0", "eof"));
    let summary = Summary { total: 12, passed: 4, failed: 2, faulted: 4, skipped: 2, duration_ms: 31_204.5 };
    stream.push(Body::RunFinished(RunFinished { summary, exit_code: 1, interrupted: false }));
    stream.events
}

fn files(stream: &mut Stream) {
    let test = |lane, name, line| test("examples/fs.test.mcp.yml", "Filesystem server", "fs", lane, name, line);
    stream.passed(&test(Lane::Before, "makes a folder", 6), 12.4);
    stream.passed(&test(Lane::Tests, "should read an existing file", 12), 1.24);
    missing_file(stream, test(Lane::Tools, "rejects a missing file", 22));
    let flaky = test(Lane::Tools, "connects", 30);
    stream.push(Body::TestStarted { test: flaky.clone() });
    let reason = "no answer within 30s".to_owned();
    stream.push(Body::Attempt(Attempt { test: flaky.clone(), attempt: 2, of: 3, reason }));
    stream.finished(&flaky, Status::Passed, 340.0, vec![], None, Some(2));
    let skipped = test(Lane::Agents, "agents", 40);
    stream.finished(&skipped, Status::Skipped, 0.0, vec![], Some("this version runs no `agents` lane"), None);
    let mut elsewhere = test(Lane::Tools, "needs a capture", 44);
    if let Some(test) = Arc::get_mut(&mut elsewhere) {
        test.server = "other".into();
    }
    stream.finished(&elsewhere, Status::Skipped, 0.0, vec![], Some("`connects` gave no `${token}`"), None);
    two_steps(stream, test(Lane::Tools, "writes, then reads back", 50));
}

fn missing_file(stream: &mut Stream, test: Arc<Test>) {
    let mismatch = Failure {
        kind: FailureKind::Mismatch,
        message: "the text does not match".to_owned(),
        matcher: Some("match:".to_owned()),
        path: Some("$.text".to_owned()),
        expected: Some(json!("match:File not found")),
        actual: Some(json!("ENOENT: no such file or directory, open './nope.txt'")),
        code: None,
        source: None,
        step: None,
        hints: vec!["the regex would match with flag `i`".to_owned()],
        diff: None,
        at: At {
            file: test.file.clone(),
            line: 25,
            column: 36,
            width: 22,
            text: "    expect: { isError: true, text: \"match:File not found\" }".to_owned(),
            cut: 0,
        },
    };
    let wrong_flag = Failure {
        message: "expected `true`, got `false`".to_owned(),
        matcher: None,
        path: Some("$.isError".to_owned()),
        expected: Some(json!(true)),
        actual: Some(json!(false)),
        hints: vec!["`isError` is omitted by this server".to_owned()],
        at: At { column: 24, width: 4, ..mismatch.at.clone() },
        ..mismatch.clone()
    };
    let sent = r#"{"jsonrpc":"2.0","id":"m-3","method":"tools/call","params":{"name":"read_file","arguments":{"path":"./nope.txt"}}}"#;
    let received = r#"{"jsonrpc":"2.0","id":"m-3","result":{"content":[{"type":"text","text":"ENOENT: no such file or directory, open './nope.txt'"}]}}"#;
    let failures = vec![mismatch, wrong_flag];
    let step = StepId { test: test.clone(), number: 1 };
    stream.push(Body::TestStarted { test: test.clone() });
    stream.push(Body::StepStarted { step: step.clone() });
    stream.frame(&step, Direction::Sent, sent);
    stream.frame(&step, Direction::Received, received);
    stream.stderr(Some(&step), "read_file ./nope.txt\n\tat open (fs.js:12)\n");
    stream.step(&step, Status::Failed, 2.1, failures.clone());
    stream.finished(&test, Status::Failed, 2.1, failures, None, None);
}

fn two_steps(stream: &mut Stream, test: Arc<Test>) {
    let failure = Failure {
        kind: FailureKind::Mismatch,
        message: "expected `\"hi\"`, got nothing".to_owned(),
        matcher: None,
        path: Some("$.structured.text".to_owned()),
        expected: Some(json!("hi")),
        actual: None,
        code: None,
        source: None,
        step: Some(2),
        hints: vec![],
        diff: None,
        at: At { file: test.file.clone(), line: 53, column: 9, width: 4, text: "        text: hi".to_owned(), cut: 0 },
    };
    let steps = [1, 2].map(|number| StepId { test: test.clone(), number });
    stream.push(Body::TestStarted { test: test.clone() });
    stream.push(Body::StepStarted { step: steps[0].clone() });
    stream.stderr(Some(&steps[0]), "of a passed step: nobody wants to see this\n");
    stream.step(&steps[0], Status::Passed, 0.4, vec![]);
    stream.push(Body::StepStarted { step: steps[1].clone() });
    stream.frame(&steps[1], Direction::Noise, "debug: reading a.txt");
    stream.step(&steps[1], Status::Failed, 0.6, vec![failure.clone()]);
    stream.finished(&test, Status::Failed, 1.0, vec![failure], None, Some(3));
}

/// What a hostile server may send: escapes, reordering marks, ends of CDATA, and no characters at all.
pub(crate) const HOSTILE: &str = "\u{1b}[2J\u{1b}[31mred\u{7}\u{202e}txt\u{fffe}]]>\u{0}<&\"'";

fn crashes(stream: &mut Stream) {
    let file = "examples/crash.test.mcp.yml";
    let test = |name, line| test(file, file, "crashy", Lane::Tools, name, line);
    let fault = |code, message: &str, line| Failure {
        kind: FailureKind::Fault,
        message: message.to_owned(),
        matcher: None,
        path: None,
        expected: None,
        actual: None,
        code: Some(code),
        source: Some("crashy".to_owned()),
        step: None,
        hints: vec![],
        diff: None,
        at: At { file: file.into(), line, column: 5, width: 4, text: "  - it: hangs".to_owned(), cut: 0 },
    };
    let engine = |text: &str| Log { from: LogFrom::Engine, session: None, step: None, text: text.to_owned() };
    let hangs = test("hangs", 3);
    let step = StepId { test: hangs.clone(), number: 1 };
    stream.push(Body::TestStarted { test: hangs.clone() });
    let timeout = fault("timeout", "no answer within 30s", 3);
    stream.step(&step, Status::Faulted, 30_000.0, vec![timeout.clone()]);
    stream.finished(&hangs, Status::Faulted, 30_000.0, vec![timeout], None, None);
    stream.push(Body::Log(engine("id `m-1` timed out: the session is restarted")));

    let crashes = test(HOSTILE, 9);
    let step = StepId { test: crashes.clone(), number: 1 };
    stream.push(Body::TestStarted { test: crashes.clone() });
    stream.frame(&step, Direction::Sent, &format!(r#"{{"method":"{}"}}"#, "long ".repeat(300)));
    let lines: String = (1..=30).map(|number| format!("line {number} {HOSTILE}\n")).collect();
    stream.stderr(Some(&step), &lines);
    let crashed = fault("crashed", &format!("the server ended: signal 11 (SIGSEGV) {HOSTILE}"), 9);
    stream.step(&step, Status::Faulted, 4.0, vec![crashed.clone()]);
    stream.finished(&crashes, Status::Faulted, 4.0, vec![crashed], None, None);
    stream.push(closed("crashy", "signal 11 (SIGSEGV)", "itself"));
    let rest = fault("connection_lost", "the server of this file is gone", 15);
    stream.finished(&test("never runs", 15), Status::Faulted, 0.0, vec![rest.clone()], None, None);
    stream.finished(&test("nor does this", 18), Status::Faulted, 0.0, vec![rest], None, None);
}

/// A place to write that can still be read afterwards.
#[derive(Clone, Default)]
pub(crate) struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    /// What was written so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A test of a suite.
pub(crate) fn test(file: &str, suite: &str, server: &str, lane: Lane, name: &str, line: u32) -> Arc<Test> {
    let id = format!("{file}#{}/{name}", lane.key());
    let (file, suite, server) = (file.into(), suite.into(), server.into());
    Arc::new(Test { id, file, suite, server, lane, name: name.to_owned(), line })
}

fn opened(server: &str, server_info: Option<serde_json::Value>) -> Body {
    let session = format!("{server}#1").into();
    let protocol_version = Some("2025-11-25".to_owned());
    Body::SessionOpened(SessionOpened {
        session,
        server: server.into(),
        server_info,
        era: Some("legacy"),
        protocol_version,
        duration_ms: 120.0,
    })
}

fn closed(server: &str, exit: &str, by: &'static str) -> Body {
    let session = format!("{server}#1").into();
    Body::SessionClosed(SessionClosed { session, server: server.into(), exit: exit.to_owned(), by, duration_ms: 3.2 })
}

/// Events with numbers and a clock that moves a millisecond each time.
#[derive(Default)]
struct Stream {
    events: Vec<Event>,
}

impl Stream {
    fn push(&mut self, body: Body) {
        let seq = self.events.len() as u64 + 1;
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_268_800_000 + seq);
        self.events.push(Event { seq, at, body });
    }

    fn passed(&mut self, test: &Arc<Test>, ms: f64) {
        let step = StepId { test: test.clone(), number: 1 };
        self.push(Body::TestStarted { test: test.clone() });
        self.push(Body::StepStarted { step: step.clone() });
        self.step(&step, Status::Passed, ms, vec![]);
        self.finished(test, Status::Passed, ms, vec![], None, None);
    }

    fn step(&mut self, step: &StepId, status: Status, duration_ms: f64, failures: Vec<Failure>) {
        self.push(Body::StepFinished(StepFinished { step: step.clone(), status, duration_ms, failures }));
    }

    fn finished(
        &mut self,
        test: &Arc<Test>,
        status: Status,
        duration_ms: f64,
        failures: Vec<Failure>,
        reason: Option<&str>,
        attempts: Option<u32>,
    ) {
        let (test, reason) = (test.clone(), reason.map(str::to_owned));
        self.push(Body::TestFinished(TestFinished { test, status, duration_ms, failures, reason, attempts }));
    }

    fn frame(&mut self, step: &StepId, direction: Direction, text: &str) {
        let (session, step) = ("fs#1".into(), Some(step.clone()));
        self.push(Body::Frame(Frame { session, step, direction, text: text.to_owned(), cut: 0 }));
    }

    fn stderr(&mut self, step: Option<&StepId>, text: &str) {
        let (session, step) = (Some("fs#1".into()), step.cloned());
        self.push(Body::Log(Log { from: LogFrom::Stderr, session, step, text: text.to_owned() }));
    }
}
