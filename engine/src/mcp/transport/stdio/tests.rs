//! The transport against the fixture server, which cargo builds beside the tests.

use super::*;
use crate::mcp::message::{Kind, Message};
use crate::source::Json;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

const GRACE: Grace = Grace::each(Duration::from_secs(5));
/// Far more than anything here takes: a hang must fail, not hang.
const PATIENCE: Duration = Duration::from_secs(60);
const MAX_LINE: usize = 64 * 1024 * 1024;

fn fixture(flags: &[&str]) -> Stdio {
    fixture_with(flags, MAX_LINE)
}

fn fixture_with(flags: &[&str], max_line: usize) -> Stdio {
    crate::child::become_subreaper();
    let tests = std::env::current_exe().expect("the tests have a path");
    let program = tests.with_file_name("").join("../examples/fixture-server");
    let spawn = Spawn {
        program: program.display().to_string(),
        args: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        cwd: PathBuf::from("."),
        env: Vec::new(),
        inherit_env: true,
    };
    Stdio::start(&spawn, max_line).expect("the fixture server starts")
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("no hang") })
}

fn echo(id: usize, message: &str) -> Vec<u8> {
    call(id, "echo", json!({"message": message}))
}

fn call(id: usize, tool: &str, arguments: Json) -> Vec<u8> {
    let params = json!({"name": tool, "arguments": arguments});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).into_bytes()
}

async fn message(stdio: &mut Stdio) -> Message {
    match stdio.receive().await {
        Incoming::Message(message) => message,
        other => panic!("a message, not {other:?}"),
    }
}

fn text(message: &Message) -> String {
    let result = message.body().expect("the result can be read");
    result["content"][0]["text"].as_str().expect("a text block").to_owned()
}

async fn close(mut stdio: Stdio) -> Closed {
    stdio.close(GRACE).await
}

#[test]
fn calls_are_answered_and_eof_ends_the_server() {
    run(async {
        let mut stdio = fixture(&[]);
        for id in 1..=3 {
            stdio.send(&echo(id, "hello")).await.expect("sent");
            let message = message(&mut stdio).await;
            assert_eq!(message.kind, Kind::Response { id: json!(id), is_error: false });
            assert_eq!(text(&message), "hello");
            assert!(message.notes.is_empty());
        }
        let closed = close(stdio).await;
        assert_eq!((closed.by, closed.exit.and_then(|exit| exit.code)), ("eof", Some(0)));
        assert!(closed.rest.iter().all(|rest| rest.size() == 0), "{:?}", closed.rest);
    });
}

/// What comes up to and including the answer to request `id`.
async fn until_answer(stdio: &mut Stdio, id: usize) -> Vec<Incoming> {
    let mut came = Vec::new();
    loop {
        came.push(stdio.receive().await);
        if let Some(Incoming::Message(message)) = came.last()
            && message.kind == (Kind::Response { id: json!(id), is_error: false })
        {
            return came;
        }
    }
}

async fn echo_through(flags: &[&str]) -> Vec<Incoming> {
    let mut stdio = fixture(flags);
    stdio.send(&echo(1, "hello")).await.expect("sent");
    let came = until_answer(&mut stdio, 1).await;
    close(stdio).await;
    came
}

fn answer(came: &[Incoming]) -> &Message {
    match came.last() {
        Some(Incoming::Message(message)) => message,
        other => panic!("a message, not {other:?}"),
    }
}

#[test]
fn bytes_may_come_one_by_one_with_any_line_end() {
    run(async {
        for flags in [&["--split-writes"][..], &["--crlf"], &["--split-writes", "--crlf", "--garbage"]] {
            assert_eq!(text(answer(&echo_through(flags).await)), "hello", "{flags:?}");
        }
        let came = echo_through(&["--bom"]).await;
        assert_eq!(answer(&came).notes, ["a byte order mark stands before it"]);
    });
}

#[test]
fn lines_that_are_no_messages_are_noise() {
    run(async {
        let mut stdio = fixture(&["--garbage"]);
        let mut noise = Vec::new();
        for id in 1..=5 {
            stdio.send(&echo(id, "hello")).await.expect("sent");
            for incoming in until_answer(&mut stdio, id).await {
                if let Incoming::Noise(text) = incoming {
                    noise.push(text);
                }
            }
        }
        let expected =
            ["%%% not a message %%%", "{\"jsonrpc\": \"2.0\", oops", "\0\u{1}\u{2}\u{FFFD}", "[INFO] starting", "42"];
        assert_eq!(noise, expected);
    });
}

