//! The golden transcripts, played by this SDK against the binary.

use mcptest_runner::{Error, Options, Session};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transcript {
    about: String,
    binary: Option<u64>,
    server: Option<String>,
    exchanges: Vec<Exchange>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    send: Value,
    receive: Value,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../transcripts")
}

/// Whether an answer is the expected one, with its placeholders.
fn fits(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::String(text), _) if text == "<any>" => true,
        (Value::String(text), _) if text == "<number>" => actual.is_number(),
        (Value::String(text), _) if text == "<text>" => actual.is_string(),
        (Value::String(text), Value::String(actual)) => match text.strip_suffix('…') {
            Some(start) => actual.starts_with(start),
            None => text == actual,
        },
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(expected, actual)| fits(expected, actual))
        }
        (Value::Object(expected), Value::Object(actual)) => {
            let found = |(key, value): (&String, &Value)| actual.get(key).is_some_and(|actual| fits(value, actual));
            expected.len() == actual.len() && expected.iter().all(found)
        }
        _ => expected == actual,
    }
}

/// An SDK only writes requests: the lines that are none are for the engine's own tests.
fn can_send(send: &Value) -> bool {
    let Value::Object(fields) = send else { return false };
    let known = fields.keys().all(|key| ["jsonrpc", "id", "method", "params"].contains(&key.as_str()));
    known
        && send["jsonrpc"] == "2.0"
        && send["method"].is_string()
        && (send["id"].is_number() || send["id"].is_string())
}

fn ask(session: &Session, send: &Value) -> Value {
    let answer = session.request(send["method"].as_str().unwrap_or_default(), send.get("params").cloned());
    match answer {
        Ok(result) => json!({ "result": result }),
        Err(Error::Rpc { code, message, data, .. }) if data.is_null() => {
            json!({ "error": { "code": code, "message": message } })
        }
        Err(Error::Rpc { code, message, data, .. }) => {
            json!({ "error": { "code": code, "message": message, "data": data } })
        }
        Err(error) => panic!("no answer to {send}: {error}"),
    }
}

fn play(path: &Path, transcript: Transcript) {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let work = std::env::temp_dir().join(format!("mcptest-transcript-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&work).expect("a folder to work in");
    for file in std::fs::read_dir(folder().join("files")).expect("the files are there").flatten() {
        std::fs::copy(file.path(), work.join(file.file_name())).expect("a file is copied");
    }
    let mut options = Options::default().folder(&work);
    if let Some(server) = transcript.server {
        options = options.server_command(server);
    }
    let session = options.open().unwrap_or_else(|error| panic!("{name}: {error}"));
    for Exchange { send, mut receive } in transcript.exchanges {
        if can_send(&send) {
            let answer = ask(&session, &send);
            let fields = receive.as_object_mut().expect("an answer is an object");
            fields.retain(|key, _| key == "result" || key == "error");
            assert!(fits(&receive, &answer), "{name}: {send}\nexpected {receive}\nactual   {answer}");
        }
    }
    drop(session);
    let _ = std::fs::remove_dir_all(work);
}

#[test]
fn every_transcript_is_played() {
    let mut played = 0;
    for entry in std::fs::read_dir(folder()).expect("the transcripts are there").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a transcript is text");
        let transcript: Transcript = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(!transcript.about.is_empty(), "{path:?}");
        // A recording of an old binary is what `misbehaviour` is about.
        if transcript.binary.is_none() {
            play(&path, transcript);
            played += 1;
        }
    }
    assert!(played >= 10, "only {played} transcripts");
}
