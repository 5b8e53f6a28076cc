//! Servers over HTTP: every way in which an answer can go wrong, and what a suite can expect of it.

use crate::kit::{Place, Running, messages, verdicts};
use std::time::{Duration, Instant};

const CALLS: &str =
    "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, timeout: 2s, expect: { text: hi } }\n";

/// A place with the scripted server behind a URL, in one of its modes.
pub(crate) fn place(mode: &str, lines: &str, suite: &str) -> Place {
    let config = format!("url: \"http://127.0.0.1:${{port}}/mcp\"\nstartupTimeout: 20s\nshutdownTimeout: 1s\n{lines}");
    Place::with_config(&["--http", "${port}", "--http-mode", mode], &config, suite)
}

fn check(mode: &str, lines: &str, suite: &str, code: i32, expected: &[&str]) -> Vec<String> {
    let place = place(mode, lines, suite);
    let begun = Instant::now();
    let (exit, report) = place.report(&[]);
    assert_eq!(verdicts(&report), expected, "{mode}: {report:#}");
    assert_eq!(exit, code, "{mode}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{mode} took {:?}", begun.elapsed());
    place.assert_nothing_left();
    messages(&report)
}

/// The same server once for what an unsuspecting test says, and once for what can be expected.
fn outcome(mode: &str, code: &str, message: &str, expect: &str) {
    let said = check(mode, "", CALLS, 1, &[&format!("echoes: faulted ({code})")]);
    assert!(said[0].contains(message), "{mode}: {}", said[0]);
    let suite = format!(
        "tools:\n  - {{ it: expected, tool: echo, args: {{ message: hi }}, timeout: 2s, expect: {{ http: {expect} }} }}\n"
    );
    check(mode, "", &suite, 0, &["expected: passed"]);
}

#[test]
fn json_and_streams_are_answers() {
    check("echo", "", CALLS, 0, &["echoes: passed"]);
    let suite = "tools:\n  - { it: streams, tool: echo, args: { message: hi }, expect: { text: hi, notifications: { notifications/message: { $length: 1 } }, http: { status: 200, headers: { Content-Type: text/event-stream }, events: { $contains: { comment: keep-alive } } } } }\n";
    check("events", "", suite, 0, &["streams: passed"]);
}

#[test]
fn a_modern_server_is_told_in_headers_what_the_body_says() {
    let suite = r#"
tools:
  - it: lists
    list: tools
    expect: { result: { $partial: { tools: { $length: 2 } } } }
  - it: calls
    tool: headers
    args: { city: Köln }
    expect:
      text:
        $all:
          - $contains: "mcp-protocol-version: 2026-07-28"
          - $contains: "mcp-method: tools/call"
          - $contains: "mcp-name: headers"
          - $contains: "mcp-param-city: =?base64?S8O2bG4=?="
          - $not: { $contains: mcp-session-id }
      stderr: toBeEmpty
tests:
  - it: refuses
    request: { method: no/such, params: { _meta: "${session:meta}" } }
    expect: { error: { code: -32601 }, http: { status: 400 } }
"#;
    let passed = ["lists: passed", "calls: passed", "refuses: passed"];
    check("modern", "protocol: modern", suite, 0, &passed);
    check("modern", "protocol: auto", suite, 0, &passed);
    let echo = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, expect: { text: hi } }\n";
    check("echo", "protocol: auto", echo, 0, &["echoes: passed"]);
}

#[test]
fn arguments_stand_in_headers_though_no_step_lists_the_tools() {
    let city = "$contains: \"mcp-param-city: Bonn\"";
    let typed = format!(
        "tools:\n  - {{ it: calls, tool: headers, args: {{ city: Bonn }}, expect: {{ text: {{ {city} }} }} }}\n"
    );
    check("modern", "protocol: modern", &typed, 0, &["calls: passed"]);
    let params = "{ name: headers, arguments: { city: Bonn }, _meta: \"${session:meta}\" }";
    let raw = format!(
        "tests:\n  - {{ it: asks, request: {{ method: tools/call, params: {params} }}, expect: {{ text: {{ {city} }} }} }}\n"
    );
    check("modern", "protocol: modern", &raw, 0, &["asks: passed"]);
    let said = place("modern", "protocol: modern\n", "").mcptest(&["call", "headers", "city=Bonn"]);
    assert!(said.code == 0 && said.stdout.contains("mcp-param-city: Bonn"), "{}{}", said.stdout, said.stderr);
}