#[test]
fn odd_answers_are_answers() {
    run(async {
        let came = echo_through(&["--invalid-utf8"]).await;
        assert_eq!(text(answer(&came)), "hello\u{FFFD}");
        let came = echo_through(&["--lone-surrogate"]).await;
        assert_eq!(text(answer(&came)), "hello\u{FFFD}");
        let came = echo_through(&["--deep", "100"]).await;
        assert!(answer(&came).body().is_ok());
        let came = echo_through(&["--deep", "100000"]).await;
        assert_eq!(answer(&came).body().expect_err("too deep").why, "nested deeper than 128 levels");
        let came = echo_through(&["--number", "1e400"]).await;
        assert_eq!(answer(&came).body().expect_err("too large").why, "number out of range");
        let came = echo_through(&["--batch"]).await;
        assert_eq!(came.len(), 2);
        assert_eq!(answer(&came).notes, ["sent in a batch"]);
    });
}

#[test]
fn answers_may_come_out_of_order() {
    run(async {
        let mut stdio = fixture(&["--out-of-order"]);
        stdio.send(&[echo(1, "a"), echo(2, "b")].concat()).await.expect("sent");
        assert_eq!(text(&message(&mut stdio).await), "b");
        assert_eq!(text(&message(&mut stdio).await), "a");
    });
}

#[test]
fn a_line_has_no_small_limit_and_a_large_one() {
    run(async {
        let came = echo_through(&["--huge-line", "5000000"]).await;
        assert_eq!(text(answer(&came)).len(), 5_000_000);

        let mut stdio = fixture_with(&[], 10_000);
        stdio.send(&call(1, "big", json!({"bytes": 1_000_000}))).await.expect("sent");
        let Incoming::Oversize { head, bytes } = stdio.receive().await else { panic!("too long a line") };
        assert!(head.starts_with("{\"jsonrpc\":") && head.len() == crate::ndjson::HEAD, "{head}");
        assert!(bytes > 1_000_000);
        stdio.send(&echo(2, "next")).await.expect("sent");
        assert_eq!(text(&message(&mut stdio).await), "next");
    });
}

#[test]
fn large_requests_and_answers_cross_without_a_deadlock() {
    run(async {
        // Both pipes hold 64 KiB: the server blocks on its answers long before it has read the last request.
        let mut stdio = fixture(&["--noisy-stderr"]);
        let long = "m".repeat(100_000);
        let requests: Vec<u8> = (1..=50).flat_map(|id| echo(id, &long)).collect();
        stdio.send(&requests).await.expect("sent");
        let came = until_answer(&mut stdio, 50).await;
        let answers = came.iter().filter(|incoming| matches!(incoming, Incoming::Message(_))).count();
        assert_eq!(answers, 50);
        assert_eq!(close(stdio).await.by, "eof");
    });
}

#[test]
fn a_server_that_only_writes_does_not_fill_the_memory() {
    run(async {
        let spawn = Spawn {
            program: "yes".into(),
            args: vec!["flooding with words".into()],
            cwd: PathBuf::from("."),
            env: Vec::new(),
            inherit_env: true,
        };
        let mut stdio = Stdio::start(&spawn, MAX_LINE).expect("yes starts");
        let error = stdio.send(&vec![b'x'; 1_000_000]).await.expect_err("nobody reads");
        assert_eq!(error.to_string(), "the server reads nothing, and writes without end");
        assert!(stdio.inbox.queued_bytes() < 2 * MAX_QUEUED);
        let before = stdio.inbox.queued_bytes();
        stdio.drain();
        assert!(stdio.inbox.queued_bytes() < before + MAX_QUEUED);
        let closed = stdio.close(Grace::each(Duration::from_millis(50))).await;
        assert_eq!(closed.by, "term");
        assert!(closed.dropped > 0);
    });
}

#[test]
fn floods_are_read_through() {
    run(async {
        let came = echo_through(&["--flood-stderr", "1000000", "--flood-stdout", "20000"]).await;
        let noise = came.iter().filter(|incoming| matches!(incoming, Incoming::Noise(_))).count();
        let stderr: usize = came.iter().filter(|i| matches!(i, Incoming::Stderr(_))).map(Incoming::size).sum();
        assert_eq!((noise, stderr), (20_000, 1_000_000));
    });
}

