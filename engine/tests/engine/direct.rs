//! Direct calls of the coprocess: what errors may show, what is told on the side, what is kept, and what is no result.

use crate::coprocess::Peer;
use crate::kit::{Place, fixture_server};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

const CANARY: &str = "canary-env-12345";
const INTRODUCTION: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"script","version":"1"}}"#;
const DISCOVERY: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#;

/// A server of the shell, which answers each method with one result.
fn script(results: &[(&str, &str)]) -> String {
    let cases: String =
        results.iter().map(|(method, result)| format!("*'\"{method}\"'*) result='{result}' ;;\n")).collect();
    let id = r#"id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\).*/\1/p')"#;
    let answer = r#"printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result""#;
    format!(
        "while read -r line; do\n{id}\n[ -n \"$id\" ] || continue\nresult='{{}}'\ncase \"$line\" in\n{cases}esac\n{answer}\ndone\n"
    )
}

/// A coprocess for the config of a place, its stderr in `stderr.txt`.
fn configured(place: &Place) -> Peer {
    let mut command = place.command(&["exec", "--connection-server"]);
    command.env("HELD", CANARY).env("MCPTEST_CACHE_DIR", place.path("cache"));
    let stderr = File::create(place.path("stderr.txt")).expect("a file");
    Peer::spawn_telling(command, stderr.into())
}

fn events(place: &Place, peer: &mut Peer) -> Vec<Value> {
    peer.ask("mcp.reporter.flush", json!({}));
    let events = place.read(".mcptest/events.ndjson");
    events.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

/// Refuses every call with status 500 and the headers that it got; what it is, for as long as the test runs.
fn telltale() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if reader.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let length = |line: &str| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok();
                    let mut body = vec![0; head.lines().find_map(length).unwrap_or(0)];
                    reader.read_exact(&mut body).expect("a body");
                    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
                    let (status, media, text) = match asked["method"].as_str() {
                        Some("initialize") => {
                            let result: Value = serde_json::from_str(INTRODUCTION).expect("JSON");
                            let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
                            ("200 OK", "application/json", answer.to_string())
                        }
                        Some("tools/call") => ("500 Oh No", "text/plain", format!("no such key: {head}")),
                        _ => ("202 Accepted", "text/plain", String::new()),
                    };
                    let head =
                        format!("HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n", text.len());
                    reader.get_mut().write_all((head + &text).as_bytes()).expect("the client reads");
                }
            });
        }
    });
    port
}

#[test]
fn no_error_of_a_coprocess_shows_a_secret() {
    let port = telltale();
    let env = "env: { API_TOKEN: \"${HELD}\" }\nsecrets: [HELD]\n";
    let tells = "echo \"config: token=$API_TOKEN\" >&2";
    let introduces = format!(
        "read -r line; printf '%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":\"mcptest-1\",\"result\":{INTRODUCTION}}}'; read -r line"
    );
    let shell = |script: String| format!("command: sh\nargs: [-c, {}]\n{env}", Value::from(script));
    let inherited =
        format!("command: sh\nargs: [-c, {}]\nsecrets: [HELD]\n", Value::from("echo token=$HELD >&2; exit 1"));
    for (config, code, where_it_stood) in [
        (shell(format!("{tells}; exit 1")), "start_failed", "config: token=[redacted]"),
        (shell(format!("{tells}; {introduces}; read -r line; exit 1")), "connection_lost", "config: token=[redacted]"),
        (inherited, "start_failed", "token=[redacted]"),
        ("url: \"http://127.0.0.1:1/mcp?key=${HELD}\"\nwaitForReady: 10ms\n".to_owned(), "start_failed", ""),
        (
            format!("url: \"http://127.0.0.1:{port}/mcp\"\nheaders: {{ X-Api: \"${{HELD}}\" }}\n"),
            "http_error",
            "[redacted]",
        ),
    ] {
        let place = Place::new();
        place.write("mcptest.yml", &config);
        let mut peer = configured(&place);
        let answer = peer.call("echo", json!({}));
        assert_eq!(answer["error"]["data"]["code"], code, "{answer}");
        let text = answer.to_string();
        assert!(!text.contains("canary") && text.contains(where_it_stood), "{text}");
        peer.end();
        assert!(!place.read("stderr.txt").contains("canary"), "{}", place.read("stderr.txt"));
    }
}

