//! What is advised when something went wrong: said once, about the cause, with what to do next.

use crate::kit::{Place, fixture_server, said, verdicts};
use serde_json::Value;
use std::fs::File;

const ECHO: &str =
    "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, timeout: 300ms, expect: { text: hi } }\n";
const ONE: &str = "tests:\n  - { it: pings, ping: true }\n";
const TWO_SERVERS: &str = "servers: { a: { command: mcptest }, b: { command: mcptest } }\n";

#[test]
fn an_answer_that_came_and_could_not_be_read_is_told() {
    for (flags, advice) in [
        (&["--number", "NaN"][..], "a line on stdout is no message: JSON has no `NaN`"),
        (&["--wrong-id"], "an answer came to id "),
    ] {
        let place = Place::with_config(flags, "shutdownTimeout: 300ms\n", ECHO);
        let said = place.mcptest(&["run"]);
        assert_eq!(said.code, 1, "{}", said.stdout);
        assert!(said.stdout.contains("timeout: no answer to `tools/call`"), "{}", said.stdout);
        assert!(said.stdout.contains(advice) && !said.stdout.contains("raise `timeout`"), "{}", said.stdout);
        place.assert_nothing_left();
    }
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    let shell = r#"echo '{'; echo '  "jsonrpc": "2.0"'; exec sleep 60"#;
    let said = place.mcptest(&["run", "--startup-timeout", "300ms", "--", "sh", "-c", shell]);
    assert_eq!(said.code, 3, "{}", said.stdout);
    assert!(said.stdout.contains("a line on stdout ends in the middle of a message"), "{}", said.stdout);
}

/// A server in the shell: `init` is its answer to `initialize`, `rest` what it does from the first request on.
fn shell(init: &str, rest: &str) -> String {
    let introduced = r#""protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"shell","version":"1"}"#;
    let init = init.replace("INTRODUCED", introduced);
    let pong = r#"{"jsonrpc":"2.0","id":"mcptest-2","result":{}}"#;
    format!("read a; {init}; read a; read a; echo '{pong}'; read a; {rest}; cat > /dev/null")
}

