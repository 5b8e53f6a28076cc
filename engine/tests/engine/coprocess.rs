//! The coprocess as an SDK sees it: golden transcripts, and an end that leaves nothing behind, however it comes.

use crate::kit::{Place, fixture_server, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long an answer may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A binary that serves us.
pub(crate) struct Peer {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: u64,
}

impl Peer {
    pub(crate) fn start(place: &Place, args: &[&str]) -> Peer {
        Peer::spawn(place.command(&[&["exec", "--connection-server"], args].concat()))
    }

    /// Against the scripted server, which writes down its processes.
    pub(crate) fn with_fixture(place: &Place, flags: &str) -> Peer {
        let pids = place.path("pids");
        let server = format!("{} {flags} --pid-file {}", fixture_server(), pids.display());
        Peer::start(place, &["--server-command", &server])
    }

    pub(crate) fn spawn(command: Command) -> Peer {
        Peer::spawn_telling(command, Stdio::null())
    }

    /// The same with a place for its stderr.
    pub(crate) fn spawn_telling(mut command: Command, stderr: Stdio) -> Peer {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().expect("the binary runs");
        let stdout = child.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Peer { stdin: child.stdin.take(), child, lines, last_id: 0 }
    }

    pub(crate) fn send(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).expect("the binary reads");
    }

    pub(crate) fn receive(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer comes");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.send(request.to_string().as_bytes());
        let answer = self.receive();
        assert_eq!(answer["id"], self.last_id, "{answer}");
        answer
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("mcp.call", json!({"tool": tool, "arguments": arguments}))
    }

    /// Closes stdin.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a signal can be sent");
    }

    /// Closes stdin; the exit code, and what still came.
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<String>) {
        self.stdin = None;
        let code = self.child.wait().expect("it ends").code();
        (code, self.lines.iter().collect())
    }
}

#[test]
fn the_transcripts_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdks/transcripts");
    let mut played = 0;
    for entry in std::fs::read_dir(&folder).expect("the transcripts").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path).expect("a transcript");
            let transcript: Value = serde_json::from_str(&text).expect("JSON");
            if transcript["binary"] != 1 {
                play(&path, &transcript, &folder.join("files"));
                played += 1;
            }
        }
    }
    assert!(played >= 10, "{played}");
}

fn play(path: &Path, transcript: &Value, files: &Path) {
    let place = Place::new();
    for file in std::fs::read_dir(files).expect("files").flatten() {
        let text = std::fs::read_to_string(file.path()).expect("text");
        place.write(file.file_name().to_str().expect("text"), &text);
    }
    let mut args = vec!["exec", "--connection-server"];
    args.extend(transcript["server"].as_str().into_iter().flat_map(|server| ["--server-command", server]));
    let mut command = place.command(&args);
    command.env("MCPTEST_CACHE_DIR", place.path("cache"));
    let mut peer = Peer::spawn(command);
    for (number, exchange) in transcript["exchanges"].as_array().expect("a list").iter().enumerate() {
        let line = match &exchange["send"] {
            Value::String(text) => text.clone(),
            Value::Object(map) if map.contains_key("repeat") => {
                let times = map["times"].as_u64().expect("a number") as usize;
                map["repeat"].as_str().expect("a text").repeat(times)
            }
            request => request.to_string(),
        };
        peer.send(line.as_bytes());
        let answer = peer.receive();
        assert_valid(&answer, &exchange["send"]);
        let name = format!("{} [{}]", path.display(), number + 1);
        assert!(fits(&answer, &exchange["receive"]), "{name}\nexpected {}\nactual   {answer}", exchange["receive"]);
    }
    let (code, rest) = peer.end();
    assert_eq!((code, rest.len()), (Some(0), 0), "{}: {rest:?}", path.display());
}

/// Holds an answer to the schema of frames, and its result to that of its method.
fn assert_valid(answer: &Value, sent: &Value) {
    static SCHEMA: std::sync::OnceLock<Value> = std::sync::OnceLock::new();
    let schema = SCHEMA.get_or_init(mcptest_engine::schema::ipc);
    let problem = |part: Value, value: &Value| {
        let mut schema = schema.clone();
        schema["oneOf"] = Value::Array(vec![part]);
        jsonschema::validator_for(&schema).expect("a schema").validate(value).err().map(|error| error.to_string())
    };
    assert_eq!(problem(json!({"$ref": "#/$defs/response"}), answer), None, "{answer}");
    if let (Some(result), Some(method)) = (answer.get("result"), sent["method"].as_str()) {
        let part = format!("#/$defs/{}%20result", method.replace('/', "~1"));
        assert_eq!(problem(json!({ "$ref": part }), result), None, "{answer}");
        assert_eq!(problem(json!({"$ref": "#/$defs/request"}), sent), None, "{sent}");
    }
}