#[test]
fn what_happens_over_http_and_what_is_worth_knowing_is_told() {
    let place = Place::new();
    place.write("mcptest.yml", &format!("url: \"http://127.0.0.1:{}/mcp\"\ntls: {{ verify: false }}\n", telltale()));
    let mut peer = configured(&place);
    for _ in 0..2 {
        assert_eq!(peer.call("echo", json!({}))["error"]["code"], -32000);
    }
    let frames: Vec<String> = events(&place, &mut peer)
        .iter()
        .filter(|event| event["data"]["direction"] == "http")
        .filter_map(|event| Some(event["data"]["text"].as_str()?.to_owned()))
        .collect();
    assert!(frames.iter().any(|line| line.contains("POST") && line.contains("500")), "{frames:#?}");
    peer.end();
    let told = place.read("stderr.txt");
    assert_eq!(told.matches("`verify: false`").count(), 1, "{told}");
}

#[test]
fn a_handshake_is_in_the_events_also_when_it_fails_and_so_is_what_is_odd_about_it() {
    for (flags, fails, expected) in [
        ("[--init-error, --notify-before-init]", true, "before initialize"),
        ("[--bad-version, \"2024-11-05\"]", false, "asked for protocol version"),
    ] {
        let place = Place::new();
        let command = Value::from(fixture_server());
        place.write("mcptest.yml", &format!("command: {command}\nargs: {flags}\nprotocol: \"2025-11-25\"\n"));
        let mut peer = configured(&place);
        let answer = peer.ask("mcp.initialize", json!({}));
        assert_eq!(answer["error"].is_object(), fails, "{answer}");
        let events = Value::from(events(&place, &mut peer)).to_string();
        assert!(events.contains("\\\"initialize\\\"") && events.contains(expected), "{events}");
        peer.end();
        let told = place.read("stderr.txt");
        assert_eq!(told.contains("note: asked for protocol version"), !fails, "{told}");
    }
}

