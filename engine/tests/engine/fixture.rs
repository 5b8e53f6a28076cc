//! Every way in which the scripted server misbehaves: the verdict, the exit code, and that nothing is left running.

use crate::kit::{Place, fixture_server, messages, verdicts};

const ECHO: &str = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, timeout: 3s, expect: { text: hi } }\n  - { it: goes on, tool: echo, args: { message: ho }, timeout: 3s, expect: { text: ho } }\n";
const QUICK: &str = "startupTimeout: 1s\nshutdownTimeout: 300ms\n";

/// Runs [`ECHO`] with these flags.
fn echo(flags: &[&str], code: i32, expected: &[&str]) -> Vec<String> {
    check(flags, QUICK, ECHO, code, expected)
}

fn check(flags: &[&str], config: &str, suite: &str, code: i32, expected: &[&str]) -> Vec<String> {
    let place = Place::with_config(flags, config, suite);
    let (exit, report) = place.report(&[]);
    assert_eq!(verdicts(&report), expected, "{flags:?}: {report:#}");
    assert_eq!(exit, code, "{flags:?}");
    place.assert_nothing_left();
    messages(&report)
}

const BOTH: [&str; 2] = ["echoes: passed", "goes on: passed"];

#[test]
fn a_well_behaved_server_passes() {
    echo(&[], 0, &BOTH);
}

#[test]
fn odd_bytes_are_survived() {
    for flags in [
        &["--bom"][..],
        &["--crlf"],
        &["--split-writes"],
        &["--garbage"],
        &["--noisy-stdout"],
        &["--noisy-stderr"],
        &["--flood-stderr", "3000000"],
        &["--flood-stdout", "20000"],
        &["--batch"],
        &["--duplicate-reply"],
        &["--notify-before-init"],
        &["--ask-at-init", "roots/list"],
        &["--ask-at-init", "ping"],
        &["--out-of-order"],
    ] {
        echo(flags, 0, &BOTH);
    }
}

#[test]
fn a_start_that_fails_faults_every_test_and_exits_with_3() {
    let faulted = ["echoes: faulted (start_failed)", "goes on: faulted (start_failed)"];
    let said = echo(&["--exit-at-start", "9"], 3, &faulted);
    assert_eq!(said[0], "the server ended before it was ready (exit code 9)");
}

#[test]
fn a_handshake_that_fails_faults_every_test_and_exits_with_3() {
    let faulted = ["echoes: faulted (handshake_failed)", "goes on: faulted (handshake_failed)"];
    let said = echo(&["--no-init-answer"], 3, &faulted);
    assert_eq!(said[0], "no answer to `initialize` within `startupTimeout` (1s)");
    let said = echo(&["--init-error"], 3, &faulted);
    assert!(said[0].starts_with("the server refused `initialize`: "), "{said:?}");
    let said = echo(&["--bad-version", "1900-01-01"], 3, &faulted);
    assert!(said[0].starts_with("the server wants protocol version `1900-01-01`"), "{said:?}");
}

#[test]
fn a_slow_start_is_waited_for() {
    check(&["--slow-start", "600"], "startupTimeout: 10s\n", ECHO, 0, &BOTH);
    let faulted = ["echoes: faulted (handshake_failed)", "goes on: faulted (handshake_failed)"];
    check(&["--slow-start", "5000"], "startupTimeout: 300ms\nshutdownTimeout: 200ms\n", ECHO, 3, &faulted);
}

#[test]
fn a_ready_line_is_waited_for() {
    let ready = &["--ready-line", "listening now", "--ready-after", "300"];
    check(ready, "readyPattern: 'listening \\w+'\n", ECHO, 0, &BOTH);
    let faulted = ["echoes: faulted (start_failed)", "goes on: faulted (start_failed)"];
    let said = check(ready, "readyPattern: other\nstartupTimeout: 600ms\n", ECHO, 3, &faulted);
    assert_eq!(said[0], "stderr did not match `readyPattern` /other/ within `startupTimeout` (600ms)");
}

