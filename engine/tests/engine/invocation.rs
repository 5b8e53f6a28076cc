//! The command line itself: what it refuses, what it prints, where it writes.

use crate::kit::{Place, fixture_server};

const ONE: &str = "description: One\ntests:\n  - { it: pings, ping: true }\n";

#[test]
fn a_command_line_is_enough_of_a_config() {
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    let said = place.mcptest(&["run", "a.test.mcp.yml", "--", &fixture_server()]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 passed"), "{}", said.stdout);
}

#[test]
fn without_a_server_nothing_runs() {
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("`a.test.mcp.yml` has no server to run against"), "{}", said.stderr);
    assert!(said.stderr.contains("hint: "), "{}", said.stderr);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let place = Place::new();
    place.write("a.test.mcp.yml", ONE);
    let said = place.mcptest(&["run", "--", "no-such-program-anywhere"]);
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(said.stdout.contains("no-such-program-anywhere"), "{}", said.stdout);
}

#[test]
fn every_problem_of_every_file_comes_at_once() {
    let place = Place::new();
    place.write(
        "a.test.mcp.yml",
        "tests:\n  - { it: a, ping: true, expct: {} }\n  - { it: b, tool: x, expect: { text: { $regex: '(' } } }\n",
    );
    place.write("b.test.mcp.yml", "tests:\n  - { it: c, tool: x, args: { a: '${nope}' } }\n");
    place.write("mcptest.yml", "command: node\nargss: []\n");
    let said = place.mcptest(&["check"]);
    assert_eq!(said.code, 2);
    for part in ["`expct`", "regex", "`nope`", "`argss`", "4 errors"] {
        assert!(said.stderr.contains(part), "no {part} in:\n{}", said.stderr);
    }
}

#[test]
fn check_and_list_start_nothing() {
    let place = Place::with_fixture(&[], ONE);
    let said = place.mcptest(&["check"]);
    assert_eq!((said.code, said.stdout.as_str()), (0, "1 test in 1 file: no errors\n"));
    let said = place.mcptest(&["list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(list["files"][0]["tests"][0]["id"], "suite.test.mcp.yml#tests/pings");
    assert_eq!(place.read("pids"), "");
}

#[test]
fn reports_go_into_files_beside_the_human_one() {
    let place = Place::with_fixture(&[], ONE);
    let said = place.mcptest(&[
        "run",
        "--reporter",
        "json=out/r.json",
        "--junit",
        "out/r.xml",
        "--reporter",
        "ndjson=out/e.ndjson",
    ]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.contains("1 passed"), "{}", said.stdout);
    let report: serde_json::Value = serde_json::from_str(&place.read("out/r.json")).expect("JSON");
    assert_eq!(report["summary"]["passed"], 1);
    assert!(place.read("out/r.xml").contains("<testcase name=\"pings\""));
    let events = place.read("out/e.ndjson");
    let kinds: Vec<String> = events
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).expect("JSON")["type"].as_str().unwrap_or("?").to_owned()
        })
        .collect();
    let expected = [
        "run-started",
        "test-started",
        "session-opened",
        "step-started",
        "step-finished",
        "test-finished",
        "session-closed",
        "run-finished",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let place = Place::with_fixture(&[], ONE);
    place.write("other.yml", ONE);
    let config = place.read("mcptest.yml");
    for args in [
        &["--junit", "suite.test.mcp.yml"][..],
        &["--reporter", "json=mcptest.yml"],
        &["other.yml", "--junit", "./other.yml"],
        &["--record", "suite.test.mcp.yml"],
        &["--junit", "new.test.mcp.yml"],
        &["other.yml", "--env-file", "vars", "--reporter", "ndjson=vars"],
    ] {
        place.write("vars", "A=1\n");
        let said = place.mcptest(&[&["run"], args].concat());
        assert_eq!(said.code, 2, "{args:?}: {}", said.stderr);
        assert!(said.stderr.contains("would replace what a run reads"), "{args:?}: {}", said.stderr);
    }
    assert_eq!((place.read("suite.test.mcp.yml"), place.read("other.yml")), (ONE.to_owned(), ONE.to_owned()));
    assert_eq!((place.read("mcptest.yml"), place.read("vars")), (config, "A=1\n".to_owned()));
    assert_eq!(place.read("pids"), "");
    assert!(!place.path("new.test.mcp.yml").exists());
}