#[test]
fn a_tool_that_says_its_headers_wrongly_is_called_with_a_note_and_not_tried_by_discover() {
    let suite = r#"
tools:
  - { it: lists, list: tools, expect: { result: { $partial: { tools: { $length: 2 } } } } }
  - it: calls
    tool: broken
    args: { city: Bonn }
    expect: { text: { $not: { $contains: mcp-param } } }
"#;
    let place = place("modern", "protocol: modern\n", suite);
    let (exit, report) = place.report(&[]);
    assert_eq!(
        (exit, verdicts(&report)),
        (0, vec!["lists: passed".to_owned(), "calls: passed".to_owned()]),
        "{report:#}"
    );
    let why = "`not a header`, the `x-mcp-header` of `city`, cannot name a header";
    let said = place.mcptest(&["run", "--reporter", "ndjson"]);
    assert!(said.stdout.contains(&format!("clients refuse to call `broken` over HTTP: {why}")), "{}", said.stdout);
    let drafted = place.mcptest(&["discover", "--call", "all", "-o", "-"]);
    assert!(drafted.stdout.contains(why), "{}{}", drafted.stdout, drafted.stderr);
}

#[test]
fn notifications_and_garbage_have_a_status() {
    let suite = "tests:\n  - { it: notifies, notify: { method: notifications/x }, expect: { http: { status: 202, body: \"\" } } }\n  - { it: garbage, raw: \"{no\", expect: { http: { status: 400, body: { $startsWith: Parse } } } }\n  - { it: no session, handshake: false, request: { method: ping }, expect: { result: {}, http: { status: 200 } } }\n";
    check("echo", "", suite, 0, &["notifies: passed", "garbage: passed", "no session: passed"]);
}

#[test]
fn a_plain_text_error() {
    let expect = "{ status: 500, headers: { content-type: text/plain }, body: the database is down }";
    outcome("plain-error", "http_error", "500 Internal Server Error: the database is down", expect);
}

#[test]
fn a_stream_that_is_cut_short() {
    let expect = "{ status: 200, error: truncated, events: { $contains: { truncated: true } } }";
    outcome("truncated-sse", "connection_lost", "the body ended in the middle", expect);
}

#[test]
fn a_body_that_never_ends_costs_the_timeout_of_one_step() {
    let said = check("slow-body", "", CALLS, 1, &["echoes: faulted (timeout)"]);
    assert_eq!(said[0], "no answer to `tools/call` within 2s");
    let expected = CALLS.replace("{ text: hi }", "{ http: { status: 200 } }");
    let said = check("slow-body", "", &expected, 1, &["echoes: faulted (timeout)"]);
    assert_eq!(said[0], "no answer to `tools/call` within 2s");
}

#[test]
fn a_wrong_content_type() {
    let expect = "{ status: 200, headers: { content-type: text/html } }";
    outcome("wrong-type", "http_error", "its content type is `text/html`", expect);
}

#[test]
fn a_lost_session_is_opened_anew_where_that_is_allowed() {
    outcome("session-lost", "http_error", "404 Not Found: no such session", "{ status: 404 }");
    let place = place("session-lost", "reinitialize: true\n", CALLS);
    let (exit, report) = place.report(&[]);
    assert_eq!((exit, verdicts(&report)), (0, vec!["echoes: passed".to_owned()]), "{report:#}");
    let said = place.mcptest(&["run", "--reporter", "ndjson"]);
    assert!(said.stdout.contains("the server has lost the session (404)"), "{}", said.stdout);
}

