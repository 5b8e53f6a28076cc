//! The suites in `tests/aegis`: every pattern of the mcp-aegis family where it holds, where it does not, and malformed.

use crate::kit::{Place, Said, fixture_server, verdicts};
use serde_json::{Value, json};
use std::path::Path;

fn run(suite: &str, options: &[&str]) -> Said {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/aegis").join(suite);
    let file = file.to_str().expect("the path is text");
    let server = ["--", env!("CARGO_BIN_EXE_mcptest"), "demo-server"];
    Place::new().mcptest(&[&["run", "--json", file], options, &server].concat())
}

/// The tests that did not end in `status`, and how many there are.
fn others(said: &Said, status: &str) -> (Vec<String>, usize) {
    let report: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr));
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    let others = tests.iter().filter(|test| test["status"] != status).map(|test| test["it"].to_string());
    (others.collect(), tests.len())
}

#[test]
fn patterns_hold_where_they_should() {
    let said = run("pass.test.mcp.yml", &[]);
    let (others, total) = others(&said, "passed");
    assert!(others.is_empty() && total > 200 && said.code == 0, "{others:#?}");
}

#[test]
fn patterns_fail_where_they_should() {
    let said = run("fail.test.mcp.yml", &[]);
    let (others, total) = others(&said, "failed");
    assert!(others.is_empty() && total > 200 && said.code == 1, "{others:#?}");
}

#[test]
fn malformed_patterns_are_refused_each_at_its_place() {
    let said = run("malformed.test.mcp.yml", &[]);
    assert_eq!(said.code, 2, "{}", said.stderr);
    let suite = include_str!("../aegis/malformed.test.mcp.yml");
    assert_eq!(said.stderr.matches("error: ").count(), suite.matches("- it: ").count(), "{}", said.stderr);
    assert_eq!(said.stderr.matches("hint: for example: ").count(), suite.matches("- it: ").count(), "{}", said.stderr);
}

#[test]
fn read_leniently_malformed_patterns_fail_their_own_test() {
    let said = run("malformed.test.mcp.yml", &["--lenient"]);
    let (others, total) = others(&said, "failed");
    assert!(others.is_empty() && total > 50 && said.code == 1, "{others:#?}");
}

/// A place with a config of the family, and one suite.
fn family(suite: &str) -> Place {
    let place = Place::new();
    let config = json!({"name": "fixture", "command": fixture_server(), "args": []});
    place.write("aegis.config.json", &config.to_string());
    place.write("suite.test.mcp.yml", suite);
    place
}

fn report(place: &Place) -> (Value, Said) {
    let said = place.mcptest(&["run", "--json", "--config", "aegis.config.json"]);
    (serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr)), said)
}

#[test]
fn an_error_is_as_good_an_answer_as_any_where_none_is_spoken_of() {
    let test = |name: &str, tool: &str, expect: &str| {
        let request =
            format!("{{jsonrpc: '2.0', id: {name}, method: tools/call, params: {{name: {tool}, arguments: {{}}}}}}");
        format!("  - {{it: {name}, request: {request}, {expect}}}\n")
    };
    let mut suite = "description: d\ntests:\n".to_owned();
    for (at, expect) in ["stderr: toBeEmpty", "performance: {maxResponseTime: 30s}", ""].iter().enumerate() {
        suite += &test(&format!("error-{at}"), "nope", &format!("expect: {{{expect}}}"));
        suite += &test(&format!("fails-{at}"), "fail", &format!("expect: {{{expect}}}"));
    }
    suite += &test("more", "nope", "expect: {notifications: {}}");
    suite += &test("nothing", "nope", "tags: [a]");
    let place = family(&suite);
    let passed = (0..3).flat_map(|at| [format!("error-{at}: passed"), format!("fails-{at}: passed")]);
    let wanted: Vec<String> = passed.chain(["more: failed".to_owned(), "nothing: failed".to_owned()]).collect();
    assert_eq!(verdicts(&report(&place).0), wanted);
    std::fs::rename(place.path("aegis.config.json"), place.path("mcptest.json")).expect("a config of our own");
    let said = place.mcptest(&["run", "--json"]);
    let report: Value = serde_json::from_str(&said.stdout).expect("a report");
    assert!(verdicts(&report).iter().all(|verdict| verdict.ends_with("failed")), "{report:#}");
}

#[test]
fn requests_and_answers_are_as_yaml_and_json_of_the_family_have_them() {
    let place = family(
        r#"description: d
tests:
  - it: echoes
    request:
      jsonrpc: "2.0"
      id: 1
      method: tools/call
      params:
        name: echo_json
        arguments: { value: { since: 2024-01-15, quoted: "2024-01-15", smile: "\ud83d\ude00", _id: { $oid: abc } } }
    expect:
      response:
        id: 1
        result:
          match:partial:
            structuredContent:
              since: "2024-01-15T00:00:00.000Z"
              quoted: "2024-01-15"
              smile: "😀"
              _id: { $oid: abc }
"#,
    );
    let (report, said) = report(&place);
    assert_eq!(verdicts(&report), ["echoes: passed"], "{report:#} {}", said.stderr);
    assert!(said.stderr.contains("warning: `$oid` is taken as a key of the answer"), "{}", said.stderr);
}