#[test]
fn secrets_reach_no_report() {
    let canary = "s3cr3t-canary-value";
    let suite = "tools:\n  - { it: leaks, tool: stderr, args: { text: '${env:TOKEN}' }, expect: { text: other, stderr: toBeEmpty } }\n";
    let place = Place::with_config(&[], "secrets: [TOKEN]\nenv: { PASSED_ON: '${OTHER_TOKEN}' }\n", suite);
    let args = [
        "run",
        "-v",
        "--show-frames",
        "--reporter",
        "human",
        "--reporter",
        "json=r.json",
        "--junit",
        "r.xml",
        "--reporter",
        "ndjson=e.ndjson",
    ];
    let mut command = place.command(&args);
    let output = command.env("TOKEN", canary).env("OTHER_TOKEN", "another-canary").output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let said = [output.stdout, output.stderr].concat();
    for text in
        [String::from_utf8_lossy(&said).into_owned(), place.read("r.json"), place.read("r.xml"), place.read("e.ndjson")]
    {
        assert!(!text.contains(canary) && !text.contains("another-canary"), "{text}");
        assert!(!text.is_empty());
    }
}

#[test]
fn secrets_are_hidden_in_patterns_and_in_lists_too() {
    let canary = "c4nary.with+signs(and)more";
    let suite = "tools:\n  - { it: 'named ${env:TOKEN}', tool: echo, args: { message: x }, expect: { text: 'match:^${env:TOKEN}$' } }\n";
    let place =
        Place::with_config(&[], "secrets: [TOKEN]\n", &suite.replace("named", "named \\e[31m").replace('\'', "\""));
    for args in [&["run"][..], &["run", "--json"], &["list"], &["list", "--json"]] {
        let output = place.command(args).env("TOKEN", canary).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("c4nary") && said.contains("[redacted]"), "{args:?}: {said}");
        assert!(!said.contains('\u{1b}'), "{args:?}: {said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let place = Place::with_fixture(&[], ONE);
    let status = std::process::Command::new("sh")
        .args(["-c", "\"$0\" run | true", env!("CARGO_BIN_EXE_mcptest")])
        .current_dir(place.path("."))
        .output()
        .expect("sh runs");
    assert!(!String::from_utf8_lossy(&status.stderr).contains("panic"), "{status:?}");
    place.assert_nothing_left();
}

#[test]
fn schemas_and_completions_are_printed() {
    let place = Place::new();
    for what in ["suite", "config", "event"] {
        let said = place.mcptest(&["schema", what]);
        assert!(serde_json::from_str::<serde_json::Value>(&said.stdout).is_ok(), "{what}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.mcptest(&["completions", shell]).stdout.contains("mcptest"), "{shell}");
    }
}

#[test]
fn a_path_that_nests_without_end_is_refused_wherever_it_stands() {
    let deep = format!("$[?{}@.a{}]", "(".repeat(50_000), ")".repeat(50_000));
    let place = Place::new();
    let at = |check: &str| format!("tests:\n  - it: a\n    ping: true\n    {check}\n");
    for check in [
        format!("expect: {{ checks: [{{ at: '{deep}', is: 1 }}] }}"),
        format!("expect: {{ result: {{ $path: {{ '{deep}': 1 }} }} }}"),
        format!("capture: {{ x: '{deep}' }}"),
    ] {
        place.write("a.test.mcp.yml", &at(&check));
        let said = place.mcptest(&["check", "--", "true"]);
        assert_eq!(said.code, 2, "{}", said.stderr.chars().take(300).collect::<String>());
        assert!(said.stderr.contains("levels deep"), "{}", said.stderr.chars().take(500).collect::<String>());
    }
}