fn fits(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (_, Value::String(text)) if text == "<any>" => true,
        (Value::Number(_), Value::String(text)) if text == "<number>" => true,
        (Value::String(_), Value::String(text)) if text == "<text>" => true,
        (Value::String(actual), Value::String(text)) if text.ends_with('…') => {
            actual.starts_with(text.trim_end_matches('…'))
        }
        (Value::Object(actual), Value::Object(expected)) => {
            actual.len() == expected.len()
                && expected.iter().all(|(key, value)| actual.get(key).is_some_and(|actual| fits(actual, value)))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len() && actual.iter().zip(expected).all(|(actual, value)| fits(actual, value))
        }
        _ => actual == expected,
    }
}

#[test]
fn every_method_and_every_code_is_in_a_transcript() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdks/transcripts");
    let texts: Vec<String> = std::fs::read_dir(folder)
        .expect("the transcripts")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| std::fs::read_to_string(path).expect("a transcript"))
        .collect();
    for method in mcptest_engine::coprocess::METHODS {
        let sent = format!("\"method\": \"{method}\"");
        assert!(texts.iter().any(|text| text.contains(&sent)), "{method} is in no transcript");
    }
    for code in [-32700, -32600, -32601, -32602, -32603, -32000, -32001] {
        let received = format!("\"error\": {{\"code\": {code},");
        assert!(texts.iter().any(|text| text.contains(&received)), "{code} is in no transcript");
    }
}

#[test]
fn the_end_of_stdin_and_a_signal_leave_nothing_behind() {
    for flags in ["--fork-child", "--ignore-eof --ignore-term --setsid-child"] {
        let place = Place::new();
        let mut peer = Peer::with_fixture(&place, flags);
        assert!(peer.call("echo", json!({"text": "hi"}))["result"]["success"].as_bool().is_some());
        assert_eq!(peer.end().0, Some(0));
        place.assert_nothing_left();

        let place = Place::new();
        let mut peer = Peer::with_fixture(&place, flags);
        peer.call("echo", json!({"text": "hi"}));
        kill_process(Pid::from_child(&peer.child), Signal::TERM).expect("a signal can be sent");
        assert_eq!(peer.child.wait().expect("it ends").code(), Some(0));
        place.assert_nothing_left();
    }
}

#[test]
fn an_sdk_that_is_killed_in_the_middle_of_a_call_leaves_nothing_behind() {
    // A dead SDK is a pair of closed pipes; the call would take a minute.
    let script = r#"printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"mcp.call","params":{"tool":"echo"}}' '{"jsonrpc":"2.0","id":2,"method":"mcp.call","params":{"tool":"sleep","arguments":{"ms":60000}}}'; read line; kill -9 $$"#;
    let place = Place::new();
    let server = format!("{} --ignore-eof --fork-child --pid-file {}", fixture_server(), place.path("pids").display());
    let mut command = place.command(&["exec", "--connection-server", "--timeout", "60s", "--server-command", &server]);
    let (to_sdk, from_binary) = (std::io::pipe().expect("a pipe"), std::io::pipe().expect("a pipe"));
    let mut binary = command.stdin(to_sdk.0).stdout(from_binary.1).stderr(Stdio::null()).spawn().expect("it runs");
    drop(command);
    let mut sdk =
        Command::new("sh").args(["-c", script]).stdin(from_binary.0).stdout(to_sdk.1).spawn().expect("a shell runs");
    assert_eq!(sdk.wait().expect("it is killed").code(), None);
    binary.wait().expect("it ends");
    place.assert_nothing_left();
}

#[test]
fn a_server_that_is_killed_costs_the_calls_after_it_until_it_is_asked_for_again() {
    let place = Place::new();
    let mut peer = Peer::with_fixture(&place, "");
    peer.call("echo", json!({"text": "hi"}));
    kill_recorded(&place);
    for _ in 0..2 {
        let answer = peer.call("echo", json!({"text": "hi"}));
        assert_eq!(answer["error"]["code"], -32001, "{answer}");
        assert_eq!(answer["error"]["data"]["code"], "connection_lost", "{answer}");
    }
    let answer = peer.ask("mcp.initialize", json!({}));
    assert_eq!(answer["result"]["ready"], true, "{answer}");
    assert!(peer.call("echo", json!({"text": "hi"}))["result"]["success"].is_boolean());
    peer.end();
    place.assert_nothing_left();
}

fn kill_recorded(place: &Place) {
    let pids: Vec<i32> = place.read("pids").lines().filter_map(|line| line.trim().parse().ok()).collect();
    assert!(!pids.is_empty());
    for pid in pids {
        kill_process(Pid::from_raw(pid).expect("a pid"), Signal::KILL).expect("it is killed");
    }
}

#[test]
fn what_a_server_says_on_the_side_never_reaches_the_sdk() {
    let place = Place::new();
    let mut peer = Peer::with_fixture(&place, "--noisy-stdout --noisy-stderr");
    for _ in 0..20 {
        peer.call("echo", json!({"text": "hi"}));
    }
    let (code, rest) = peer.end();
    assert_eq!((code, rest.len()), (Some(0), 0), "{rest:?}");
}

