//! What a replay has to see through: another version of the engine, ids that belong to a session, HTTP.

use crate::http::place;
use crate::kit::{Place, messages, verdicts};
use serde_json::Value;

const STDIO: &str = "name: demo\ncommand: mcptest\nargs: [demo-server]\n";
const HTTP: &str =
    "name: demo\ncommand: mcptest\nargs: [demo-server, --http, \"${port}\"]\nurl: \"http://127.0.0.1:${port}/mcp\"\n";
/// The same server, gone.
const GONE: &str = "name: demo\ncommand: ./no-such-server\n";

/// A place in which a suite was recorded as `c.json`, and where there is no server any more.
fn recorded(config: &str, protocol: &str, suite: &str) -> Place {
    let place = Place::new();
    place.write("mcptest.yml", &format!("{config}protocol: {protocol}\n"));
    place.write("suite.test.mcp.yml", suite);
    let (code, report) = place.report(&["--record", "c.json"]);
    assert_eq!(code, 0, "{protocol}: {:#?} {:#?}", verdicts(&report), messages(&report));
    place.write("mcptest.yml", &format!("{GONE}protocol: {protocol}\n"));
    place
}

/// Plays `c.json` with these arguments more: everything passes.
fn plays(place: &Place, args: &[&str]) -> Vec<String> {
    let (code, report) = place.report(&[&["--replay", "c.json"], args].concat());
    assert_eq!(code, 0, "{args:?}: {:#?} {report:#}", verdicts(&report));
    verdicts(&report)
}

const ECHO: &str = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, expect: { text: hi } }\n";

#[test]
fn the_version_of_the_engine_is_not_compared() {
    for (config, protocol) in [(STDIO, "legacy"), (STDIO, "modern"), (HTTP, "modern"), (HTTP, "auto")] {
        let place = recorded(config, protocol, ECHO);
        let cassette = place.read("c.json");
        let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
        assert!(cassette.contains(version), "{cassette}");
        place.write("c.json", &cassette.replace(version, "\"version\": \"0.0.9\""));
        assert_eq!(plays(&place, &[]), ["echoes: passed"], "{protocol}");
    }
}

/// Tokens and subscriptions are counted, so that every test gets other ones when the tests before it do not run.
#[test]
fn progress_and_subscriptions_are_played_whichever_tests_run() {
    let suite = format!(
        r#"{ECHO}
  - {{ it: tells its progress, tool: slow, args: {{ steps: 2, ms: 1 }}, expect: {{ progress: 2 }} }}
  - it: keeps calls apart
    parallel:
      - {{ tool: slow, args: {{ steps: 2, ms: 20 }}, expect: {{ progress: {{ $length: 2 }} }} }}
      - {{ tool: slow, args: {{ steps: 4, ms: 10 }}, expect: {{ progress: {{ $length: 4 }} }} }}
resources:
  - it: hears of changes
    steps:
      - {{ subscribe: "demo://motd" }}
      - {{ tool: set_motd, args: {{ text: new }}, expect: {{ notifications: {{ notifications/resources/updated: {{ $length: 1 }} }} }} }}
      - {{ unsubscribe: "demo://motd" }}
"#
    );
    for (config, protocol) in [(STDIO, "legacy"), (STDIO, "modern"), (HTTP, "legacy"), (HTTP, "modern")] {
        let place = recorded(config, protocol, &suite);
        assert_eq!(plays(&place, &[]).len(), 4);
        for it in ["tells its progress", "keeps calls apart", "hears of changes"] {
            assert_eq!(plays(&place, &["--filter", it]), [format!("{it}: passed")], "{protocol}");
        }
    }
}

#[test]
fn what_the_cassette_ignores_may_differ() {
    let place = recorded(STDIO, "legacy", ECHO);
    place.write("suite.test.mcp.yml", &ECHO.replace("message: hi", "message: other"));
    let (code, report) = place.report(&["--replay", "c.json"]);
    assert_eq!((code, verdicts(&report)), (1, vec!["echoes: faulted (cassette_miss)".to_owned()]), "{report:#}");
    let ignoring = "\"ignore\": [\"$.params.arguments.message\"], \"exchanges\"";
    place.write("c.json", &place.read("c.json").replace("\"exchanges\"", ignoring));
    assert_eq!(plays(&place, &[]), ["echoes: passed"]);
}

/// Every failure of a report, whole.
fn failures(report: &Value) -> Vec<Value> {
    let tests = report["suites"].as_array().into_iter().flatten().filter_map(|suite| suite["tests"].as_array());
    tests.flatten().map(|test| test["failures"].clone()).collect()
}

/// Records against the scripted server over HTTP, passed or not, and plays it: the verdicts and failures are the same. The
/// cassette.
fn says_the_same(mode: &str, lines: &str, suite: &str, expected: &[&str]) -> String {
    let place = place(mode, lines, suite);
    let (code, live) = place.report(&["--record", "c.json"]);
    assert_eq!(verdicts(&live), expected, "{mode}: {live:#}");
    let config = place.read("mcptest.yml");
    let command = config.lines().find(|line| line.starts_with("command: ")).expect("a command");
    place.write("mcptest.yml", &config.replace(command, "command: ./no-such-server"));
    let (replayed, report) = place.report(&["--replay", "c.json"]);
    assert_eq!(verdicts(&report), expected, "{mode}: {report:#}");
    assert_eq!(failures(&report), failures(&live), "{mode}");
    assert_eq!(replayed, code, "{mode}");
    place.read("c.json")
}