#[test]
fn a_message_that_is_framed_as_elsewhere_is_told() {
    let start = r#"echo '{"jsonrpc":"2.0","id":"mcptest-1","result":{INTRODUCED}}'"#;
    let no_end = r#"printf '{"jsonrpc":"2.0","id":"mcptest-1","result":{INTRODUCED}}'"#;
    for (server, code, advice) in [
        (shell(no_end, ":"), 3, "what came last on stdout has no newline at its end: `{\"jsonrpc\""),
        (shell(start, r#"printf '{"jsonrpc":"2.0","id":"mcptest-3","result":{}}'"#), 1, "has no newline at its end"),
        (shell(start, r#"printf '{"jsonrpc":"2.0","id":"mcptest-3","result":{}}\r'"#), 1, "ends with `\\r` alone"),
        (shell(start, r#"printf 'Content-Length: 46\r\n\r\n{"jsonrpc":"2.0"'"#), 1, "MCP has no headers"),
        (shell(start, r#"echo '{"jsonrpc":"2.0","id":"mcptest-3","result":{}}' >&2"#), 1, "a message stands on stderr"),
    ] {
        let place = Place::new();
        place.write("a.test.mcp.yml", ONE);
        let args = ["run", "--timeout", "400ms", "--startup-timeout", "10s", "--", "sh", "-c", &server];
        let args =
            if code == 3 { [&["run", "--startup-timeout", "400ms"], &args[5..]].concat() } else { args.to_vec() };
        let said = place.mcptest(&args);
        assert_eq!(said.code, code, "{server}: {}", said.stdout);
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(advice) && !text.contains("raise `timeout`"), "{server}: {}", said.stdout);
    }
}

#[test]
fn an_answer_to_the_handshake_that_is_none_comes_first_among_the_hints() {
    for (answer, advice) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "hint an answer came to id 1, which nobody asked with"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "hint a message came that no client can use: a `result` without `id`"),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"id must be a number"}}"#,
            "hint the server sent an error that names no request: ",
        ),
    ] {
        let place = Place::new();
        place.write("a.test.mcp.yml", ONE);
        let server = format!("echo '{answer}'; cat > /dev/null");
        let said = place.mcptest(&["run", "--startup-timeout", "400ms", "--", "sh", "-c", &server]);
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let hints = [text.find(advice), text.find("hint a slow server needs")];
        assert!(said.code == 3 && hints[0].is_some() && hints[0] < hints[1], "{}", said.stdout);
    }
}

#[test]
fn a_server_that_closes_its_stdin_is_not_waited_for() {
    let start = r#"echo '{"jsonrpc":"2.0","id":"mcptest-1","result":{INTRODUCED}}'"#;
    let closes = r#"exec < /dev/null; echo '{"jsonrpc":"2.0","id":"mcptest-3","result":{}}'; exec sleep 600"#;
    let place = Place::new();
    place.write("mcptest.yml", &format!("command: [sh, -c, {:?}]\nshutdownTimeout: 100ms\n", shell(start, closes)));
    let suite = "tests:\n  - { it: one, ping: true }\n  - { it: two, ping: true, timeout: 600s }\n  - { it: three, ping: true, timeout: 600s }\n";
    place.write("a.test.mcp.yml", suite);
    let (code, report) = place.report(&[]);
    let expected = ["one: passed", "two: faulted (connection_lost)", "three: faulted (connection_lost)"];
    assert_eq!((code, verdicts(&report)), (1, expected.map(str::to_owned).to_vec()));
}

#[test]
fn what_other_clients_need_of_the_handshake_is_noted() {
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    let start = r#"echo '{"jsonrpc":"2.0","id":"mcptest-1","result":{"protocolVersion":"2025-06-18"}}'"#;
    let pong = r#"echo '{"jsonrpc":"2.0","id":"mcptest-3","result":{}}'"#;
    let said = place.mcptest(&["run", "--", "sh", "-c", &shell(start, pong)]);
    let told = |part: &str| said.stdout.contains(part);
    assert!(said.code == 0 && told("has no `capabilities`") && told("has no `serverInfo`"), "{}", said.stdout);
}

#[test]
fn what_the_handshake_was_answered_is_shown() {
    let place = Place::with_fixture(&["--bad-version", "1900-01-01"], ONE);
    let said = place.mcptest(&["run"]);
    let answers = said.stdout.matches("← {").count();
    assert!(said.code == 3 && answers == 1 && said.stdout.contains("\"1900-01-01\""), "{}", said.stdout);
}

#[test]
fn a_server_that_ends_in_peace_at_its_start_is_told_so() {
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    let said = place.mcptest(&["run", "--", "true"]);
    assert!(said.code == 3 && said.stdout.contains("it ended by itself and without an error"), "{}", said.stdout);
}

#[test]
fn what_is_odd_is_told_of_tests_that_pass_too_and_once() {
    let suite = r#"
tests:
  - { it: one, request: { id: 7, method: tools/call, params: { name: noise, arguments: { text: '{"id":7,"result":{}}' } } }, expect: { result: {} } }
  - { it: two, request: { id: 8, method: tools/call, params: { name: noise, arguments: { text: '{"id":8,"result":{}}' } } }, expect: { result: {} } }
"#;
    let said = Place::with_fixture(&[], suite).mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}", said.stdout);
    let odd = "note: the server sent a message that is odd: without `jsonrpc`";
    assert_eq!(said.stdout.matches(odd).count(), 1, "{}", said.stdout);
}

#[test]
fn batches_are_odd_where_the_revision_has_none() {
    for (revision, times) in [("2025-03-26", 0), ("2025-06-18", 1)] {
        let place = Place::with_config(&["--batch"], &format!("protocol: {revision}\n"), ECHO);
        let said = place.mcptest(&["run"]);
        assert_eq!(said.code, 0, "{}", said.stdout);
        assert_eq!(said.stdout.matches("odd: sent in a batch").count(), times, "{}", said.stdout);
    }
}

#[test]
fn a_signal_is_no_exit_code() {
    let suite = "tests:\n  - { it: is killed, close: kill, expect: { exitCode: 0 } }\n";
    let said = Place::with_fixture(&[], suite).mcptest(&["run"]);
    let told = said.stdout.contains("signal 9 (SIGKILL) ended the process, so it has no exit code");
    assert!(said.code == 1 && told, "{}", said.stdout);
    let suite = suite.replace("exitCode: 0", "exitCode: null");
    assert_eq!(Place::with_fixture(&[], &suite).mcptest(&["run"]).code, 0);
}

#[test]
fn json_that_is_no_message_is_noise() {
    let suite = r#"
tools:
  - { it: logs, tool: noise, args: { text: '{"level":30,"msg":"up"}' }, expect: { stdout: clean } }
  - { it: lists, tool: noise, args: { text: "[1]" }, expect: { stdout: clean } }
  - { it: notifies, tool: notify, args: { method: notifications/message, params: {}, count: 1 }, expect: { stdout: clean } }
"#;
    let (code, report) = Place::with_fixture(&[], suite).report(&[]);
    let wanted = ["logs: failed", "lists: failed", "notifies: passed"];
    assert_eq!((code, verdicts(&report)), (1, wanted.map(str::to_owned).to_vec()));
}

#[test]
fn a_script_that_is_not_there_is_named() {
    let place = Place::new();
    place.write("sub/mcptest.yml", "command: sh\nargs: [./sub/server.sh]\n");
    place.write("a.test.mcp.yml", ONE);
    let said = place.mcptest(&["run", "--config", "sub/mcptest.yml"]);
    assert_eq!(said.code, 3, "{}", said.stdout);
    assert!(said.stdout.contains("there is no `./sub/server.sh` in `"), "{}", said.stdout);
}

#[test]
fn how_long_a_server_may_take_to_start_stands_on_the_command_line_too() {
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    let (server, late) = (fixture_server(), "within `startupTimeout` (300ms)");
    let tail = ["--startup-timeout", "300ms", "--", &server, "--no-init-answer"];
    let said = place.mcptest(&[&["run"][..], &tail].concat());
    assert!(said.code == 3 && said.stdout.contains(late), "{}", said.stdout);
    let said = place.mcptest(&[&["call", "ping"][..], &tail].concat());
    assert!(said.code == 3 && said.stderr.contains(late), "{}", said.stderr);
    // What the config says is meant.
    let place = Place::with_config(&["--slow-start", "600"], "startupTimeout: 20s\n", ONE);
    assert_eq!(place.mcptest(&["run", "--startup-timeout", "100ms"]).code, 0);
}

#[test]
fn tests_that_name_none_of_several_servers_are_told_once() {
    let place = Place::new();
    place.write("mcptest.yml", TWO_SERVERS);
    place.write("a.test.mcp.yml", &format!("{ONE}  - {{ it: again, ping: true }}\n  - {{ it: third, ping: true }}\n"));
    place.write("b.test.mcp.yml", ONE);
    let said = place.mcptest(&["check"]);
    assert_eq!(said.code, 2);
    for part in ["3 tests of this file name none, this one first", "this test names none", "\n2 errors found"] {
        assert_eq!(said.stderr.matches(part).count(), 1, "{part}:\n{}", said.stderr);
    }
}

#[test]
fn what_a_broken_config_lacks_is_not_told_again_by_suites() {
    let place = Place::new();
    place.write("mcptest.yml", "servers: { a: { comand: x } }\n");
    place.write("a.test.mcp.yml", &format!("server: b\n{ONE}"));
    for args in [&["check"][..], &["check", "--config", "gone.yml"]] {
        let said = place.mcptest(args);
        assert_eq!(said.code, 2);
        assert!(!said.stderr.contains("no server is named"), "{}", said.stderr);
    }
}

#[test]
fn a_server_of_several_may_have_a_name_for_reports() {
    let place = Place::new();
    let server = Value::from(fixture_server());
    place.write("mcptest.yml", &format!("servers: {{ a: {{ name: The first one, command: {server} }} }}\n"));
    place.write("a.test.mcp.yml", &format!("server: a\n{ONE}"));
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("The first one"), "{}", said.stdout);
    assert_eq!(place.mcptest(&["call", "ping", "--server", "a"]).code, 0);
}

