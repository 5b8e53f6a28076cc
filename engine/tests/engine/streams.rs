//! What comes beside an answer, and answers that never come: progress, cancellation, tasks, subscriptions, levels.

use crate::kit::{Place, messages, verdicts};

fn passes(suite: &str, tests: usize) {
    let place = Place::with_fixture(&[], suite);
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
    assert_eq!(verdicts(&report).len(), tests);
    place.assert_nothing_left();
}

/// A place with the demo server, which takes its time where it is asked to.
fn demo(suite: &str) -> Place {
    let place = Place::new();
    place.write("mcptest.yml", "command: mcptest\nargs: [demo-server]\n");
    place.write("suite.test.mcp.yml", suite);
    place
}

#[test]
fn progress_goes_up_and_belongs_to_the_call_that_asked_for_it() {
    let place = demo(
        r#"
tools:
  - { it: asks for progress by itself, tool: slow, args: { steps: 3, ms: 1 }, expect: { progress: 3 } }
  - { it: looks at it, tool: slow, args: { steps: 2, ms: 1 }, expect: { progress: { $partial: [{ progress: 1, total: 2 }, { progress: 2, total: 2 }], $length: 2 } } }
  - { it: has none, tool: echo, args: { message: x }, expect: { progress: [] } }
  - it: keeps calls apart
    parallel:
      - { tool: slow, args: { steps: 2, ms: 20 }, expect: { progress: { $length: 2 } } }
      - { tool: slow, args: { steps: 4, ms: 10 }, expect: { progress: { $length: 4 } } }
  - it: takes the token that is written
    request: { method: tools/call, params: { name: slow, arguments: { steps: 2, ms: 1 }, _meta: { progressToken: own } } }
    expect: { progress: 2, checks: [{ at: "$.notifications[0].params.progressToken", is: own }], result: { $type: object } }
"#,
    );
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
    let back = r#"
tools:
  - it: goes back
    meta: { progressToken: 7 }
    tool: notify
    args: { method: notifications/progress, params: { progressToken: 7, progress: 2 }, count: 2 }
    expect: { progress: 3 }
"#;
    let (code, report) = Place::with_fixture(&[], back).report(&[]);
    let wanted =
        ["progress went from 2 to 2, and must go up each time", "2 progress notifications came, expected at least 3"];
    assert_eq!((code, messages(&report)), (1, wanted.map(str::to_owned).to_vec()));
}

#[test]
fn a_request_is_taken_back_and_then_no_answer_may_come() {
    let place = demo(
        r#"
tools:
  - { it: after some time, tool: slow, args: { steps: 1000, ms: 20 }, cancelAfter: 50ms, settle: 100ms }
  - { it: after some progress, tool: slow, args: { steps: 1000, ms: 20 }, cancelAfter: { progress: 2 }, settle: 100ms, expect: { progress: 2 } }
  - { it: lives on, tool: echo, args: { message: x }, expect: { text: x } }
"#,
    );
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
    let suite = r#"
tools:
  - { it: answers all the same, tool: sleep, args: { ms: 300 }, cancelAfter: 50ms }
  - { it: is allowed to, tool: sleep, args: { ms: 300 }, cancelAfter: 50ms, expect: { text: slept } }
  - { it: is too fast, tool: echo, args: { message: x }, cancelAfter: 10s }
"#;
    let (code, report) = Place::with_fixture(&[], suite).report(&[]);
    let wanted = [
        "the server answered a request that was taken back",
        "the server answered a request that was taken back",
        "the answer came before the request was taken back, so nothing was cancelled",
    ];
    assert_eq!((code, messages(&report)), (1, wanted.map(str::to_owned).to_vec()));
    let statuses = ["answers all the same: failed", "is allowed to: passed", "is too fast: failed"];
    assert_eq!(verdicts(&report), statuses);
}

