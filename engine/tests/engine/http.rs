//! Servers over HTTP: every way in which an answer can go wrong, what a suite can expect of it, and that no secret leaks.

use crate::kit::{Place, Running, messages, verdicts};
use std::time::{Duration, Instant};

const CALLS: &str =
    "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, timeout: 2s, expect: { text: hi } }\n";

/// A place with the scripted server behind a URL, in one of its modes.
fn place(mode: &str, lines: &str, suite: &str) -> Place {
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

/// A server that tells every header it got, and a suite that fails in every way.
#[test]
fn no_secret_reaches_a_report() {
    const CANARIES: [&str; 6] = [
        "env-canary-12345",
        "header-canary-12345",
        "literal-canary-12345",
        "bearer-canary-12345",
        "secret-canary-12345",
        "fetched-token-canary",
    ];
    let auths = [
        "auth: { bearerEnv: BEARER }",
        "auth: { tokenUrl: \"http://127.0.0.1:TOKENPORT/token\", clientIdEnv: ID, clientSecretEnv: SECRET }",
    ];
    // The token comes from a server of its own, which runs as long as the test.
    let issuer = Running::new("echo");
    let suite = "tools:\n  - { it: tells headers, tool: echo, expect: { text: nothing, http: { status: 500 }, result: { a: 1 } } }\n  - { it: env, tool: echo, expect: { stderr: nothing, checks: [{ at: $.http, is: 1 }] } }\n";
    for auth in auths {
        let auth = auth.replace("TOKENPORT", &issuer.port.to_string());
        let lines = format!(
            "env: {{ TOKEN: \"${{CANARY}}\" }}\nheaders: {{ X-Api: \"${{HEADER}}\", X-Secret-Key: literal-canary-12345 }}\n{auth}\n"
        );
        let place = place("headers", &lines, suite);
        let mut seen = 0;
        for reporter in ["human", "json", "ndjson", "junit"] {
            let mut command = place.command(&["run", "--show-frames", "--verbose", "--reporter", reporter]);
            command.env("CANARY", CANARIES[0]).env("HEADER", CANARIES[1]).env("BEARER", CANARIES[3]);
            let output = command.env("ID", "client").env("SECRET", CANARIES[4]).output().expect("the binary runs");
            assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            seen += said.matches("[redacted]").count();
            for canary in CANARIES {
                assert!(!said.contains(canary), "{reporter} with {auth} shows {canary}:\n{said}");
            }
        }
        assert!(seen >= 12, "the headers were told, and {seen} values redacted");
    }
}