/// No test at all would look like every test passed.
#[test]
fn a_folder_without_suites_is_no_suite() {
    let place = Place::new();
    place.write("below/notes.md", "");
    let mut peer = Peer::start(&place, &[]);
    let answer = peer.ask("mcp.suite.plan", json!({"path": "below"}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().expect("text").starts_with("`below` holds no suite"), "{answer}");
    assert_eq!(peer.end().0, Some(0));
}

#[test]
fn a_test_is_run_with_what_it_needs_and_the_server_stays_up() {
    let suite = "
before:
  - { it: prepares, tool: echo, args: { message: b }, capture: { b: $.text } }
tools:
  - { it: first, tool: echo, args: { message: one }, capture: { one: $.text } }
  - { it: second, tool: echo, args: { message: \"${one} ${b}\" }, expect: { text: one b }, capture: { two: $.text } }
  - { it: third, tool: echo, args: { message: \"${two}\" }, expect: { text: one b } }
";
    let place = Place::new();
    place.write("below/mcptest.yml", "name: demo\ncommand: mcptest\nargs: [demo-server]\n");
    place.write("below/a.test.mcp.yml", suite);
    let mut peer = Peer::start(&place, &[]);
    // Never planned here: the file stands in the id.
    let answer = peer.ask("mcp.suite.run", json!({"id": "below/a.test.mcp.yml#tools/third"}));
    assert_eq!(answer["result"]["status"], "passed", "{answer}");
    let answer = peer.ask("mcp.suite.run", json!({"id": "below/a.test.mcp.yml#tools/second"}));
    assert_eq!(answer["result"]["status"], "passed", "{answer}");
    assert_eq!(peer.end().0, Some(0));
}

#[test]
fn a_binary_that_is_killed_leaves_nothing_behind() {
    for flags in ["--ignore-eof --ignore-term --fork-child", "--ignore-eof --ignore-term --setsid-child"] {
        let place = Place::new();
        let mut peer = Peer::with_fixture(&place, flags);
        peer.call("echo", json!({"text": "hi"}));
        assert!(place.read("pids").lines().count() >= 2);
        peer.child.kill().expect("it is killed");
        peer.child.wait().expect("it ends");
        place.assert_nothing_left();
    }
}

#[test]
fn a_kept_result_needs_no_server_and_a_tool_that_changes_things_is_never_kept() {
    let place = Place::new();
    let peer = || {
        let mut command = place.command(&["exec", "--connection-server", "--server-command", "mcptest demo-server"]);
        command.env("MCPTEST_CACHE_DIR", place.path("cache"));
        let mut peer = Peer::spawn(command);
        assert_eq!(peer.ask("mcp.cache.set_mode", json!({"mode": "readwrite"}))["result"]["mode"], "readwrite");
        peer
    };
    let mut first = peer();
    assert_eq!(first.call("echo", json!({"message": "hi"}))["result"]["text"], "hi");
    first.call("set_motd", json!({"text": "changed"}));
    first.end();
    let kept: Vec<_> = std::fs::read_dir(place.path("cache/calls")).expect("a folder").flatten().collect();
    let [kept] = &kept[..] else { panic!("{kept:?}") };
    let text = std::fs::read_to_string(kept.path()).expect("an entry").replace("\"text\":\"hi\"", "\"text\":\"kept\"");
    std::fs::write(kept.path(), text).expect("it can be changed");
    let mut second = peer();
    assert_eq!(second.call("echo", json!({"message": "hi"}))["result"]["text"], "kept");
    assert_eq!(second.call("echo", json!({"message": "ho"}))["result"]["text"], "ho");
    second.end();
    place.write("cache/calls/notes.txt", "not ours");
    let clean = || {
        let mut command = place.command(&["cache", "clean"]);
        said(command.env("MCPTEST_CACHE_DIR", place.path("cache")).output().expect("the binary runs"))
    };
    let cleaned = clean();
    let folder = place.path("cache/calls").display().to_string();
    let removed = |line: &str| line.starts_with("results of calls: removed 2 files (") && line.ends_with(&folder);
    assert!(cleaned.code == 0 && cleaned.stdout.lines().any(removed), "{}", cleaned.stdout);
    let left: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().map(|file| file.file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    assert!(clean().stdout.contains("results of calls: removed 0 files (0 bytes)"));
}

#[test]
fn what_a_config_passes_on_as_a_secret_stands_in_no_event() {
    let place = Place::with_fixture(&[], "");
    let config = std::fs::read_to_string(place.path("mcptest.yml")).expect("a config");
    place.write("mcptest.yml", &format!("{config}env: {{ API_TOKEN: \"${{HELD}}\" }}\n"));
    let mut command = place.command(&["exec", "--connection-server", "--config", "mcptest.yml"]);
    command.env("HELD", "h3ld-by-the-config");
    let mut peer = Peer::spawn(command);
    peer.call("echo", json!({"message": "h3ld-by-the-config"}));
    let flushed = peer.ask("mcp.reporter.flush", json!({}));
    let events = std::fs::read_to_string(place.path(".mcptest/events.ndjson")).expect("events");
    assert!(events.contains("tools/call") && !events.contains("h3ld-by"), "{flushed}: {events}");
    peer.end();
}
