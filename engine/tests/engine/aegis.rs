//! The suites in `tests/aegis`: every pattern of the mcp-aegis family where it holds, where it does not, and malformed.

use crate::kit::{Place, Said};
use serde_json::Value;
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