#[test]
fn draining_takes_what_is_there_and_does_not_wait() {
    run(async {
        let mut stdio = fixture(&[]);
        stdio.drain();
        assert!(stdio.next_queued().is_none());
        stdio.send(&call(1, "stderr", json!({"text": "said"}))).await.expect("sent");
        let mut came = until_answer(&mut stdio, 1).await;
        // The fixture writes to stderr before it answers, so that it is there by now.
        stdio.drain();
        came.extend(std::iter::from_fn(|| stdio.next_queued()));
        let said: String = came
            .iter()
            .filter_map(|incoming| match incoming {
                Incoming::Stderr(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(said, "said\n");
        // What was read past the runtime's back leaves it sound.
        stdio.send(&echo(2, "next")).await.expect("sent");
        assert_eq!(text(&message(&mut stdio).await), "next");
    });
}

#[test]
fn an_exit_is_told_after_the_last_words() {
    run(async {
        let mut stdio = fixture(&[]);
        stdio.send(&[echo(1, "last"), call(2, "crash", json!({"code": 9}))].concat()).await.expect("sent");
        let mut came = Vec::new();
        while !matches!(came.last(), Some(Incoming::Exited(_))) {
            came.push(stdio.receive().await);
        }
        assert!(matches!(came.last(), Some(Incoming::Exited(exit)) if exit.code == Some(9)));
        assert!(came.iter().any(|incoming| matches!(incoming, Incoming::Message(_))));
        assert!(came.iter().any(|incoming| matches!(incoming, Incoming::Stderr(text) if text.contains("crashing"))));
        assert!(came.iter().any(|incoming| matches!(incoming, Incoming::StdoutClosed)));
        assert!(!stdio.is_open());
        let error = stdio.send(&echo(3, "gone")).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(close(stdio).await.by, "itself");
    });
}

#[test]
fn an_exit_is_told_even_if_a_child_holds_the_streams() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let pids = folder.path().join("pids");
        let mut stdio = fixture(&["--fork-child", "--setsid-child", "--pid-file", &pids.display().to_string()]);
        stdio.send(&call(1, "crash", json!({"code": 9}))).await.expect("sent");
        let exit = loop {
            if let Incoming::Exited(exit) = stdio.receive().await {
                break exit;
            }
        };
        assert_eq!(exit.code, Some(9));
        assert!(stdio.is_open());
        close(stdio).await;
        let pids = std::fs::read_to_string(pids).expect("noted");
        assert_eq!(pids.lines().count(), 3);
        for pid in pids.lines() {
            assert!(!std::path::Path::new("/proc").join(pid).exists(), "{pid} is gone");
        }
    });
}

#[test]
fn a_server_that_ignores_everything_is_killed_with_its_children() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let pids = folder.path().join("pids").display().to_string();
        let flags = ["--ignore-eof", "--ignore-term", "--fork-child", "--setsid-child", "--pid-file", &pids];
        let mut stdio = fixture(&flags);
        stdio.send(&echo(1, "up")).await.expect("sent");
        until_answer(&mut stdio, 1).await;
        let closed = stdio.close(Grace::each(Duration::from_millis(50))).await;
        assert_eq!((closed.by, closed.exit.and_then(|exit| exit.signal)), ("kill", Some(9)));
        for pid in std::fs::read_to_string(pids).expect("noted").lines() {
            assert!(!std::path::Path::new("/proc").join(pid).exists(), "{pid} is gone");
        }
    });
}

#[test]
fn stdout_may_close_while_the_server_lives() {
    run(async {
        let mut stdio = fixture(&["--close-stdout"]);
        stdio.send(&echo(1, "hello")).await.expect("sent");
        assert!(matches!(stdio.receive().await, Incoming::StdoutClosed));
        assert!(!stdio.is_open());
        assert_eq!(stdio.child().try_exit(), None);
        assert_eq!(close(stdio).await.by, "eof");
    });
}

#[test]
fn receiving_can_be_given_up_without_a_loss() {
    run(async {
        let mut stdio = fixture(&["--split-writes"]);
        stdio.send(&[echo(1, "a"), echo(2, "b")].concat()).await.expect("sent");
        let mut answers = Vec::new();
        while answers.len() < 2 {
            tokio::select! {
                biased;
                incoming = stdio.receive() => answers.push(incoming),
                () = tokio::task::yield_now() => {}
            }
        }
        let texts: Vec<String> =
            answers.iter().map(|answer| self::answer(std::slice::from_ref(answer))).map(text).collect();
        assert_eq!(texts, ["a", "b"]);
    });
}
