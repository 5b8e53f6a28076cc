//! Which process serves which file, and how long it is kept.

use crate::kit::{Place, fixture_server, verdicts};
use serde_json::{Value, json};
use std::net::TcpListener;

const PING: &str = "tools:\n  - { it: pings, ping: true }\n";

/// What began and ended, in order.
fn sessions(place: &Place) -> Vec<String> {
    let said = place.mcptest(&["run", "-j", "1", "--reporter", "ndjson"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    let events = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    let sessions = events.filter(|event| event["type"].as_str().is_some_and(|name| name.starts_with("session-")));
    sessions.map(|event| event["type"].as_str().unwrap_or_default().replace("session-", "")).collect()
}

/// A server that listens on a port of its own choice.
fn on_a_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (command, args) = (json!(fixture_server()), json!(["--http", port.to_string()]));
    format!("command: {command}, args: {args}, url: \"http://127.0.0.1:{port}/mcp\", waitForReady: 10s, restart: run")
}

#[test]
fn a_server_is_kept_for_the_files_that_can_use_it() {
    let place = Place::with_config(&[], "restart: run\n", PING);
    place.write("b.test.mcp.yml", PING);
    assert_eq!(sessions(&place), ["opened", "closed"]);
    let inline = format!("server: {{ command: {}, restart: run }}\n{PING}", json!(fixture_server()));
    for name in ["a.test.mcp.yml", "b.test.mcp.yml", "suite.test.mcp.yml"] {
        place.write(name, &inline);
    }
    assert_eq!(sessions(&place), ["opened", "closed", "opened", "closed", "opened", "closed"]);
}

#[test]
fn a_fixed_port_is_free_for_the_next_file() {
    let place = Place::new();
    let server = on_a_port();
    for name in ["a.test.mcp.yml", "b.test.mcp.yml"] {
        place.write(name, &format!("server: {{ {server} }}\n{PING}"));
    }
    assert_eq!(sessions(&place), ["opened", "closed", "opened", "closed"]);
    // One server, to which the client declares something else in every other file.
    place.write("mcptest.yml", &server.replace(", ", "\n").replace("\"\n\"", "\", \""));
    for (name, client) in [("a", ""), ("b", "client: { roots: true }\n"), ("c", "")] {
        place.write(&format!("{name}.test.mcp.yml"), &format!("{client}{PING}"));
    }
    assert_eq!(sessions(&place), ["opened", "closed", "opened", "closed", "opened", "closed"]);
}

#[test]
fn a_start_that_fails_is_tried_again_by_a_test_with_a_process_of_its_own() {
    let place = Place::new();
    let script = format!("echo >> starts; [ $(wc -l < starts) -lt 2 ] && exit 1; exec '{}'", fixture_server());
    let config = |restart: &str| format!("command: sh\nargs: {}\nrestart: {restart}\n", json!(["-c", script]));
    place.write("suite.test.mcp.yml", &PING.replace("ping:", "retry: 2, ping:"));
    place.write("mcptest.yml", &config("test"));
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (0, vec!["pings: passed".to_owned()]), "{report:#}");
    assert_eq!((place.read("starts").lines().count(), &report["suites"][0]["tests"][0]["attempts"]), (2, &json!(2)));
    // The server that tests share is started once, and no attempt is told that was none.
    place.write("starts", "");
    place.write("mcptest.yml", &config("file"));
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (3, vec!["pings: faulted (start_failed)".to_owned()]), "{report:#}");
    assert_eq!((place.read("starts").lines().count(), &report["suites"][0]["tests"][0]["attempts"]), (1, &Value::Null));
}

#[test]
fn a_wait_ends_when_a_file_is_there_and_tells_its_time() {
    let place = Place::new();
    let script = format!("(sleep 0.3; echo x > \"$1/a\") & exec '{}'", fixture_server());
    place.write("mcptest.yml", &format!("command: sh\nargs: {}\n", json!(["-c", script, "sh", "${tmp}"])));
    let suite = "tools:\n  - { it: sees it, wait: 5m, expect: { files: { a: { $contains: x } }, duration: '< 2m' } }\n  - { it: takes its time, wait: 200ms, expect: { duration: '> 100ms' } }\n";
    place.write("suite.test.mcp.yml", suite);
    let (code, report) = place.report(&[]);
    assert_eq!(
        (code, verdicts(&report)),
        (0, ["sees it: passed", "takes its time: passed"].map(String::from).to_vec())
    );
}

#[test]
fn a_skipped_test_only_finishes() {
    let suite = "tools:\n  - { it: waits, skip: not yet, ping: true }\n  - { it: runs, ping: true }\n";
    let said = Place::with_fixture(&[], suite).mcptest(&["run", "--reporter", "ndjson"]);
    let count = |what: &str| said.stdout.matches(what).count();
    assert_eq!((count("test-started"), count("test-finished")), (1, 2), "{}", said.stdout);
}
