//! What suites can say: every action and every construct, run for real.

use crate::kit::{Place, messages, verdicts};

fn run(suite: &str) -> (i32, Vec<String>, Vec<String>) {
    let place = Place::with_fixture(&[], suite);
    let (code, report) = place.report(&[]);
    place.assert_nothing_left();
    (code, verdicts(&report), messages(&report))
}

fn passes(suite: &str) {
    let (code, verdicts, messages) = run(suite);
    assert_eq!(code, 0, "{verdicts:#?} {messages:#?}");
}

#[test]
fn every_action_runs() {
    passes(
        r#"
tests:
  - it: request, as written
    request: { jsonrpc: "2.0", id: abc, method: tools/call, params: { name: echo, arguments: { message: hi } } }
    expect: { response: { jsonrpc: "2.0", id: abc, result: { content: [{ type: text, text: hi }] } } }
  - it: request, envelope left out
    request: { method: ping }
    expect: { response: { result: {} } }
  - { it: notify, notify: { method: notifications/anything, params: { a: 1 } } }
  - { it: raw line, raw: '{"jsonrpc":"2.0","id":"r1","method":"ping"}', expect: { response: { $partial: { id: r1 } } } }
  - { it: raw nonsense, raw: 'this is no JSON', expect: { error: { code: -32700 } } }
  - { it: raw silence, raw: '{"jsonrpc":"2.0","method":"notifications/x"}', timeout: 200ms, expect: { no-response: true } }
  - { it: raw bytes, raw: { base64: eyJqc29ucnBjIjoiMi4wIiwiaWQiOjEsIm1ldGhvZCI6InBpbmcifQo= }, expect: { result: {} } }
  - { it: tool, tool: echo, args: { message: a }, expect: { text: a, isError: false, content: [{ type: text, text: a }] } }
  - { it: structured, tool: echo_json, args: { value: { a: [1, null] } }, expect: { structured: { a: [1, null] } } }
  - { it: resource, uri: "fixture://text/abc", expect: { text: abc } }
  - { it: prompt, prompt: greet, args: { name: Ada }, expect: { text: { $contains: Ada } } }
  - { it: list, list: tools, expect: { result: { tools: { $some: { $partial: { name: echo } } } } } }
  - { it: ping, ping: true, expect: { result: {} } }
  - { it: wait, wait: 20ms }
  - { it: close, close: stdin, expect: { exitCode: 0 } }
  - { it: after close, ping: true }
  - { it: kill, close: kill }
  - { it: after kill, ping: true }
"#,
    );
}