#[test]
fn a_path_without_suites_is_told_beside_others() {
    let place = Place::with_fixture(&[], ONE);
    place.write("empty/readme", "");
    let said = place.mcptest(&["run", "suite.test.mcp.yml", "other*.yml", "empty"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    for path in ["other*.yml", "empty"] {
        assert!(said.stderr.contains(&format!("warning: no suite matches `{path}`")), "{}", said.stderr);
    }
    let said = place.mcptest(&["list", "other*.yml"]);
    assert_eq!(said.code, 7);
    assert!(said.stderr.contains("hint: no file matches `other*.yml`"), "{}", said.stderr);
}

#[test]
fn a_run_without_tests_has_reports_too() {
    let place = Place::with_fixture(&[], ONE);
    let args = ["run", "--json", "--junit", "r.xml", "--filter", "nothing like it"];
    let said = place.mcptest(&args);
    let report: Value = serde_json::from_str(&said.stdout).expect("a report");
    assert_eq!((said.code, &report["exitCode"], &report["summary"]["total"]), (7, &Value::from(7), &Value::from(0)));
    assert!(place.read("r.xml").contains("tests=\"0\""), "{}", place.read("r.xml"));
    let said = place.mcptest(&[&args[..], &["--pass-with-no-tests"]].concat());
    let report: Value = serde_json::from_str(&said.stdout).expect("a report");
    assert_eq!((said.code, &report["exitCode"]), (0, &Value::from(0)));
    assert!(said.stderr.starts_with("note: no test was selected"), "{}", said.stderr);
    assert_eq!(place.read("pids"), "");
}

#[test]
fn the_command_that_runs_failures_again_can_be_copied() {
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    place.write(
        "b.test.mcp.yml",
        "tools:\n  - { it: is wrong, tool: echo, args: { message: hi }, expect: { text: '${x}' } }\n",
    );
    let server = fixture_server();
    let said = place.mcptest(&["run", "--var", "x=y z", "--", &server]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    let again = format!("  mcptest run b.test.mcp.yml --var 'x=y z' -- {server}\n");
    assert!(said.stdout.ends_with(&again), "{}", said.stdout);
}

#[test]
fn a_suite_in_the_place_of_a_command_is_meant_to_be_run() {
    let said = Place::new().mcptest(&["a.test.mcp.yml"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("to run suites, write `mcptest run a.test.mcp.yml`"), "{}", said.stderr);
    assert!(!Place::new().mcptest(&["frobnicate"]).stderr.contains("to run suites"));
}

#[test]
fn a_link_that_leads_nowhere_is_called_one() {
    let place = Place::with_fixture(&[], ONE);
    std::os::unix::fs::symlink("gone.yml", place.path("link.test.mcp.yml")).expect("a link");
    let said = place.mcptest(&["check"]);
    assert_eq!(said.code, 2);
    assert!(
        said.stderr.contains("`link.test.mcp.yml` is a link to `gone.yml`, which does not exist"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_folder_that_cannot_be_looked_into_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_fixture(&[], ONE);
    place.write("closed/b.test.mcp.yml", ONE);
    std::fs::set_permissions(place.path("closed"), std::fs::Permissions::from_mode(0o000)).expect("allowed");
    let open_to_us = std::fs::read_dir(place.path("closed")).is_ok();
    let said = place.mcptest(&["list"]);
    std::fs::set_permissions(place.path("closed"), std::fs::Permissions::from_mode(0o755)).expect("allowed");
    // Whoever may read everything finds the suite.
    let expected = if open_to_us { "2 tests in 2 files" } else { "1 test in 1 file" };
    assert!(said.stdout.contains(expected), "{}{}", said.stdout, said.stderr);
    assert_eq!(said.stderr.contains("warning: suites may be left out: "), !open_to_us, "{}", said.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn what_does_not_fit_on_the_disk_is_no_success() {
    let place = Place::with_fixture(&[], ONE);
    for args in [&["schema", "suite"][..], &["completions", "bash"], &["list"], &["call", "tools/list"]] {
        let mut command = place.command(args);
        let said = said(command.stdout(File::create("/dev/full").expect("a full disk")).output().expect("it runs"));
        assert_eq!(said.code, 2, "{args:?}: {}", said.stderr);
        assert!(said.stderr.contains("error: stdout cannot be written: "), "{args:?}: {}", said.stderr);
    }
}

#[test]
fn the_folder_of_a_server_has_no_capitals() {
    let suite = "tools:\n  - { it: tells, tool: echo, args: { message: '${tmp}' }, expect: { text: { $regex: '/mcptest-[0-9a-f]{10}$' } } }\n";
    assert_eq!(Place::with_fixture(&[], suite).report(&[]).0, 0);
}

#[test]
fn a_hint_tells_where_the_values_are_and_not_what_is_known() {
    let place = Place::new();
    place.write(
        "a.test.mcp.yml",
        r#"tools:
  - { it: has JSON, tool: echo, args: { message: '{"n":5}' }, expect: { structured: { n: 5 } } }
  - { it: has words, tool: echo, args: { message: hi }, expect: { structured: { n: 5 } } }
tests:
  - { it: another error, request: { method: no/such }, expect: { response: { error: { code: 1 } } } }
"#,
    );
    let said = place.mcptest(&["run", "--json", "--", &fixture_server()]);
    let report: Value = serde_json::from_str(&said.stdout).expect("a report");
    let hints = |at: usize| report["suites"][0]["tests"][at]["failures"][0]["hints"].to_string();
    assert!(hints(0).contains("its text is JSON: `text: { $json: … }` looks inside"), "{report:#}");
    assert!(hints(1).contains("no `structuredContent`\""), "{report:#}");
    assert!(!hints(2).contains("the answer is an error"), "{report:#}");
}
