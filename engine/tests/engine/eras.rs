//! The two eras: how the conversation is opened, what requests carry, and what a server may ask inside of a result.

use crate::kit::{Place, messages, verdicts};
use serde_json::Value;

const ECHO: &str = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, timeout: 3s, expect: { text: hi } }\n";

/// Runs a suite against the scripted server with these flags in this era; the failures' messages.
fn check(flags: &[&str], protocol: &str, suite: &str, code: i32, expected: &[&str]) -> Vec<String> {
    let config = format!("startupTimeout: 10s\nshutdownTimeout: 300ms\nprotocol: {protocol}\n");
    let place = Place::with_config(flags, &config, suite);
    let (exit, report) = place.report(&[]);
    assert_eq!(verdicts(&report), expected, "{flags:?}: {report:#}");
    assert_eq!(exit, code, "{flags:?}");
    place.assert_nothing_left();
    messages(&report)
}

/// The era and the revision of the first session, from the events.
fn opened(flags: &[&str], protocol: &str) -> String {
    let config = format!("startupTimeout: 10s\nshutdownTimeout: 300ms\nprotocol: {protocol}\n");
    let place = Place::with_config(flags, &config, ECHO);
    let said = place.mcptest(&["run", "--reporter", "ndjson"]);
    assert_eq!(said.code, 0, "{flags:?}: {} {}", said.stdout, said.stderr);
    place.assert_nothing_left();
    let events = said.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let opened = events.into_iter().find(|event| event["type"] == "session-opened").expect("a session was opened");
    let text = |key: &str| opened["data"][key].as_str().unwrap_or("none").to_owned();
    format!("{} {}", text("era"), text("protocolVersion"))
}

#[test]
fn auto_commits_to_a_modern_answer_and_takes_everything_else_for_legacy() {
    for (flags, expected) in [
        (&["--modern"][..], "modern 2026-07-28"),
        (&["--modern-only"], "modern 2026-07-28"),
        (&["--modern", "--discover-twice"], "modern 2026-07-28"),
        (&[], "legacy 2025-11-25"),
        (&["--discover-error", "-32602"], "legacy 2025-11-25"),
        (&["--discover-error", "0"], "legacy 2025-11-25"),
        (&["--discover-revisions", "2025-06-18,2025-11-25"], "legacy 2025-11-25"),
        (&["--discover-exits"], "legacy 2025-11-25"),
        (&["--init-once"], "legacy 2025-11-25"),
        (&["--hang-on", "server/discover"], "legacy 2025-11-25"),
    ] {
        assert_eq!(opened(flags, "auto"), expected, "{flags:?}");
    }
}

#[test]
fn a_server_that_is_slow_to_start_is_no_legacy_server() {
    assert_eq!(opened(&["--modern", "--slow-start", "2500"], "auto"), "modern 2026-07-28");
}

#[test]
fn an_era_that_is_named_is_the_era_that_is_spoken() {
    assert_eq!(opened(&["--modern"], "legacy"), "legacy 2025-11-25");
    assert_eq!(opened(&["--modern"], "2025-06-18"), "legacy 2025-06-18");
    assert_eq!(opened(&["--modern"], "modern"), "modern 2026-07-28");
    assert_eq!(opened(&["--modern"], "2026-07-28"), "modern 2026-07-28");
    let faulted = ["echoes: faulted (handshake_failed)"];
    let said = check(&[], "modern", ECHO, 3, &faulted);
    assert!(said[0].contains("does not speak the modern era") && said[0].contains("-32601"), "{said:?}");
    let said = check(&["--modern-only"], "legacy", ECHO, 3, &faulted);
    assert!(said[0].contains("-32022"), "{said:?}");
    let said = check(&["--discover-revisions", "2027-01-01"], "auto", ECHO, 3, &faulted);
    assert!(said[0].contains("2027-01-01") && said[0].contains("2026-07-28"), "{said:?}");
}