const CALL: &str = "tool: echo, args: { message: hi }, timeout: 5s";

#[test]
fn what_came_over_http_in_the_place_of_an_answer_is_played() {
    for (mode, code, expect) in [
        ("plain-error", "http_error", "{ status: 500, body: the database is down }"),
        ("gateway", "http_error", "{ status: 401, headers: { www-authenticate: { $startsWith: Bearer } } }"),
        ("busy", "http_error", "{ status: 429, headers: { retry-after: \"30\" } }"),
        ("wrong-type", "http_error", "{ status: 200, headers: { content-type: text/html } }"),
        ("session-lost", "http_error", "{ status: 404 }"),
        ("redirect-loop", "http_error", "{ status: 307 }"),
        ("packed", "http_error", "{ status: 200, headers: { content-encoding: gzip } }"),
        ("cut-event", "http_error", "{ status: 200, events: [{ $partial: { truncated: true } }] }"),
        ("resume-refused", "http_error", "{ status: 200 }"),
        (
            "truncated-sse",
            "connection_lost",
            "{ error: truncated, events: [{ comment: hello }, { $partial: { truncated: true } }] }",
        ),
        ("half-closed", "connection_lost", "{ error: closed }"),
        ("no-http", "connection_lost", "{ error: malformed }"),
    ] {
        let suite = format!(
            "tools:\n  - {{ it: faults, {CALL} }}\n  - {{ it: expects it, {CALL}, expect: {{ http: {expect} }} }}\n"
        );
        says_the_same(mode, "", &suite, &[&format!("faults: faulted ({code})"), "expects it: passed"]);
    }
}

#[test]
fn how_an_answer_came_over_http_is_played_with_it() {
    let suite = format!(
        r#"
tools:
  - {{ it: is json, {CALL}, expect: {{ text: hi, http: {{ status: 200, headers: {{ content-type: application/json }}, body: {{ $contains: hi }} }} }} }}
tests:
  - {{ it: is accepted, notify: {{ method: notifications/x }}, expect: {{ http: {{ status: 202, body: "" }} }} }}
  - {{ it: is garbage, raw: "{{no", expect: {{ http: {{ status: 400, body: {{ $startsWith: Parse }} }} }} }}
  - {{ it: begins, handshake: false, request: {{ method: initialize, params: {{}} }}, expect: {{ http: {{ headers: {{ mcp-session-id: {{ $type: string }} }} }} }} }}
"#
    );
    let passed = ["is json: passed", "is accepted: passed", "is garbage: passed", "begins: passed"];
    let cassette = says_the_same("echo", "", &suite, &passed);
    assert!(cassette.contains("\"mcp-session-id\": \"[redacted]\""), "{cassette}");
    assert!(!cassette.contains("session-1") && !cassette.contains("\"date\""), "{cassette}");
    let streams = format!(
        "tools:\n  - {{ it: streams, {CALL}, expect: {{ text: hi, http: {{ status: 200, events: {{ $length: {{ $gte: 2 }} }} }} }} }}\n"
    );
    says_the_same("events", "", &streams, &["streams: passed"]);
    let old = format!(
        "tools:\n  - {{ it: is told elsewhere, {CALL}, expect: {{ text: hi, http: {{ status: 202, body: \"\" }} }} }}\n"
    );
    says_the_same("sse", "transport: sse\n", &old, &["is told elsewhere: passed"]);
}

#[test]
fn a_session_that_was_lost_and_opened_anew_is_in_the_replay_too() {
    let suite = format!("tools:\n  - {{ it: goes on, {CALL}, expect: {{ text: hi }} }}\n");
    for mode in ["session-lost", "session-lost-rpc"] {
        says_the_same(mode, "reinitialize: true\n", &suite, &["goes on: passed"]);
    }
}

#[test]
fn a_body_that_never_ended_is_a_timeout_again() {
    let suite = "tools:\n  - { it: waits, tool: echo, args: { message: hi }, timeout: 500ms, expect: { http: { status: 200 } } }\n";
    says_the_same("slow-body", "", suite, &["waits: faulted (timeout)"]);
}

#[test]
fn a_handshake_that_was_refused_is_refused_again() {
    let place = Place::new();
    let config = HTTP.replace("/mcp\"", "/elsewhere\"");
    place.write("mcptest.yml", &config);
    place.write("suite.test.mcp.yml", ECHO);
    let (code, live) = place.report(&["--record", "c.json"]);
    assert_eq!((code, verdicts(&live)), (3, vec!["echoes: faulted (handshake_failed)".to_owned()]), "{live:#}");
    place.write("mcptest.yml", &config.replace("command: mcptest", "command: ./no-such-server"));
    let (code, report) = place.report(&["--replay", "c.json"]);
    assert_eq!((code, messages(&report)), (3, messages(&live)), "{report:#}");
}

/// Cassettes of before say nothing of HTTP.
#[test]
fn an_older_cassette_is_played_as_it_was() {
    let place = recorded(HTTP, "legacy", ECHO);
    let mut cassette: Value = serde_json::from_str(&place.read("c.json")).expect("a cassette");
    for exchange in cassette["exchanges"].as_array_mut().expect("exchanges") {
        let http = exchange.as_object_mut().and_then(|exchange| exchange.remove("http"));
        assert_eq!(http.expect("it was over HTTP")["status"], 200);
    }
    place.write("c.json", &cassette.to_string());
    assert_eq!(plays(&place, &[]), ["echoes: passed"]);
}