#[test]
fn a_hanging_answer_is_a_timeout_and_the_next_test_goes_on() {
    let suite = "tests:\n  - { it: hangs, request: { method: prompts/list }, timeout: 200ms }\ntools:\n  - { it: goes on, tool: echo, args: { message: a }, expect: { text: a } }\n";
    let said = check(&["--hang-on", "prompts/list"], QUICK, suite, 1, &["hangs: faulted (timeout)", "goes on: passed"]);
    assert_eq!(said, ["no answer to `prompts/list` within 200ms"]);
}

#[test]
fn a_late_answer_is_not_mistaken_for_the_next() {
    let suite = "tools:\n  - { it: is late, tool: echo, args: { message: first }, timeout: 200ms, expect: { text: first } }\n  - { it: waits, wait: 600ms }\n  - { it: goes on, tool: echo, args: { message: second }, expect: { text: second } }\n";
    check(&["--late", "400"], QUICK, suite, 1, &["is late: faulted (timeout)", "waits: passed", "goes on: passed"]);
}

#[test]
fn a_fixture_that_cannot_be_copied_holds_nothing_up() {
    let faulted = ["echoes: faulted (start_failed)", "goes on: faulted (start_failed)"];
    let place = Place::with_config(&[], "fixture: data\n", ECHO);
    place.write("data/a.txt", "a");
    let made = std::process::Command::new("mkfifo").arg(place.path("data/pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (3, faulted.map(str::to_owned).to_vec()));
    assert!(messages(&report)[0].ends_with("`pipe` is a pipe, a socket or a device"), "{report:#}");
    // A folder that is copied into itself never ends.
    let place = Place::with_config(&[], "fixture: data\n", ECHO);
    place.write("data/tmp/a.txt", "a");
    let mut command = place.command(&["run", "--json"]);
    let said = crate::kit::said(command.env("TMPDIR", place.path("data/tmp")).output().expect("it runs"));
    assert!(said.code == 3 && said.stdout.contains("lies inside of it"), "{}{}", said.stdout, said.stderr);
}

#[test]
fn a_whole_number_is_one_id_however_it_is_written() {
    let call = |it: &str, id: &str, theirs: &str| {
        format!(
            "  - {{ it: {it}, request: {{ id: {id}, method: tools/call, params: {{ name: noise, arguments: {{ text: '{{\"jsonrpc\":\"2.0\",\"id\":{theirs},\"result\":{{}}}}' }} }} }}, expect: {{ result: {{}} }} }}\n"
        )
    };
    let same = [call("point", "7", "7.0"), call("exponent", "300", "3e2")].concat();
    let other = [call("text", "8", "\"8\""), call("above 2^53", "9007199254740993", "9007199254740992.0")].concat();
    let expected = ["point: passed", "exponent: passed", "text: failed", "above 2^53: failed"];
    check(&[], QUICK, &format!("tests:\n{same}{other}"), 1, &expected);
}

#[test]
fn a_late_answer_is_none_to_a_notification() {
    let suite = "tools:\n  - { it: waits too short, tool: echo, args: { message: a }, timeout: 100ms }\n  - { it: is left alone, notify: { method: notifications/nothing }, expect: { no-response: true } }\n";
    check(&["--late", "400"], QUICK, suite, 1, &["waits too short: faulted (timeout)", "is left alone: passed"]);
}

#[test]
fn nothing_may_answer_a_notification() {
    let suite = "tests:\n  - { it: is silent, notify: { method: notifications/progress, params: {} }, expect: { no-response: true } }\n  - { it: asks in truth, notify: { method: ping, id: 7 }, expect: { no-response: true } }\n";
    let place = Place::with_config(&[], "timeout: 60s\n", suite);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (1, vec!["is silent: passed".into(), "asks in truth: failed".into()]));
    // The time of a step is for answers that are due.
    let took = report["suites"][0]["tests"][0]["durationMs"].as_f64();
    assert!(took.is_some_and(|took| took < 30_000.0), "{took:?}");
}

#[test]
fn an_id_that_timed_out_is_used_again_only_in_a_new_process() {
    let request = "request: { id: 7, method: tools/call, params: { name: echo, arguments: { message: x } } }";
    let suite = format!(
        "tests:\n  - {{ it: is late, {request}, timeout: 200ms }}\n  - {{ it: same id, {request}, timeout: 5s }}\n"
    );
    let place = Place::with_config(&["--late", "400"], QUICK, &suite);
    let said = place.mcptest(&["run", "-v"]);
    assert_eq!(said.code, 1, "{}", said.stdout);
    assert!(said.stdout.contains("the server was restarted: id 7 had timed out"), "{}", said.stdout);
    place.assert_nothing_left();
}

#[test]
fn an_id_that_timed_out_is_found_in_variables_and_in_raw_lines() {
    let message = "method: tools/call, params: { name: echo, arguments: { message: x } }";
    let raw = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}"#;
    for again in [format!("request: {{ id: \"${{id}}\", {message} }}"), format!("raw: '{raw}'")] {
        let suite = format!(
            "variables: {{ id: 7 }}\ntests:\n  - {{ it: is late, request: {{ id: 7, {message} }}, timeout: 200ms }}\n  - {{ it: same id, {again}, timeout: 5s }}\n"
        );
        let place = Place::with_config(&["--late", "400"], QUICK, &suite);
        let said = place.mcptest(&["run", "-v"]);
        assert!(said.stdout.contains("the server was restarted: id 7 had timed out"), "{}", said.stdout);
        place.assert_nothing_left();
    }
    let request = format!("request: {{ id: 7, {message} }}, timeout: 200ms");
    let suite = format!(
        "tests:\n  - {{ it: same id, steps: [{{ {request}, expect: {{ no-response: true }} }}, {{ {request}, expect: {{ text: x }} }}] }}\n"
    );
    let said = check(&["--late", "400"], QUICK, &suite, 1, &["same id: faulted (timeout)"]);
    assert_eq!(said, ["id 7 had timed out in this session, and its late answer could not be told from this one"]);
}