#[test]
fn a_lost_session_that_is_told_in_the_words_of_the_protocol_is_opened_anew_too() {
    check("session-lost-rpc", "reinitialize: true\n", CALLS, 0, &["echoes: passed"]);
    let said = place("session-lost-rpc", "", CALLS).mcptest(&["run"]);
    assert!(said.code == 1 && said.stdout.contains("-32001 Session not found"), "{}", said.stdout);
    assert!(said.stdout.contains("`reinitialize: true`"), "{}", said.stdout);
}

#[test]
fn what_a_refusal_asks_for_is_told() {
    for (mode, wanted) in [("gateway", "it asks for `Bearer realm=\"mcp\"`"), ("busy", "`Retry-After: 30`")] {
        let said = place(mode, "", CALLS).mcptest(&["run"]);
        assert!(said.code == 1 && said.stdout.contains(wanted), "{mode}: {}", said.stdout);
    }
}

#[test]
fn an_event_without_its_empty_line_is_told_as_such() {
    let expect = "{ status: 200, events: [{ $partial: { truncated: true } }] }";
    outcome("cut-event", "http_error", "the stream ended in the middle of an event", expect);
}

#[test]
fn a_redirect_is_told_and_not_followed() {
    let expect = "{ status: 307, headers: { location: \"match:/mcp$\" } }";
    outcome("redirect-loop", "http_error", "307 Temporary Redirect", expect);
}

#[test]
fn an_answer_of_fifty_megabytes_is_judged() {
    let suite = "tools:\n  - { it: huge, tool: echo, timeout: 60s, expect: { text: { $length: 52428800 } } }\n";
    check("huge", "", suite, 0, &["huge: passed"]);
    let said = check("huge", "maxLine: 1MiB\n", CALLS, 1, &["echoes: faulted (connection_lost)"]);
    assert!(said[0].contains("longer than the limit of 1048576 bytes"), "{}", said[0]);
}

#[test]
fn a_connection_that_ends_without_an_answer() {
    outcome("half-closed", "connection_lost", "closed the connection without an answer", "{ error: closed }");
    outcome("no-http", "connection_lost", "no HTTP", "{ error: malformed }");
}

