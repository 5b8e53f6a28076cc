//! What the SDK makes of a binary that misbehaves; the table is shared by every SDK.

use mcptest_runner::{Error, Options, Session, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    fake: String,
    when: String,
    error: String,
    contains: Vec<String>,
    seconds: u64,
}

fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

fn open(fake: &str, seconds: u64) -> Result<Session, Error> {
    let options = Options::default().server_command("any").binary(shared("fake-coprocess"));
    options
        .timeout(Duration::from_secs(seconds))
        .env("FAKE", fake)
        .env("FAKE_PID", pid_file(fake).to_string_lossy())
        .open()
}

fn pid_file(fake: &str) -> PathBuf {
    std::env::temp_dir().join(format!("mcptest-fake-{}-{fake}", std::process::id()))
}

fn is_gone(fake: &str) -> bool {
    let pid = std::fs::read_to_string(pid_file(fake)).expect("the fake writes its id");
    let mut look = Command::new("kill");
    !look.args(["-0", pid.trim()]).stderr(Stdio::null()).status().expect("`kill` runs").success()
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::BinaryNotFound(_) => "BinaryNotFound",
        Error::ProtocolMismatch(_) => "ProtocolMismatch",
        Error::ContractDrift { .. } => "ContractDrift",
        Error::Ended { .. } => "Ended",
        Error::Deadline { .. } => "Deadline",
        Error::Closed { .. } => "SessionClosed",
        Error::Unended { .. } => "Unended",
        Error::Rpc { .. } => "RpcError",
        _ => "another",
    }
}

fn check(case: &Case) {
    let Case { fake, when, .. } = case;
    let (error, session) = match open(fake, case.seconds) {
        Err(error) => (error, None),
        Ok(session) => {
            assert_eq!(when, "call", "{fake}");
            // A megabyte that nobody reads fills the pipe.
            let city = "x".repeat(if fake == "deaf" { 1 << 20 } else { 1 });
            (session.call("weather", json!({ "city": city })).expect_err(fake), Some(session))
        }
    };
    assert_eq!(kind(&error), case.error, "{fake}: {error}");
    for part in &case.contains {
        assert!(error.to_string().contains(part), "{fake}: {error}");
    }
    if case.error != "RpcError" {
        assert!(is_gone(fake), "{fake} still runs");
        let again = session.as_ref().map(|session| session.call("weather", json!({})).expect_err(fake));
        assert!(again.is_none_or(|error| kind(&error) == "SessionClosed"), "{fake}");
    }
    drop(session);
    assert!(is_gone(fake), "{fake} still runs");
    let _ = std::fs::remove_file(pid_file(fake));
}

#[test]
fn a_binary_that_misbehaves_is_an_error_and_gone() {
    let table = std::fs::read_to_string(shared("misbehaviour.json")).expect("the table is there");
    let cases: Vec<Case> = serde_json::from_str(&table).expect("the table is one");
    std::thread::scope(|scope| {
        for case in &cases {
            scope.spawn(|| check(case));
        }
    });
}

#[test]
fn good_answers() {
    let call = |fake| open(fake, 30).and_then(|session| session.call("weather", json!({}))).expect("an answer");
    let text = "sunny".to_owned();
    let fine = Verdict { success: true, data: Value::Null, text, error: None, duration_ms: Some(3.0), raw: None };
    assert_eq!(call("fine"), fine);
    assert_eq!(call("null-text").text, "");
    assert_eq!(call("large").text.len(), 17_000_000);
    let verbatim = call("verbatim");
    assert_eq!((verbatim.success, verbatim.text.as_str(), verbatim.data), (false, "a\nb", json!({ "a": 1 })));
    assert_eq!((verbatim.error.as_deref(), verbatim.duration_ms), (Some("a\nb"), None));
    assert_eq!(verbatim.raw.map(|raw| raw["content"].as_array().map(Vec::len)), Some(Some(3)));
}

#[test]
fn an_answer_that_goes_too_deep_is_no_garbage() {
    let error = open("deep", 30).and_then(|session| session.call("weather", json!({}))).expect_err("it is not read");
    assert_eq!(kind(&error), "ContractDrift");
    assert!(error.to_string().contains("JSON that this SDK cannot read: recursion limit exceeded"), "{error}");
}

#[test]
fn what_takes_long_to_take_down_is_waited_for_as_long_as_a_call() -> Result<(), Error> {
    // It takes seven seconds, and would be killed after six.
    open("takes-down", 30)?.close()?;
    let error = open("stays", 1)?.close().expect_err("it stays");
    let said = "did not end within 1 s of the end of its session, and was stopped\nstderr of mcptest:\n  taking down";
    assert!(error.to_string().contains(said), "{error}");
    for fake in ["takes-down", "stays"] {
        assert!(is_gone(fake), "{fake} still runs");
        let _ = std::fs::remove_file(pid_file(fake));
    }
    Ok(())
}

#[test]
fn a_session_that_is_over_can_be_closed() -> Result<(), Error> {
    let session = open("ends", 30)?;
    session.call("weather", json!({})).expect_err("it ends");
    session.close()
}

#[test]
fn a_relative_binary_is_taken_against_our_own_folder() -> Result<(), Error> {
    let fake = Options::default().binary("../../tests/fake-coprocess").env("FAKE", "fine").env("FAKE_PID", "");
    assert_eq!(fake.folder("/").open()?.call("weather", json!({}))?.text, "sunny");
    let error = Options::default().binary("/bin/sh").folder("/nowhere/at/all").open().err().expect("an error");
    assert_eq!(error.to_string(), "cannot start the mcptest binary: there is no folder `/nowhere/at/all`");
    Ok(())
}

#[test]
fn a_binary_that_cannot_be_started_is_named() {
    let error = Options::default().binary("/nowhere/mcptest").open().err().expect("an error");
    assert!(error.to_string().starts_with("cannot start the mcptest binary `/nowhere/mcptest`: "), "{error}");
}
