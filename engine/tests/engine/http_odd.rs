//! Servers over HTTP that answer in a way that looks well and is not: what clients make of it, and what is told.

use crate::http::place;
use crate::kit::{Place, Running, messages, verdicts};

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

#[test]
fn a_stream_of_2024_that_is_refused_says_why() {
    let (code, said) = told("sse-refused", "transport: sse\n", CALLS);
    let answer = "start_failed: the server answered `GET /mcp` with 401 Unauthorized: who are you?";
    assert!(code == 3 && said.contains(answer) && said.contains("it asks for `Bearer realm=\"mcp\"`"), "{said}");
}

#[test]
fn what_clients_of_2024_do_not_read_is_no_answer() {
    let server = Running::new("sse-posted");
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    place.write("mcptest.yml", &format!("url: \"{url}\"\ntransport: sse\nstartupTimeout: 500ms\n"));
    place.write("suite.test.mcp.yml", CALLS);
    let said = place.mcptest(&["run"]);
    let (code, said) = (said.code, said.stdout.split_whitespace().collect::<Vec<_>>().join(" "));
    assert!(code == 3 && said.contains("no answer to `initialize` within"), "{said}");
    assert!(said.contains("as the answer to a POST, where clients of HTTP+SSE read none"), "{said}");
}

#[test]
fn a_process_that_ends_instead_of_answering_has_crashed() {
    for mode in ["dies", "dies-midway"] {
        let place = place(mode, "", CALLS);
        let (code, report) = place.report(&[]);
        assert_eq!((code, verdicts(&report)), (1, vec!["echoes: faulted (crashed)".to_owned()]), "{report:#}");
        assert_eq!(messages(&report), ["the server ended before it answered `tools/call` (exit code 7)"]);
        let said = place.mcptest(&["call", "echo", "message=hi"]);
        assert!(said.code == 1 && said.stderr.contains("before it answered `tools/call` (exit code 7)"), "{said:?}");
    }
    let said = place("dies", "", CALLS).mcptest(&["run"]);
    assert!(said.stdout.contains("something went wrong"), "{}", said.stdout);
    let expected = CALLS.replace("{ text: hi }", "{ http: { error: closed } }");
    let (code, report) = place("dies", "", &expected).report(&[]);
    assert_eq!((code, verdicts(&report)), (0, vec!["echoes: passed".to_owned()]), "{report:#}");
}

#[test]
fn every_event_is_as_its_schema_says() {
    let schema = Place::new().mcptest(&["schema", "event"]).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let all = ["run", "--reporter", "ndjson", "--show-frames"];
    let again = [&all[..], &["--record", "a.cassette.json"]].concat();
    let replay = [&all[..], &["--replay", "a.cassette.json"]].concat();
    for mode in ["echo", "keeps-session", "listen", "resume-refused", "dies", "plain-error"] {
        let place = place(mode, "", CALLS);
        for args in [&again, &replay] {
            let said = place.mcptest(args);
            assert!(said.stdout.contains("\"session-closed\""), "{mode}: {}{}", said.stdout, said.stderr);
            for line in said.stdout.lines() {
                let event = serde_json::from_str(line).expect("JSON");
                let problem = schema.validate(&event).err().map(|error| error.to_string());
                assert_eq!(problem, None, "{mode}: {line}");
            }
        }
    }
}