#[test]
fn a_replay_needs_neither_a_server_nor_what_it_is_started_with() {
    let place = Place::new();
    place.write("mcptest.yml", "name: demo\ncommand: mcptest\nargs: [demo-server]\n");
    let mut peer = configured(&place);
    peer.ask("mcp.cassette.set_mode", json!({"mode": "record", "path": "d.json"}));
    peer.call("echo", json!({"message": "hi"}));
    peer.end();
    let suite = "tools: [{ it: echoes, tool: echo, args: { message: hi }, expect: { text: hi } }]\n";
    place.write("a.test.mcp.yml", suite);
    let lacking = "name: demo\ncommand: ./gone\nargs: [\"--key=${NOPE}\"]\nenv: { TOKEN: \"${NOPE}\" }\n";
    for config in [lacking, "url: \"${NOPE}\"\nheaders: { X: \"${NOPE}\" }\nauth: { bearerEnv: NOPE }\n", "gone"] {
        std::fs::remove_file(place.path("mcptest.yml")).expect("a config");
        if config != "gone" {
            place.write("mcptest.yml", config);
        }
        let mut peer = configured(&place);
        let answer = peer.call("echo", json!({"message": "hi"}));
        assert_eq!(answer["error"]["code"], -32001, "{answer}");
        peer.ask("mcp.cassette.set_mode", json!({"mode": "replay", "path": "d.json"}));
        let answer = peer.call("echo", json!({"message": "hi"}));
        assert_eq!(answer["result"]["text"], "hi", "{config}: {answer}");
        let answer = peer.ask("mcp.suite.run", json!({"id": "a.test.mcp.yml#tools/echoes"}));
        assert_eq!(answer["result"]["status"], "passed", "{config}: {answer}");
        peer.end();
    }
    place.write("mcptest.yml", lacking);
    let ran = place.mcptest(&["run", "--replay", "d.json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = place.mcptest(&["run"]);
    assert!(ran.code == 2 && ran.stderr.contains("`NOPE` is not set"), "{}", ran.stderr);
}

#[test]
fn a_result_that_clients_must_refuse_is_none() {
    let form = r#"{"method":"elicitation/create","params":{"message":"?"}}"#;
    let asking = format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{form}}}}}"#);
    let dreaming = r#"{"resultType":"dreaming","content":[{"type":"text","text":"zzz"}]}"#;
    for (result, why) in [
        (
            dreaming,
            "the result of `tools/call` is of the type `dreaming`, and clients must refuse what they do not know",
        ),
        (&asking, "`tools/call` asks for input that nobody gives: `elicitation/create`"),
    ] {
        let place = Place::new();
        let list = r#"{"resultType":"complete","tools":[{"name":"echo","inputSchema":{},"annotations":{"readOnlyHint":true}}]}"#;
        let results = [("server/discover", DISCOVERY), ("tools/list", list), ("tools/call", result)];
        place.write("server.sh", &script(&results));
        place.write("mcptest.yml", "command: sh\nargs: [server.sh]\nprotocol: modern\n");
        let mut peer = configured(&place);
        for mode in ["off", "readwrite"] {
            peer.ask("mcp.cache.set_mode", json!({ "mode": mode }));
            let answer = peer.call("echo", json!({}));
            assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(-32000), &json!(why)));
        }
        peer.end();
        let called = place.mcptest(&["call", "echo"]);
        assert_eq!((called.code, called.stderr), (1, format!("error: {why}\n")));
    }
    // In the legacy era the word means nothing.
    let place = Place::new();
    place.write("server.sh", &script(&[("initialize", INTRODUCTION), ("tools/call", dreaming)]));
    place.write("mcptest.yml", "command: sh\nargs: [server.sh]\n");
    assert_eq!(configured(&place).call("echo", json!({}))["result"]["text"], "zzz");
    assert_eq!(place.mcptest(&["call", "echo"]).code, 0);
}

#[test]
fn a_kept_result_belongs_to_one_server_in_one_folder_and_is_left_alone_while_a_cassette_is_in_use() {
    let place = Place::new();
    let list = r#"{"tools":[{"name":"where","annotations":{"readOnlyHint":true}}]}"#;
    let start = |folder: &str, env: &str| {
        let result = format!(r#"{{"content":[{{"type":"text","text":"{folder}{env}"}}]}}"#);
        let results = [("initialize", INTRODUCTION), ("tools/list", list), ("tools/call", result.as_str())];
        place.write(&format!("{folder}/server.sh"), &script(&results));
        place.write(
            &format!("{folder}/mcptest.yml"),
            &format!("command: sh\nargs: [server.sh]\nenv: {{ A: \"{env}\" }}\n"),
        );
        let mut command = place.command(&["exec", "--connection-server"]);
        command.current_dir(place.path(folder)).env("MCPTEST_CACHE_DIR", place.path("cache"));
        let mut peer = Peer::spawn(command);
        peer.ask("mcp.cache.set_mode", json!({"mode": "readwrite"}));
        peer
    };
    for (folder, env) in [("one", ""), ("two", ""), ("two", "!"), ("one", "")] {
        let mut peer = start(folder, env);
        assert_eq!(peer.call("where", json!({}))["result"]["text"], format!("{folder}{env}"));
        peer.end();
    }
    let kept = || std::fs::read_dir(place.path("cache/calls")).expect("a folder").count();
    assert_eq!(kept(), 3);
    let mut peer = start("one", "");
    peer.ask("mcp.cassette.set_mode", json!({"mode": "record", "path": "tape.json"}));
    peer.call("where", json!({}));
    peer.call("where", json!({"new": 1}));
    peer.end();
    assert_eq!((place.read("one/tape.json").matches("tools/call").count(), kept()), (2, 3));
}

#[test]
fn a_listing_that_goes_round_is_noticed_at_once() {
    let place = Place::new();
    let page = r#"{"tools":[],"nextCursor":"again"}"#;
    place.write("server.sh", &script(&[("initialize", INTRODUCTION), ("tools/list", page)]));
    place.write("mcptest.yml", "command: sh\nargs: [server.sh]\n");
    let mut peer = configured(&place);
    let answer = peer.ask("mcp.listTools", json!({}));
    let expected = "the pages of `tools/list` never end: the cursor `again` came twice";
    assert_eq!(answer["error"]["message"], expected, "{answer}");
    assert_eq!(events(&place, &mut peer).iter().filter(|event| event["data"]["direction"] == "sent").count(), 4);
    peer.end();
}

#[test]
fn a_number_that_would_change_on_its_way_is_refused() {
    let place = Place::new();
    let mut peer = Peer::with_fixture(&place, "");
    let call = |id: u64, value: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"mcp.call","params":{{"tool":"echo_json","arguments":{{"value":{{"n":{value}}}}}}}}}"#
        )
    };
    peer.send(call(1, "123456789012345678901234567890").as_bytes());
    let answer = peer.receive();
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(
        answer["error"]["code"] == -32602 && message.contains("the number 123456789012345678901234567890"),
        "{answer}"
    );
    peer.send(call(2, "18446744073709551615").as_bytes());
    assert_eq!(peer.receive()["result"]["data"]["n"], json!(u64::MAX));
    peer.end();
}

