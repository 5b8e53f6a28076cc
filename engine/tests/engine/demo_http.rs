//! The demo server over HTTP: the suites of the quickstart, both eras, and what it refuses.

use crate::kit::{Place, messages, verdicts};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

const CONFIG: &str =
    "command: mcptest\nargs: [demo-server, --http, \"${port}\"]\nurl: \"http://127.0.0.1:${port}/mcp\"\n";

/// Runs a suite against a demo server of its own; the number of tests, all of which passed.
fn passes(config: &str, suite: &str) -> usize {
    let place = Place::new();
    place.write("mcptest.yml", config);
    place.write("suite.test.mcp.yml", suite);
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
    verdicts(&report).len()
}

/// A demo server that the test started; it ends with it.
struct Demo {
    child: Child,
    url: String,
}

impl Demo {
    fn start(place: &Place) -> Demo {
        let mut command = place.command(&["demo-server", "--http"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("stdout");
        BufReader::new(stdout).read_line(&mut url).expect("a line");
        Demo { child, url: url.trim().to_owned() }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[test]
fn what_passes_over_stdio_passes_over_http() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/quickstart");
    let mut tests = 0;
    for file in std::fs::read_dir(folder).expect("the quickstart") {
        let path = file.expect("a file").path();
        if path.to_string_lossy().ends_with(".test.mcp.yml") {
            tests += passes(CONFIG, &std::fs::read_to_string(path).expect("a suite"));
        }
    }
    assert!(tests > 30, "{tests} tests");
}

#[test]
fn the_modern_era_has_no_session_and_answers_for_its_headers() {
    let suite = r#"
respond: { elicitation: { accept: { name: Ada } } }
tools:
  - { it: echoes, tool: echo, args: { message: grüß dich }, expect: { text: grüß dich, http: { headers: { mcp-session-id: { $absent: true } } } } }
  - { it: reports progress, tool: slow, args: { steps: 3, ms: 1 }, expect: { progress: 3, http: { headers: { content-type: text/event-stream } } } }
  - { it: asks, tool: ask_user, args: { question: your name? }, expect: { isError: false } }
  - it: keeps calls apart
    parallel:
      - { tool: slow, args: { steps: 2, ms: 20 }, expect: { progress: { $length: 2 } } }
      - { tool: slow, args: { steps: 4, ms: 10 }, expect: { progress: { $length: 4 } } }
  - { it: is taken back, tool: slow, args: { steps: 1000, ms: 20 }, cancelAfter: { progress: 2 } }
  - it: hears of changes
    steps:
      - { subscribe: "demo://motd" }
      - { tool: set_motd, args: { text: new }, settle: 2s, expect: { notifications: { notifications/resources/updated: [{ $partial: { uri: "demo://motd" } }] } } }
  - it: does not know every method
    request: { method: no/such, params: { _meta: "${session:meta}" } }
    expect: { error: { code: -32601 }, http: { status: 404 } }
"#;
    for protocol in ["modern", "auto"] {
        assert_eq!(passes(&format!("{CONFIG}protocol: {protocol}\n"), suite), 7);
    }
}

#[test]
fn a_request_is_taken_back_and_the_session_lives_on() {
    let suite = r#"
tools:
  - { it: before anything came, tool: slow, args: { steps: 1, ms: 10000 }, cancelAfter: 50ms, settle: 100ms }
  - { it: after some progress, tool: slow, args: { steps: 1000, ms: 20 }, cancelAfter: { progress: 2 }, settle: 100ms, expect: { progress: 2 } }
  - { it: lives on, tool: echo, args: { message: x }, expect: { text: x } }
"#;
    assert_eq!(passes(CONFIG, suite), 3);
}

#[test]
fn clients_share_one_server_and_what_is_no_client_is_refused() {
    let place = Place::new();
    let demo = Demo::start(&place);
    let url = &demo.url;
    let elsewhere = url.replace("/mcp", "/other");
    let config = format!(
        r#"servers:
  plain: {{ url: "{url}" }}
  modern: {{ url: "{url}", protocol: modern }}
  page: {{ url: "{url}", headers: {{ Origin: "http://evil.example" }} }}
  bent: {{ url: "{url}", headers: {{ Host: "evil.example" }} }}
  deaf: {{ url: "{url}", headers: {{ Accept: application/json }} }}
  lost: {{ url: "{url}", headers: {{ Mcp-Session-Id: nobody }} }}
  odd: {{ url: "{url}", headers: {{ MCP-Protocol-Version: "1999-01-01" }} }}
  other: {{ url: "{elsewhere}" }}
"#
    );
    place.write("mcptest.yml", &config);
    let mut refused = String::from("tests:\n");
    for (server, status) in
        [("page", 403), ("bent", 403), ("deaf", 406), ("lost", 404), ("odd", 400), ("other", 404), ("plain", 400)]
    {
        refused += &format!(
            "  - {{ it: {server}, server: {server}, handshake: false, request: {{ method: tools/list }}, expect: {{ http: {{ status: {status} }} }} }}\n"
        );
    }
    place.write("refused.test.mcp.yml", &refused);
    let contradicts = "\ntests:\n  - it: contradicts\n    server: modern\n    request: { method: tools/call, params: { name: echo, _meta: { io.modelcontextprotocol/protocolVersion: \"2026-07-28\" } } }\n    expect: { error: { code: -32602 }, http: { status: 400 } }\n  - { it: no json, server: plain, raw: \"{no\", expect: { http: { status: 400 } } }\n";
    place.write("modern.test.mcp.yml", contradicts);
    for (file, server) in [("a", "plain"), ("b", "plain"), ("c", "modern"), ("d", "modern")] {
        let suite = format!(
            "server: {server}\ntools:\n  - {{ it: {file}, repeat: 20, tool: echo, args: {{ message: {file} }}, expect: {{ text: {file} }} }}\n"
        );
        place.write(&format!("{file}.test.mcp.yml"), &suite);
    }
    let (code, report) = place.report(&["-j", "4"]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
}