#[test]
fn composed_requests_carry_the_metadata_and_written_ones_do_not() {
    let suite = r#"
tools:
  - it: composes
    tool: echo
    args: { message: hi }
    meta: { mine: 1 }
    expect: { stderr: 'match:clientCapabilities":\{\}.*"mine":1' }
  - it: lists
    list: tools
    expect: { stderr: { $contains: 'protocolVersion":"2026-07-28"' } }
  - it: asks for logs from here on
    steps:
      - { logLevel: debug }
      - { tool: echo, args: { message: hi }, expect: { stderr: { $contains: 'logLevel":"debug"' } } }
tests:
  - it: sends what is written
    request: { method: tools/list }
    expect: { error: { code: -32602 } }
  - it: writes the metadata too
    request: { method: tools/list, params: { _meta: "${session:meta}" } }
    expect: { result: { $partial: { tools: { $length: { $gt: 0 } } } } }
  - it: needs no handshake
    handshake: false
    tool: echo
    args: { message: hi }
    expect: { text: hi }
"#;
    let passed = [
        "composes: passed",
        "lists: passed",
        "asks for logs from here on: passed",
        "sends what is written: passed",
        "writes the metadata too: passed",
        "needs no handshake: passed",
    ];
    check(&["--modern"], "modern", suite, 0, &passed);
}