#[test]
fn one_socket_can_be_both_ends() {
    let place = Place::new();
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let mut command = place.command(&["exec", "--connection-server", "--server-command", &fixture_server()]);
    let (stdin, stdout) = (theirs.try_clone().expect("a handle"), theirs);
    command.stdin(Stdio::from(OwnedFd::from(stdin))).stdout(Stdio::from(OwnedFd::from(stdout)));
    let mut child = command.stderr(Stdio::null()).spawn().expect("the binary runs");
    drop(command);
    let mut lines = BufReader::new(ours.try_clone().expect("a handle")).lines();
    for id in 1..=3 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "mcp.call", "params": {"tool": "echo", "arguments": {"message": "hi"}}});
        (&ours).write_all(format!("{call}\n").as_bytes()).expect("the binary reads");
        let answer: Value = serde_json::from_str(&lines.next().expect("an answer").expect("text")).expect("JSON");
        assert_eq!(answer["result"]["text"], "hi", "{answer}");
    }
    // What was asked before the end of stdin is answered, though it is the end of half of stdout too.
    let slow =
        json!({"jsonrpc": "2.0", "id": 4, "method": "mcp.call", "params": {"tool": "sleep", "arguments": {"ms": 300}}});
    (&ours).write_all(format!("{slow}\n").as_bytes()).expect("the binary reads");
    ours.shutdown(Shutdown::Write).expect("a half that is open");
    assert!(lines.next().expect("an answer").expect("text").contains("slept"));
    drop((ours, lines));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_signal_spares_what_suites_still_have_to_take_down_and_says_so() {
    let suite = "
tools:
  - { it: echoes, tool: echo, args: { message: hi } }
after:
  - { it: hangs, restart: true, tool: sleep, args: { ms: 60000 }, timeout: 60s }
  - { it: hangs too, tool: sleep, args: { ms: 60000 }, timeout: 60s }
";
    let place = Place::with_fixture(&[], suite);
    let mut peer = configured(&place);
    let id = "suite.test.mcp.yml#tools/echoes";
    assert_eq!(peer.ask("mcp.suite.run", json!({ "id": id }))["result"]["status"], "passed");
    peer.hang_up();
    // The first step that hangs has a process of its own.
    place.await_lines("pids", 2);
    peer.signal(rustix::process::Signal::TERM);
    let (code, _) = peer.end();
    assert_eq!(code, Some(0));
    let told = place.read("stderr.txt");
    for skipped in ["/hangs` was skipped: interrupted", "/hangs too` was skipped: interrupted"] {
        assert!(told.contains(skipped), "{told}");
    }
    place.assert_nothing_left();
}
