//! Servers over HTTP that answer in a way that looks well and is not: what clients make of it, and what is told.

use crate::http::place;
use crate::kit::{Place, messages, verdicts};

const CALLS: &str = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, expect: { text: hi } }\n";

/// The exit code, and everything that is told of a run.
fn told(mode: &str, lines: &str, suite: &str) -> (i32, String) {
    let said = place(mode, lines, suite).mcptest(&["run"]);
    (said.code, said.stdout.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn faulted(mode: &str, message: &str) {
    let place = place(mode, "", CALLS);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (1, vec!["echoes: faulted (http_error)".to_owned()]), "{report:#}");
    let said = messages(&report).remove(0);
    assert!(said.contains(message), "{mode}: {said}");
}

#[test]
fn an_answer_that_clients_do_not_read_is_none() {
    faulted("accepted", "(clients read no body of a 202: it says that no answer comes)");
    faulted("broken-result", "(clients take no result that comes with such a status)");
    faulted("packed-events", "200 OK (it is packed with `gzip`, though only plain bodies are accepted)");
    let suite = "tools:\n  - { it: expects, tool: echo, args: { message: hi }, expect: { http: { status: 202, body: { $contains: hi } } } }\n";
    assert_eq!(told("accepted", "", suite).0, 0);
}

#[test]
fn an_answer_on_the_stream_of_the_get_is_told_of() {
    let (code, said) = told("astray", "", CALLS);
    assert!(code == 0 && said.contains("came on the stream of the GET, where servers must not send any"), "{said}");
}

#[test]
fn a_session_that_gets_another_name_is_told_of_once() {
    let again = "  - { it: again, tool: echo, args: { message: ho }, expect: { text: ho } }\n";
    let (code, said) = told("renamed", "", &format!("{CALLS}{again}"));
    assert_eq!((code, said.matches("another `Mcp-Session-Id`").count()), (0, 1), "{said}");
    assert!(!told("echo", "", CALLS).1.contains("Mcp-Session-Id"));
}

#[test]
fn a_message_that_was_refused_is_named_with_what_the_server_said() {
    let refused = "the server answered `notifications/initialized` with 400 Bad Request: an id is missing";
    let (code, said) = told("picky", "", CALLS);
    assert!(code == 0 && said.contains(refused), "{said}");
}

#[test]
fn a_subscription_whose_stream_ends_is_told_of() {
    let suite = "tools:\n  - { it: listens, subscribe: tools }\n  - { it: waits, wait: 300ms }\n  - { it: asks, tool: headers, args: { city: Bonn } }\n";
    let (code, said) = told("modern", "protocol: modern\n", suite);
    assert!(code == 0 && said.contains("the stream of the subscription to `tools` has ended"), "{said}");
}

#[test]
fn frames_show_the_handshake_and_the_end_of_the_session() {
    let said = place("echo", "", CALLS).mcptest(&["run", "--show-frames"]);
    let order = [
        "\"method\":\"initialize\"",
        "\"serverInfo\"",
        "notifications/initialized",
        "tools/call",
        "DELETE /mcp → 200 OK",
    ];
    let found: Vec<Option<usize>> = order.iter().map(|text| said.stdout.find(text)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?} {}", said.stdout);
    let quiet = place("echo", "", CALLS).mcptest(&["run"]);
    assert!(!quiet.stdout.contains("initialize") && !quiet.stdout.contains("DELETE"), "{}", quiet.stdout);
}

#[test]
fn a_server_of_the_legacy_era_that_refuses_the_modern_one_in_its_own_words_has_a_hint() {
    let said = place("gateway", "", "").mcptest(&["call", "ping", "--protocol", "modern"]);
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(said.stderr.contains("`protocol: legacy` opens the conversation with `initialize`"), "{}", said.stderr);
}

#[test]
fn a_port_that_is_none_is_not_taken_for_another_one() {
    let place = Place::new();
    let said = place.mcptest(&["call", "ping", "--url", "http://127.0.0.1:99999/mcp"]);
    assert!(said.code == 2 && said.stderr.contains("`99999` is no port"), "{}", said.stderr);
}