#[test]
fn what_the_modern_era_removed_is_said_before_anything_runs_or_at_the_step() {
    let suite = "tests:\n  - { it: pings, ping: true }\n";
    let place = Place::with_config(&["--modern"], "protocol: modern\n", suite);
    let said = place.mcptest(&["check"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(said.stderr.contains("the modern era has no `ping`"), "{}", said.stderr);
    let said = check(&["--modern"], "auto", suite, 1, &["pings: failed"]);
    assert!(said[0].contains("the modern era has no `ping`"), "{said:?}");
}

const ASKING: &str = "respond: { elicitation: { result: { action: accept, content: { n: 1 } } } }\ntools:\n  - it: asks\n    tool: echo\n    args: { message: hi }\n";

#[test]
fn questions_are_answered_from_the_script_round_by_round() {
    let expect = r#"    expect:
      text: { $json: { q: { action: accept, content: { n: 1 } } } }
      requests: { elicitation/create: [{ message: question 1 }, { message: question 2 }, { message: question 3 }] }
"#;
    check(&["--modern", "--ask-rounds", "3"], "modern", &format!("{ASKING}{expect}"), 0, &["asks: passed"]);
}

#[test]
fn questions_that_never_end_cost_one_verdict() {
    let said =
        check(&["--modern", "--ask-rounds", "1000000"], "modern", ASKING, 1, &["asks: faulted (malformed_response)"]);
    assert!(said[0].contains("never came to an end"), "{said:?}");
}

#[test]
fn a_question_that_nothing_answers_is_the_outcome() {
    let unscripted = "tools:\n  - it: asks\n    tool: echo\n    args: { message: hi }\n";
    let flags = ["--modern", "--ask-rounds", "1"];
    let said = check(&flags, "modern", unscripted, 1, &["asks: failed"]);
    assert_eq!(said[0], "the server asks for input, and nothing answers `elicitation/create`");
    let expected = format!("{unscripted}    expect: {{ result: {{ $partial: {{ resultType: input_required }} }} }}\n");
    check(&flags, "modern", &expected, 0, &["asks: passed"]);
    let refused = format!("{ASKING}    respond: {{ elicitation: {{ error: {{ code: -1, message: no }} }} }}\n");
    let said = check(&flags, "modern", &refused, 1, &["asks: failed"]);
    assert!(said[0].contains("cannot tell a server that `elicitation/create` failed"), "{said:?}");
    let ignored = format!("{ASKING}    respond: {{ elicitation: {{ ignore: true }} }}\n");
    let said = check(&flags, "modern", &ignored, 1, &["asks: failed"]);
    assert!(said[0].contains("ignores all of it"), "{said:?}");
}

/// A call of `echo` as a task, with these lines more.
fn as_task(lines: &str) -> String {
    format!("tools:\n  - it: works\n    tool: echo\n    args: {{ message: hi }}\n    task: true\n{lines}")
}

#[test]
fn a_call_that_became_a_task_is_polled_to_its_end() {
    let polled = |mode: &str, lines: &str| {
        check(&["--modern", "--polled", mode], "modern", &as_task(lines), 0, &["works: passed"]);
    };
    polled("done", "    expect: { text: hi, task: { status: completed, taskId: task-1 } }\n");
    polled("fails", "    expect: { error: { code: -32050 }, task: { status: failed } }\n");
    polled("cancelled", "    expect: { result: { $partial: { status: cancelled } }, task: { status: cancelled } }\n");
    let asked = r#"    expect:
      text: { $json: { q: { action: accept } } }
      requests: { elicitation/create: [{ message: which? }] }
"#;
    let suite = format!("respond: {{ elicitation: {{ result: {{ action: accept }} }} }}\n{}", as_task(asked));
    check(&["--modern", "--polled", "asks"], "modern", &suite, 0, &["works: passed"]);
}

#[test]
fn the_task_alone_is_expected_without_waiting() {
    let suite = r#"tools:
  - it: works
    steps:
      - tool: echo
        args: { message: hi }
        task: { wait: false }
        expect: { task: { status: working } }
        capture: { id: $.task.taskId }
      - request:
          method: tasks/get
          params:
            taskId: "${id}"
            _meta:
              io.modelcontextprotocol/protocolVersion: "2026-07-28"
              io.modelcontextprotocol/clientCapabilities: { extensions: { io.modelcontextprotocol/tasks: {} } }
        expect: { result: { $partial: { status: working, taskId: "${id}" } } }
"#;
    check(&["--modern", "--polled", "done"], "modern", suite, 0, &["works: passed"]);
}

#[test]
fn a_task_that_goes_wrong_costs_one_verdict_and_says_why() {
    for (mode, verdict, why) in [
        ("cancelled", "works: failed", "the task was cancelled"),
        ("asks", "works: failed", "the server asks for input, and nothing answers `elicitation/create`"),
        ("fails", "works: failed", "it broke"),
        ("lost", "works: failed", "no such task"),
        ("odd", "works: faulted (malformed_response)", "a task whose `status` is `dreaming`"),
        ("empty", "works: faulted (malformed_response)", "the task is over and has no `result`"),
        ("nameless", "works: faulted (malformed_response)", "a task without a `taskId`"),
        // It may end between two looks at the task, or in the middle of one.
        ("endless", "works: faulted (timeout)", "still `working`"),
    ] {
        let timeout = if mode == "endless" { "    timeout: 1s\n" } else { "" };
        let said = check(&["--modern", "--polled", mode], "modern", &as_task(timeout), 1, &[verdict]);
        assert!(said.iter().any(|said| said.contains(why)), "{mode}: {said:?}");
    }
    let said = check(&["--modern"], "modern", &as_task(""), 1, &["works: failed"]);
    assert!(said[0].contains("task"), "{said:?}");
    let unasked = "tools:\n  - { it: works, tool: echo, args: { message: hi } }\n";
    let said = check(&["--modern", "--polled", "forced"], "modern", unasked, 1, &["works: failed"]);
    assert_eq!(said[0], "the server made a task of the call");
}

/// The quickstart, unchanged, in both eras.
#[test]
fn the_quickstart_runs_in_both_eras() {
    for protocol in ["legacy", "modern", "auto"] {
        let place = Place::new();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/quickstart");
        for name in ["demo.test.mcp.yml", "asking.test.mcp.yml", "changes.test.mcp.yml"] {
            place.write(name, &std::fs::read_to_string(folder.join(name)).expect("the example is there"));
        }
        place.write(
            "mcptest.yml",
            &format!("name: demo\ncommand: mcptest\nargs: [demo-server]\nprotocol: {protocol}\n"),
        );
        let (code, report) = place.report(&[]);
        let wrong: Vec<String> =
            verdicts(&report).into_iter().filter(|verdict| !verdict.ends_with(": passed")).collect();
        assert!(code == 0 && wrong.is_empty(), "{protocol}: {wrong:?} {:?}", messages(&report));
        assert!(verdicts(&report).len() > 10, "{protocol}");
    }
}