#[test]
fn a_stream_is_resumed_where_it_ended() {
    let suite = "tools:\n  - { it: resumes, tool: echo, expect: { text: resumed } }\n";
    let place = place("resume", "", suite);
    let said = place.mcptest(&["run", "--show-frames"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("resumed from event"), "{}", said.stdout);
}

#[test]
fn a_connection_that_the_server_closes_between_steps_is_replaced() {
    let suite = "tools:\n  - { it: one, tool: echo, args: { message: a }, expect: { text: a } }\n  - { it: two, tool: echo, args: { message: b }, expect: { text: b } }\n";
    check("close-after", "", suite, 0, &["one: passed", "two: passed"]);
}

#[test]
fn a_server_that_nobody_started_is_one_that_could_not_be_reached() {
    let place = Place::new();
    place.write("suite.test.mcp.yml", CALLS);
    let said = place.mcptest(&["run", "--url", "http://127.0.0.1:1/mcp"]);
    assert_eq!(said.code, 3, "{}", said.stdout);
    assert!(said.stdout.contains("is the server running"), "{}", said.stdout);
    let said = place.mcptest(&["run", "--url", "ftp://x"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
}

#[test]
fn a_server_without_tls_is_no_https() {
    let config = "url: \"https://127.0.0.1:${port}/mcp\"\nstartupTimeout: 20s\nshutdownTimeout: 1s\n";
    let suite =
        "tests:\n  - { it: tls, handshake: false, request: { method: ping }, expect: { http: { error: tls } } }\n";
    let place = Place::with_config(&["--http", "${port}"], config, suite);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (0, vec!["tls: passed".to_owned()]), "{report:#}");
}

#[test]
fn nobody_is_trusted_blindly_in_continuous_integration() {
    let place = Place::new();
    place.write("mcptest.yml", "url: https://127.0.0.1:1/\ntls: { verify: false }\n");
    place.write("suite.test.mcp.yml", CALLS);
    let said = place.mcptest(&["check"]);
    assert!(said.code == 0 && said.stderr.contains("whoever answers is trusted"), "{}", said.stderr);
    let refused = place.command(&["check"]).env("CI", "true").output().expect("the binary runs");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_server_that_closes_after_every_answer_is_no_fault() {
    let suite = "tools:\n  - { it: one, tool: echo, args: { message: a }, expect: { text: a } }\n  - { it: two, tool: echo, args: { message: b }, expect: { text: b } }\n";
    for _ in 0..5 {
        check("close-each", "", suite, 0, &["one: passed", "two: passed"]);
    }
}

#[test]
fn an_error_of_a_gateway_is_no_answer_of_the_server() {
    let expect = "{ status: 401, body: { $contains: invalid_token } }";
    outcome("gateway", "http_error", "401 Unauthorized: {\"error\":\"invalid_token\"}", expect);
}

#[test]
fn a_packed_body_is_told_as_such() {
    let suite =
        "tools:\n  - { it: asks, tool: echo, expect: { text: { $contains: \"accept-encoding: identity\" } } }\n";
    check("headers", "", suite, 0, &["asks: passed"]);
    outcome(
        "packed",
        "http_error",
        "a body that is no text (it is packed with `gzip`",
        "{ status: 200, headers: { content-encoding: gzip } }",
    );
}

#[test]
fn a_stream_that_cannot_be_resumed_says_so() {
    let said = check("resume-refused", "", CALLS, 1, &["echoes: faulted (http_error)"]);
    assert!(said[0].contains("resuming it was answered with 405 Method Not Allowed"), "{}", said[0]);
}

#[test]
fn a_task_of_the_modern_era_is_awaited_over_http() {
    let suite = "tools:\n  - { it: awaits, tool: later, task: true, expect: { text: at last } }\n";
    check("modern", "protocol: modern\n", suite, 0, &["awaits: passed"]);
}

#[test]
fn a_result_of_a_type_that_nobody_knows_is_no_success() {
    let lines = "protocol: modern\n";
    let said = check("modern", lines, "tools:\n  - { it: dreams, tool: dream }\n", 1, &["dreams: failed"]);
    assert!(said[0].contains("the result is of the type `dreaming`"), "{}", said[0]);
    let expected =
        "tools:\n  - { it: dreams, tool: dream, expect: { result: { $partial: { resultType: dreaming } } } }\n";
    check("modern", lines, expected, 0, &["dreams: passed"]);
}

#[test]
fn the_transport_of_2024_is_spoken_with_its_own_server_alone() {
    let again = "  - { it: again, tool: echo, args: { message: ho }, timeout: 2s, expect: { text: ho } }\n";
    let suite = format!("{CALLS}{again}");
    check("sse", "transport: sse\n", &suite, 0, &["echoes: passed", "again: passed"]);
    let begun = Instant::now();
    let lost = ["echoes: faulted (connection_lost)", "again: faulted (connection_lost)"];
    let said = check("sse-ends", "transport: sse\n", &suite, 1, &lost);
    assert_eq!(said[0], "the stream on which the server answers has ended");
    let said = check("sse-elsewhere", "transport: sse\n", CALLS, 3, &["echoes: faulted (start_failed)"]);
    assert!(said[0].contains("it is at another server than `http://127.0.0.1:"), "{}", said[0]);
    assert!(begun.elapsed() < Duration::from_secs(15), "took {:?}", begun.elapsed());
}

#[test]
fn whoever_listened_before_the_server_was_started_is_not_taken_for_it() {
    let other = Running::new("echo");
    let config = format!("url: \"http://127.0.0.1:{}/mcp\"\nstartupTimeout: 20s\n", other.port);
    let place = Place::with_config(&["--http", &other.port.to_string()], &config, CALLS);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (3, vec!["echoes: faulted (start_failed)".to_owned()]), "{report:#}");
    let said = messages(&report).remove(0);
    assert!(said.contains(&format!("somebody listened at `127.0.0.1:{}` before", other.port)), "{said}");
}

/// The scripted server names a session in every answer, and refuses an `initialize` that names one.
#[test]
fn only_the_answer_to_initialize_begins_a_session() {
    let text =
        "$all: [{ $contains: \"mcp-session-id: session-1\" }, { $not: { $contains: \"mcp-session-id: stray\" } }]";
    let calls = format!("  - {{ it: asks, tool: echo, expect: {{ text: {{ {text} }} }} }}\n").repeat(2);
    for protocol in ["legacy", "auto"] {
        let suite = format!("tools:\n{calls}");
        check("headers", &format!("protocol: {protocol}\n"), &suite, 0, &["asks: passed", "asks: passed"]);
    }
}

/// How the session ended, from the events.
fn closed_by(server: &Running, protocol: &str, suite: &str) -> String {
    let place = Place::new();
    let config = format!("url: \"http://127.0.0.1:{}/mcp\"\nprotocol: {protocol}\n", server.port);
    place.write("mcptest.yml", &config);
    place.write("suite.test.mcp.yml", suite);
    let said = place.mcptest(&["run", "--reporter", "ndjson"]);
    assert_eq!(said.code, 0, "{}", said.stdout);
    let events = said.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let closed = events.into_iter().find(|event| event["type"] == "session-closed").expect("a session was closed");
    closed["data"]["by"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_session_is_ended_with_a_delete_where_there_is_one() {
    let server = Running::new("headers");
    let told = |text: &str| format!("tools:\n  - {{ it: asks, tool: echo, expect: {{ text: {text} }} }}\n");
    let nothing = told("{ $not: { $contains: \"deleted: \" } }");
    assert_eq!(closed_by(&server, "legacy", &nothing), "delete");
    assert_eq!(closed_by(&server, "auto", &told("{ $contains: \"deleted: session-1\" }")), "delete");
    let modern = Running::new("modern");
    let keeper = Running::new("keeps-session");
    assert_eq!(
        closed_by(&keeper, "legacy", &told("hi").replace("tool: echo", "tool: echo, args: { message: hi }")),
        "closed"
    );
    assert_eq!(closed_by(&modern, "auto", "tools:\n  - { it: asks, tool: headers, args: { city: Bonn } }\n"), "closed");
}

#[test]
fn the_standalone_stream_belongs_to_the_conversation() {
    let suite = r#"
respond: { roots: ["file:///here"] }
tools:
  - it: is asked
    tool: echo
    expect:
      text: { $startsWith: "session-1: ", $contains: "file:///here" }
      requests: { roots/list: { $length: 1 } }
      notifications: { notifications/message: { $length: 1 } }
"#;
    check("listen", "", suite, 0, &["is asked: passed"]);
}

#[test]
fn a_server_that_listens_late_is_waited_for() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let place = Place::new();
    place.write("mcptest.yml", &format!("url: \"http://127.0.0.1:{port}/mcp\"\nwaitForReady: 30s\n"));
    place.write("suite.test.mcp.yml", CALLS);
    let late = Running::start(&["--http", &port.to_string(), "--slow-start", "2000"]);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (0, vec!["echoes: passed".to_owned()]), "{report:#}");
    drop(late);
}

#[test]
fn a_server_that_never_listens_is_waited_for_no_longer_than_that() {
    let place = Place::new();
    place.write("mcptest.yml", "url: \"http://127.0.0.1:1/mcp\"\nwaitForReady: 200ms\n");
    place.write("suite.test.mcp.yml", CALLS);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (3, vec!["echoes: faulted (start_failed)".to_owned()]), "{report:#}");
    let said = messages(&report).remove(0);
    assert!(said.starts_with("nobody listens at `http://127.0.0.1:1/mcp` after 200ms and "), "{said}");
    let hints = report["suites"][0]["tests"][0]["failures"][0]["hints"].to_string();
    assert!(hints.contains("a server that needs longer has `waitForReady: 30s` in its config"), "{hints}");
}