#[test]
fn a_request_that_hangs_before_it_is_taken_back_is_a_fault() {
    let suite = r#"
tools:
  - { it: never tells of progress, tool: sleep, args: { ms: 60000 }, timeout: 300ms, cancelAfter: { progress: 2 } }
  - { it: is hoped to be silent, tool: sleep, args: { ms: 60000 }, timeout: 300ms, cancelAfter: { progress: 1 }, expect: { no-response: true } }
  - { it: is too late, tool: sleep, args: { ms: 60000 }, cancelAfter: 60s }
"#;
    let place = Place::with_config(&[], "timeout: 300ms\n", suite);
    let (code, report) = place.report(&[]);
    let faulted = ["never tells of progress", "is hoped to be silent", "is too late"];
    assert_eq!((code, verdicts(&report)), (1, faulted.map(|name| format!("{name}: faulted (timeout)")).to_vec()));
    let hints: Vec<&str> =
        (0..3).filter_map(|at| report["suites"][0]["tests"][at]["failures"][0]["hints"][0].as_str()).collect();
    let wanted = [
        "the request was never taken back: 0 of 2 progress notifications came",
        "the request was never taken back: 0 of 1 progress notification came",
        "the request was never taken back: give the step a `timeout` longer than `cancelAfter`",
    ];
    assert_eq!(hints, wanted);
    place.assert_nothing_left();
}

#[test]
fn a_call_becomes_a_task() {
    passes(
        r#"
tools:
  - it: awaits the result
    tool: echo
    args: { message: hi }
    task: { ttl: 60s }
    expect: { text: hi, task: { status: completed, taskId: task-1, ttl: 60000 } }
  - it: only makes it
    steps:
      - { tool: echo, args: { message: hi }, task: { wait: false }, capture: { id: $.task.taskId }, expect: { task: { status: working } } }
      - { request: { method: tasks/cancel, params: { taskId: "${id}" } }, expect: { result: { $partial: { status: cancelled } } } }
      - { request: { method: tasks/cancel, params: { taskId: "${id}" } }, expect: { error: { code: -32602 } } }
  - { it: makes another, tool: echo, args: { message: hi }, task: true, expect: { text: hi } }
  - { it: lists every page, list: tasks, expect: { result: { tasks: { $length: 3 } } } }
"#,
        4,
    );
    let place = demo("tools: [{ it: a, tool: echo, args: { message: x }, task: true }]");
    let (code, report) = place.report(&[]);
    assert_eq!(
        (code, messages(&report)),
        (1, vec!["the server answered at once, and made no task of the call".to_owned()])
    );
}

#[test]
fn levels_subscriptions_and_templates_are_actions() {
    let place = demo(
        r#"
resources:
  - it: hears of changes, and then no more
    steps:
      - { subscribe: "demo://motd" }
      - { tool: set_motd, args: { text: new }, expect: { notifications: { notifications/resources/updated: [{ uri: "demo://motd" }] } } }
      - { unsubscribe: "demo://motd" }
      - { tool: set_motd, args: { text: newer }, expect: { notifications: { notifications/resources/updated: [] } } }
  - it: hears what is loud enough
    steps:
      - { logLevel: error }
      - { tool: log, args: { level: info, message: quiet }, expect: { notifications: { notifications/message: [] } } }
      - { logLevel: debug }
      - { tool: log, args: { level: info, message: loud }, expect: { notifications: { notifications/message: { $length: 1 } } } }
  - { it: expands a template, template: "demo://greeting/{name}", args: { name: Ada }, expect: { text: "Hello, Ada!" } }
"#,
    );
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
}

#[test]
fn a_task_that_is_not_there_yet_is_not_told_of() {
    passes(
        r#"
tools:
  - it: is told of none
    tool: notify
    args: { method: notifications/tasks/status, params: { status: failed } }
    task: true
    expect: { text: ok, task: { status: completed, taskId: task-1 } }
"#,
        1,
    );
}