#[test]
fn listings_follow_every_page() {
    let suite = "tools:\n  - { it: all, list: tools, expect: { result: { tools: { $length: { $gt: 5 } } } } }\n";
    let place = Place::with_fixture(&["--page-size", "2"], suite);
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn steps_stop_at_the_first_failure_and_parallel_ones_are_judged_each() {
    let (code, verdicts, messages) = run(r#"
tools:
  - it: in order
    steps:
      - { tool: echo, args: { message: a }, expect: { text: a } }
      - { tool: echo, args: { message: b }, expect: { text: x } }
      - { tool: echo, args: { message: c }, expect: { text: y } }
  - it: side by side
    parallel:
      - { tool: echo, args: { message: a }, expect: { text: a } }
      - { tool: echo, args: { message: b }, expect: { text: x } }
      - { tool: echo, args: { message: c }, expect: { text: y } }
"#);
    assert_eq!((code, verdicts), (1, vec!["in order: failed".into(), "side by side: failed".into()]));
    assert_eq!(messages.len(), 3, "{messages:#?}");
}

#[test]
fn parallel_answers_may_come_in_any_order() {
    let place = Place::with_fixture(
        &["--out-of-order"],
        "tools:\n  - it: reversed\n    parallel:\n      - { tool: echo, args: { message: a }, expect: { text: a } }\n      - { tool: echo, args: { message: b }, expect: { text: b } }\n",
    );
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn variables_captures_and_rows_fill_in() {
    let place = Place::with_fixture(
        &[],
        r#"
variables: { who: Ada, greeting: "hi ${who}", pattern: "match:^hi .+$", folder: "${tmp}/x" }
tools:
  - { it: text, tool: echo, args: { message: "${greeting}" }, expect: { text: hi Ada } }
  - { it: a written matcher, tool: echo, args: { message: "${greeting}" }, expect: { text: "${pattern}" } }
  - { it: typed, tool: echo_json, args: { value: { n: "${n}" } }, expect: { structured: { n: 3 } }, capture: { n3: $.structured.n, "all[]": "$.structured.*" } }
  - { it: captured, tool: echo_json, args: { value: { n: "${n3}", all: "${all}" } }, expect: { structured: { n: 3, all: [3] } } }
  - { it: capture a pattern, tool: echo, args: { message: "match:.*" }, capture: { p: $.text } }
  - { it: it stays literal, tool: echo, args: { message: "match:.*" }, expect: { text: "${p}" } }
  - { it: and matches nothing else, tool: echo, args: { message: "anything" }, expect: { text: { $not: "${p}" } } }
  - { it: from outside, tool: echo, args: { message: "${env:OUTSIDE} ${given}" }, expect: { text: "match:^in given$" } }
  - { it: escaped, tool: echo, args: { message: "$${who}" }, expect: { text: "$${who}" } }
  - { it: in a folder of its own, tool: echo, args: { message: "${folder}" }, expect: { text: "match:^/.*/x$" } }
  - it: adds ${a}
    each: [{ a: 1, b: 2 }, { a: 5, b: 6 }]
    tool: echo_json
    args: { value: { sum: ["${a}", "${b}"] } }
    expect: { structured: { sum: ["${a}", "${b}"] } }
  - { it: from a file, each: rows.csv, tool: echo, args: { message: "${name} ${age}" }, expect: { text: "match:^\\w+ \\d+$" } }
"#,
    );
    place.write("rows.csv", "name,age\nAda,36\nAlan,41\n");
    place.write("vars.env", "OUTSIDE=in\n");
    let (code, report) = place.report(&["--var", "n:=3", "--var", "given=given", "--env-file", "vars.env"]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
    let names = verdicts(&report);
    assert!(
        names.contains(&"adds 5: passed".to_owned()) && names.contains(&"from a file [2]: passed".to_owned()),
        "{names:?}"
    );
}

#[test]
fn retries_make_flaky_tests_pass_and_say_so() {
    let suite = "tools:\n  - { it: late once, tool: echo, args: { message: a }, timeout: 300ms, retry: 2, expect: { text: a } }\n  - { it: twice, tool: echo, args: { message: a }, repeat: 3, expect: { text: a } }\n";
    let place = Place::with_fixture(&["--late", "600"], suite);
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (0, vec!["late once: passed".into(), "twice: passed".into()]));
    assert_eq!(report["suites"][0]["tests"][0]["attempts"], 2);
}

#[test]
fn before_and_after_stand_around_the_file() {
    let (code, verdicts, _) = run(
        "before: [{ it: sets up, tool: fail, args: { text: no } }]\nafter: [{ it: takes down, ping: true }]\ntests:\n  - { it: own, ping: true }\n",
    );
    assert_eq!(
        (code, verdicts),
        (1, vec!["sets up: failed".into(), "own: faulted (connection_lost)".into(), "takes down: passed".into()])
    );
}

#[test]
fn lanes_that_cannot_run_are_reported() {
    let (code, verdicts, _) = run("tests: [{ it: own, ping: true }]\nevals: [{ anything: goes }]\nagents: []\n");
    assert_eq!((code, verdicts), (0, vec!["own: passed".into(), "evals: skipped".into(), "agents: skipped".into()]));
}

#[test]
fn an_error_nobody_expects_fails_the_step() {
    let (code, verdicts, messages) = run(
        "tests:\n  - { it: unknown, request: { method: no/such } }\n  - { it: known, request: { method: no/such }, expect: { error: { code: -32601 } } }\ntools:\n  - { it: fails, tool: fail, args: { text: broken } }\n  - { it: may fail, tool: fail, args: { text: broken }, expect: { isError: true, text: broken } }\n",
    );
    assert_eq!(
        (code, verdicts),
        (1, vec!["unknown: failed".into(), "known: passed".into(), "fails: failed".into(), "may fail: passed".into()])
    );
    assert_eq!(
        messages,
        ["the answer is an error: -32601 method not found: no/such", "the answer is an error result: broken"]
    );
}

#[test]
fn failures_say_what_is_there_instead() {
    let place = Place::with_fixture(
        &[],
        r##"
tools:
  - it: names the keyword
    tool: echo_json
    args: { value: { id: nope } }
    expect:
      structured:
        $jsonSchema:
          properties:
            id: { type: string, format: uuid }
  - it: follows the path
    tool: echo_json
    args: { value: { tools: [1] } }
    expect: { checks: [{ at: "$.structured.tool[0]", is: 1 }] }
  - it: is no error
    tool: echo
    args: { message: all is well }
    expect: { isError: true }
  - it: means a pattern
    tool: echo
    args: { message: hello }
    expect: { text: "contains:ell" }
  - it: is made of other letters
    tool: echo
    args: { message: "p\u0430ypal" }
    expect: { text: paypal }
"##,
    );
    let (code, report) = place.report(&[]);
    assert_eq!(code, 1, "{report:#}");
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    let said = |at: usize| {
        let failure = &tests[at]["failures"][0];
        let hint = failure["hints"][0].as_str().unwrap_or_default().to_owned();
        (failure["at"]["line"].as_u64().unwrap_or_default(), hint)
    };
    assert_eq!(said(0), (10, String::new()));
    let hints: Vec<String> = (1..tests.len()).map(|at| said(at).1).collect();
    assert_eq!(
        hints,
        [
            "`$.structured` has no `tool`, and has `tools`",
            "the answer is no error: all is well",
            "if this is meant as a pattern, it is `match:contains:ell`",
            "character 2 is `\u{430}` (U+0430), expected `a` (U+0061)",
        ]
    );
}

#[test]
fn the_servers_requests_are_answered_from_scripts() {
    passes(
        r#"
respond: { sampling: [{ result: { model: m, role: assistant, content: { type: text, text: first } } }, { error: { code: -1, message: enough } }] }
tools:
  - it: asks the model
    tool: ask
    args: { method: sampling/createMessage, params: { maxTokens: 1, messages: [] } }
    expect: { text: { $contains: first }, requests: { sampling/createMessage: [{ maxTokens: 1, messages: [] }] } }
  - it: asks again
    tool: ask
    args: { method: sampling/createMessage }
    expect: { text: { $contains: enough } }
  - it: is answered by the step
    tool: ask
    args: { method: sampling/createMessage }
    respond: { sampling: { result: { inner: true } } }
    expect: { text: { $contains: inner } }
  - it: is refused
    tool: ask
    args: { method: roots/list }
    expect: { text: { $contains: "-32601" } }
"#,
    );
}

#[test]
fn notifications_are_counted_by_method() {
    passes(
        r#"
tools:
  - it: three
    tool: notify
    args: { method: notifications/message, params: { level: info, data: x }, count: 3 }
    settle: 100ms
    expect:
      notifications: { notifications/message: { $length: 3 }, notifications/progress: [] }
      checks: [{ at: "$.notifications[0].params.level", is: info }]
  - it: waits for them
    steps:
      - { tool: echo, args: { message: a } }
      - { wait: 50ms, expect: { notifications: { notifications/message: [] } } }
"#,
    );
}

#[test]
fn several_servers_stand_side_by_side() {
    let place = Place::new();
    let server = serde_json::Value::from(crate::kit::fixture_server());
    place.write(
        "mcptest.yml",
        &format!("servers:\n  one: {{ command: {server} }}\n  two: {{ command: {server}, args: [--noisy-stderr] }}\n"),
    );
    place.write("a.test.mcp.yml", "server: one\ntests:\n  - { it: quiet, ping: true, expect: { stderr: toBeEmpty } }\n  - { it: loud, server: two, ping: true, settle: 200ms, expect: { stderr: { $not: toBeEmpty, $length: { $gt: 0 } } } }\n");
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{report:#}");
    place.write("b.test.mcp.yml", "tests:\n  - { it: whose, ping: true }\n");
    let said = place.mcptest(&["run", "b.test.mcp.yml"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("several servers are defined"), "{}", said.stderr);
}

#[test]
fn without_a_handshake_the_test_speaks_first() {
    passes(
        r#"
tests:
  - it: says hello itself
    handshake: false
    request: { method: initialize, params: { protocolVersion: 2025-06-18, capabilities: {}, clientInfo: { name: t, version: "1" } } }
    expect: { result: { $partial: { protocolVersion: { $type: string } } } }
  - { it: goes on, ping: true }
"#,
    );
}

#[test]
fn files_below_the_temporary_folder_are_judged() {
    let place = Place::with_config(
        &[],
        "fixture: data\n",
        "tests:\n  - { it: sees files, ping: true, expect: { files: { a.txt: hello, sub: [b.txt], nope: { $absent: true }, ../../etc/passwd: { $absent: true } } } }\n",
    );
    place.write("data/a.txt", "hello");
    place.write("data/sub/b.txt", "b");
    let (code, report) = place.report(&[]);
    assert_eq!((code, messages(&report).len()), (1, 1), "{:#?}", messages(&report));
    assert!(messages(&report)[0].contains("outside of `${tmp}`"), "{report:#}");
}

#[test]
fn durations_have_limits() {
    let (code, verdicts, messages) = run(
        "tools:\n  - { it: quick, tool: echo, args: { message: a }, expect: { duration: \"<10s\", performance: { maxResponseTime: 9000 } } }\n  - { it: slow, tool: sleep, args: { ms: 60 }, expect: { duration: \"<50ms\" } }\n",
    );
    assert_eq!((code, verdicts), (1, vec!["quick: passed".into(), "slow: failed".into()]));
    assert!(messages[0].starts_with("the answer took "), "{messages:?}");
}

#[test]
fn a_capture_of_the_same_parallel_is_refused_before_anything_runs() {
    let both = "  - it: both\n    parallel:\n      - { tool: echo, args: { message: a }, capture: { made: $.text } }\n      - { tool: echo, args: { message: \"${made}\" } }\n";
    let place = Place::with_fixture(&[], &format!("tools:\n{both}"));
    let said = place.mcptest(&["check"]);
    assert_eq!(said.code, 2, "{}", said.stdout);
    assert!(said.stderr.contains("`made` is captured by a step of the same `parallel`"), "{}", said.stderr);
    // What an earlier test captured is there.
    passes(&format!(
        "tools:\n  - {{ it: earlier, tool: echo, args: {{ message: b }}, capture: {{ made: $.text }} }}\n{both}"
    ));
}

#[test]
fn names_of_other_tools_lead_to_ours() {
    let place = Place::with_fixture(
        &[],
        "tools:\n  - { it: a, tool: echo, args: { message: a }, expect: { text: { $match: a } } }\n",
    );
    let said = place.mcptest(&["check"]);
    assert!(said.stderr.contains("did you mean `$regex`?"), "{}", said.stderr);
    let suite = "tools:\n  - { it: a, tool: echo, args: { message: a }, expect: { result: { contains: a } } }\n";
    let (_, report) = Place::with_fixture(&[], suite).report(&[]);
    assert!(report.to_string().contains("the matcher is `$contains`"), "{report:#}");
}

#[test]
fn what_was_odd_about_an_answer_stands_beside_a_failure() {
    let suite = "tools:\n  - { it: a, tool: echo, args: { message: a }, expect: { text: b } }\n";
    let place = Place::with_fixture(&["--bom"], suite);
    let said = place.mcptest(&["run"]);
    let odd = "the server sent a message that is odd: a byte order mark stands before it";
    assert_eq!((said.code, said.stdout.contains(odd)), (1, false), "only its first message has one");
    let suite = "tools:\n  - { it: a, handshake: false, request: { method: ping }, expect: { result: b } }\n";
    let said = Place::with_fixture(&["--bom"], suite).mcptest(&["run"]);
    assert!(said.stdout.contains(odd), "{}", said.stdout);
}