#[test]
fn a_crash_costs_the_rest_of_the_file_and_tells_why() {
    // `initialize` is the first request, the awaited `ping` the second.
    let lost = ["echoes: faulted (crashed)", "goes on: faulted (connection_lost)"];
    let said = echo(&["--crash-at", "3"], 1, &lost);
    assert_eq!(said[0], "the server ended before it answered `tools/call` (exit code 70)");
    assert!(said[1].contains("died earlier in this file, in `echoes`"), "{said:?}");
}

#[test]
fn a_page_without_its_list_is_a_fault() {
    let suite = "tools:\n  - { it: lists, list: tools }\n";
    for page in ["{}", r#"{"tools":"oops"}"#, r#"{"tools":null}"#, "null", "[]"] {
        for flags in [&["--last-page", page][..], &["--last-page", page, "--page-size", "3"]] {
            let said = check(flags, QUICK, suite, 1, &["lists: faulted (malformed_response)"]);
            assert_eq!(said, ["the answer to `tools/list` cannot be read: a page has no list `tools`"]);
        }
    }
    check(&["--last-page", r#"{"tools":[]}"#, "--page-size", "3"], QUICK, suite, 0, &["lists: passed"]);
}

#[test]
fn a_result_that_is_no_object_is_no_success() {
    let suite = "tools:\n  - { it: calls, tool: echo, args: { message: a } }\n";
    for result in ["null", "[1]", r#""just text""#] {
        let said = check(&["--result", result], QUICK, suite, 1, &["calls: failed"]);
        assert_eq!(said, ["the result of the answer is no object"]);
        let expected = suite.replace(" }\n", &format!(", expect: {{ result: {result} }} }}\n"));
        check(&["--result", result], QUICK, &expected, 0, &["calls: passed"]);
    }
}

#[test]
fn a_server_that_leaves_in_the_middle_of_a_test_is_not_replaced() {
    let suite = "tools:\n  - it: goes on\n    steps:\n      - { tool: echo, args: { message: a }, settle: 10s, expect: { text: a } }\n      - { tool: echo, args: { message: b }, expect: { text: b } }\n  - { it: is lost, ping: true }\n";
    let lost = ["goes on: faulted (crashed)", "is lost: faulted (connection_lost)"];
    let said = check(&["--leave-at", "1"], QUICK, suite, 1, &lost);
    assert_eq!(said[0], "the server ended after step 1, before the rest of the test (exit code 7)");
    let suite = "tools:\n  - { it: holds, repeat: 3, tool: echo, args: { message: a }, settle: 10s }\n";
    let said = check(&["--leave-at", "1"], QUICK, suite, 1, &["holds: faulted (crashed)"]);
    assert_eq!(said, ["the server ended after pass 1 of 3, before the rest of the test (exit code 7)"]);
    let suite = suite.replace("repeat: 3, ", "");
    check(&["--leave-at", "1"], QUICK, &suite, 0, &["holds: passed"]);
}

#[test]
fn with_restart_test_a_crash_costs_one_test() {
    let suite = "tools:\n  - { it: crashes, tool: crash, args: { code: 3 } }\n  - { it: goes on, tool: echo, args: { message: a }, expect: { text: a } }\n";
    check(&[], "restart: test\n", suite, 1, &["crashes: faulted (crashed)", "goes on: passed"]);
    let own = suite.replace("it: crashes,", "it: crashes, restart: true,");
    check(&[], "", &own, 1, &["crashes: faulted (crashed)", "goes on: passed"]);
}

#[test]
fn the_next_file_gets_a_fresh_server_after_a_crash() {
    let suite = "tools:\n  - { it: crashes, tool: crash, args: { code: 3 } }\n";
    let place = Place::with_fixture(&[], suite);
    place.write("z.test.mcp.yml", ECHO);
    let (code, report) = place.report(&[]);
    assert_eq!(verdicts(&report), ["crashes: faulted (crashed)", "echoes: passed", "goes on: passed"]);
    assert_eq!(code, 1);
    place.assert_nothing_left();
}

#[test]
fn an_expected_exit_is_no_crash() {
    let suite = "tools:\n  - { it: ends, tool: crash, args: { code: 3 }, expect: { exitCode: 3 } }\n  - { it: goes on, tool: echo, args: { message: a }, expect: { text: a } }\n";
    check(&[], "", suite, 0, &["ends: passed", "goes on: passed"]);
}

#[test]
fn wrong_ids_are_never_taken_for_answers() {
    let timed_out = ["echoes: faulted (timeout)", "goes on: faulted (timeout)"];
    let suite = ECHO.replace("3s", "300ms");
    check(&["--wrong-id"], QUICK, &suite, 1, &timed_out);
}

#[test]
fn a_huge_line_is_read_and_a_limit_is_kept() {
    let suite =
        "tools:\n  - { it: is huge, tool: echo, args: { message: a }, expect: { text: { $length: 5000000 } } }\n";
    check(&["--huge-line", "5000000"], "", suite, 0, &["is huge: passed"]);
    let suite = suite.replace("expect:", "timeout: 500ms, expect:");
    let place = Place::with_config(&["--huge-line", "5000000"], "maxLine: 1MiB\n", &suite);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (1, vec!["is huge: faulted (timeout)".to_owned()]));
    place.assert_nothing_left();
}

#[test]
fn answers_that_cannot_be_read_are_malformed() {
    let suite = "tools:\n  - { it: odd, tool: echo, args: { message: a } }\n  - { it: goes on, ping: true }\n";
    let malformed = ["odd: faulted (malformed_response)", "goes on: passed"];
    check(&["--deep", "300"], "", suite, 1, &malformed);
    check(&["--number", "1e400"], "", suite, 1, &malformed);
}

#[test]
fn invalid_text_is_read_with_replacement_characters() {
    let suite = "tools:\n  - { it: odd, tool: echo, args: { message: a }, expect: { text: \"a\\uFFFD\" } }\n";
    check(&["--invalid-utf8"], "", suite, 0, &["odd: passed"]);
    check(&["--lone-surrogate"], "", suite, 0, &["odd: passed"]);
}

#[test]
fn a_closed_stdout_is_a_lost_connection() {
    let lost = ["echoes: faulted (connection_lost)", "goes on: faulted (connection_lost)"];
    echo(&["--close-stdout"], 1, &lost);
}

#[test]
fn servers_that_will_not_end_are_ended() {
    for flags in [
        &["--ignore-eof"][..],
        &["--ignore-eof", "--ignore-term"],
        &["--fork-child"],
        &["--setsid-child"],
        &["--ignore-eof", "--ignore-term", "--fork-child", "--setsid-child"],
        &["--die-on-eof-code", "7"],
    ] {
        echo(flags, 0, &BOTH);
    }
}

/// What ended the server of a place, from the events.
fn ended_by(place: &Place, config: &str) -> String {
    let said = place.mcptest(&["run", "--config", config, "--reporter", "ndjson"]);
    assert_eq!(said.code, 0, "{} {}", said.stdout, said.stderr);
    let events = said.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let closed = events.into_iter().find(|event| event["type"] == "session-closed").expect("a session was closed");
    closed["data"]["by"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn each_stage_of_the_shutdown_has_its_time() {
    let ping = "tests:\n  - { it: pings, ping: true }\n";
    for (linger, stages, by) in [
        ("60000", "{ stdin: 0ms, term: 30s }", "term"),
        ("300", "{ stdin: 30s, term: 0ms }", "eof"),
        ("300", "30s", "eof"),
    ] {
        let place = Place::with_config(&["--linger", linger], &format!("shutdownTimeout: {stages}\n"), ping);
        assert_eq!(ended_by(&place, "mcptest.yml"), by, "{stages}");
        place.assert_nothing_left();
    }
    let place = Place::with_fixture(&["--linger", "1500"], ping);
    assert_eq!(ended_by(&place, "mcptest.yml"), "eof");
    let family = serde_json::json!({"name": "fixture", "command": fixture_server(), "args": ["--linger", "1500"]});
    place.write("aegis.config.json", &family.to_string());
    assert_eq!(ended_by(&place, "aegis.config.json"), "term");
}

#[test]
fn noise_on_stdout_can_be_asserted_on() {
    let suite = "tools:\n  - { it: is clean, tool: echo, args: { message: a }, expect: { stdout: clean } }\n  - { it: is noisy, tool: noise, args: { text: oops }, expect: { stdout: oops } }\n  - { it: is not clean, tool: noise, args: { text: oops }, expect: { stdout: clean } }\n";
    let said = check(&[], "", suite, 1, &["is clean: passed", "is noisy: passed", "is not clean: failed"]);
    assert_eq!(said, ["stdout holds lines that are no messages"]);
}

#[test]
fn stderr_belongs_to_the_step_that_was_open() {
    let suite = "tools:\n  - { it: is quiet, tool: echo, args: { message: a }, expect: { stderr: toBeEmpty } }\n  - { it: talks, tool: stderr, args: { text: uh-oh }, expect: { stderr: 'match:uh-oh' } }\n  - { it: is quiet again, tool: echo, args: { message: a }, expect: { stderr: toBeEmpty } }\n";
    check(&[], "", suite, 0, &["is quiet: passed", "talks: passed", "is quiet again: passed"]);
}