#[test]
fn structured_content_that_breaks_its_schema_cites_both() {
    let suite = r#"
tools:
  - { it: keeps to it, tool: typed, args: { value: { n: 1 } } }
  - { it: breaks it, tool: typed, args: { value: { n: one } } }
  - { it: is left alone, tool: typed, args: { value: { n: one } }, outputSchema: ignore }
"#;
    let place = Place::with_fixture(&["--page-size", "3"], suite);
    let (code, report) = place.report(&[]);
    assert_eq!(
        (code, verdicts(&report)),
        (1, ["keeps to it: passed", "breaks it: failed", "is left alone: passed"].map(String::from).to_vec())
    );
    let failure = &report["suites"][0]["tests"][1]["failures"][0];
    assert_eq!(failure["path"], "$.structured.n");
    assert_eq!((&failure["actual"], &failure["expected"]), (&"one".into(), &serde_json::json!({"type": "integer"})));
    assert!(
        failure["message"].as_str().is_some_and(|text| text.contains("`typed` violates its own `outputSchema`")),
        "{failure}"
    );
}

#[test]
fn a_wait_leaves_the_session_as_it_is() {
    let suite = "tools:\n  - { it: waits, steps: [{ ping: true }, { wait: 20ms }, { ping: true }] }\n  - { it: alone, wait: 20ms }\n  - { it: goes on, ping: true }\n";
    let said = demo(suite).mcptest(&["run", "--reporter", "ndjson"]);
    assert_eq!(said.code, 0, "{}", said.stdout);
    assert_eq!(said.stdout.matches("session-opened").count(), 1, "{}", said.stdout);
    let suite = "tools:\n  - it: hears of it\n    steps:\n      - { subscribe: \"demo://motd\" }\n      - { wait: 20ms }\n      - { unsubscribe: \"demo://motd\" }\n";
    let place = demo(suite);
    place.write("mcptest.yml", "command: mcptest\nargs: [demo-server]\nprotocol: modern\n");
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
}

#[test]
fn a_schema_that_cannot_be_listed_is_no_pass() {
    let suite =
        "tools:\n  - { it: is judged, tool: typed, args: { value: { n: 1 } }, expect: { structured: { n: 1 } } }\n";
    let run = |flags: &[&str]| {
        let place = Place::with_config(flags, "timeout: 500ms\nshutdownTimeout: 300ms\n", suite);
        let (code, report) = place.report(&[]);
        place.assert_nothing_left();
        (code, verdicts(&report), messages(&report), place.mcptest(&["run", "-v"]).stdout)
    };
    // `initialize`, `ping` and `tools/call` come before it.
    let (code, verdict, said, _) = run(&["--crash-at", "4"]);
    assert_eq!((code, verdict), (1, vec!["is judged: faulted (crashed)".to_owned()]));
    let wanted = "`tools/list`, asked for the `outputSchema` of `typed`: the server ended before it answered `tools/list` (exit code 70)";
    assert_eq!(said, [wanted]);
    let (code, verdict, said, shown) = run(&["--hang-on", "tools/list"]);
    assert_eq!((code, verdict), (1, vec!["is judged: faulted (timeout)".to_owned()]));
    assert_eq!(said, ["`tools/list`, asked for the `outputSchema` of `typed`: no answer to `tools/list` within 500ms"]);
    assert!(shown.contains("`outputSchema: ignore` on the step leaves this check out"), "{shown}");
    let (code, verdict, _, shown) = run(&["--refuse", "tools/list"]);
    assert_eq!((code, verdict), (0, vec!["is judged: passed".to_owned()]));
    let note = "structured content is not validated, for the tools cannot be listed: -32603 not today";
    assert!(shown.contains(note), "{shown}");
}

#[test]
fn a_tool_with_a_schema_has_structured_content() {
    let suite = r#"
tools:
  - { it: has it, tool: typed, args: { value: { n: 1 } } }
  - { it: has none, tool: typed, args: { value: 1 } }
  - { it: is left alone, tool: typed, args: { value: 1 }, outputSchema: ignore }
  - { it: declares nothing, tool: echo, args: { message: x } }
"#;
    let (code, report) = Place::with_fixture(&[], suite).report(&[]);
    let wanted = "`typed` declares an `outputSchema`, and the answer has no `structuredContent`";
    assert_eq!((code, messages(&report)), (1, vec![wanted.to_owned()]));
    assert_eq!(verdicts(&report)[1], "has none: failed");
}
