//! Cassettes with `mcptest run`: recorded once, played without a server, and honest about what they lack.

use crate::kit::{Place, messages, verdicts};

const SUITE: &str = r#"
description: Everything that a replay has to get right
variables: { file: "${tmp}/a.txt" }
tools:
  - { it: echoes, tool: echo, args: { message: hi }, expect: { text: hi }, capture: { said: $.text } }
  - { it: uses what was captured, tool: echo, args: { message: "${said}!" }, expect: { text: hi! } }
  - { it: says where it runs, tool: echo, args: { message: "${file}" }, expect: { text: "${file}" } }
  - { it: has an output schema, tool: add, args: { a: 2, b: 3 }, expect: { structured: { sum: 5 } } }
  - { it: lists, list: tools, expect: { result: { $partial: { tools: { $length: { $gt: 5 } } } } } }
  - { it: changes, tool: set_motd, args: { text: one } }
resources:
  - { it: reads it, uri: "demo://motd", expect: { text: one } }
  - steps: [{ tool: set_motd, args: { text: two } }, { uri: "demo://motd", expect: { text: two } }]
    it: reads it again
prompts:
  - { it: greets, prompt: greet, args: { name: Ada }, expect: { text: Say hello to Ada. } }
tests:
  - it: asks in its own words
    request: { jsonrpc: "2.0", id: mine, method: tools/call, params: { name: echo, arguments: { message: raw } } }
    expect: { response: { jsonrpc: "2.0", id: mine, result: { content: [{ type: text, text: raw }] } } }
"#;

const DEMO: &str = "name: demo\ncommand: mcptest\nargs: [demo-server]\n";
/// The same server, gone.
const GONE: &str = "name: demo\ncommand: ./no-such-server\n";

fn recorded() -> Place {
    let place = Place::new();
    place.write("mcptest.yml", DEMO);
    place.write("suite.test.mcp.yml", SUITE);
    let (code, report) = place.report(&["--record", "demo.cassette.json"]);
    assert_eq!(code, 0, "{:#?}", messages(&report));
    place
}

#[test]
fn a_replay_needs_no_server_and_says_the_same() {
    let place = recorded();
    let cassette = place.read("demo.cassette.json");
    assert!(cassette.contains("${tmp}/a.txt") && !cassette.contains("/mcptest-"), "{cassette}");
    place.write("mcptest.yml", GONE);
    for _ in 0..2 {
        let (code, report) = place.report(&["--replay", "demo.cassette.json"]);
        assert_eq!(code, 0, "{:#?}", messages(&report));
        assert_eq!(verdicts(&report).len(), 10);
        assert!(verdicts(&report).iter().all(|verdict| verdict.ends_with(": passed")), "{report:#}");
    }
}

#[test]
fn a_replay_needs_no_config_either() {
    let place = recorded();
    std::fs::remove_file(place.path("mcptest.yml")).expect("the config");
    let (code, report) = place.report(&["--replay", "demo.cassette.json"]);
    assert_eq!(code, 0, "{:#?}", messages(&report));
}

#[test]
fn a_server_of_the_config_can_be_a_cassette() {
    let place = recorded();
    place.write("mcptest.yml", "name: demo\ncassette: ./demo.cassette.json\n");
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?}", messages(&report));
}

#[test]
fn a_miss_is_a_fault_that_shows_the_nearest_request() {
    let place = recorded();
    place.write("mcptest.yml", GONE);
    let suite =
        SUITE.replace("message: hi }", "message: hello }").replace("text: hi }, capture", "text: hello }, capture");
    place.write("suite.test.mcp.yml", &suite);
    let (code, report) = place.report(&["--replay", "demo.cassette.json", "--filter", "echoes"]);
    assert_eq!(code, 1);
    assert_eq!(verdicts(&report), ["echoes: faulted (cassette_miss)"]);
    let failure = &report["suites"][0]["tests"][0]["failures"][0];
    assert_eq!(failure["message"], "`demo.cassette.json` has no recording of this `tools/call`");
    let hint = failure["hints"][0].as_str().expect("a hint");
    assert!(hint.contains("recorded `\"hi\"`, asked `\"hello\"`"), "{hint}");
}

#[test]
fn secrets_stay_out_of_a_cassette() {
    let place = Place::new();
    place.write("mcptest.yml", &format!("{DEMO}secrets: [TOKEN]\n"));
    let suite =
        "tools: [{ it: echoes, tool: echo, args: { message: \"${env:TOKEN}\" }, expect: { text: \"${env:TOKEN}\" } }]";
    place.write("suite.test.mcp.yml", suite);
    let run = |args: &[&str]| {
        let mut command = place.command(&[&["run", "--json"], args].concat());
        command.env("TOKEN", "s3cret-of-the-test").output().expect("it runs")
    };
    assert!(run(&["--record", "c.json"]).status.success());
    let cassette = place.read("c.json");
    assert!(cassette.contains("[redacted]") && !cassette.contains("s3cret"), "{cassette}");
    // The secret itself is gone from what is played, so only a test that compares it can tell.
    place.write("suite.test.mcp.yml", &suite.replace(", expect: { text: \"${env:TOKEN}\" }", ""));
    assert!(run(&["--replay", "c.json"]).status.success());
}

#[test]
fn a_corrupt_cassette_is_refused_at_its_place() {
    let place = recorded();
    let cassette = place.read("demo.cassette.json");
    place.write("cut.json", &cassette[..cassette.len() / 2]);
    let said = place.mcptest(&["run", "--replay", "cut.json"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(said.stderr.contains("this is no cassette") && said.stderr.contains("cut.json:"), "{}", said.stderr);
    let said = place.mcptest(&["run", "--replay", "nowhere.json"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_anything_runs() {
    let place = recorded();
    let said = place.mcptest(&["run", "--record", "mcptest.yml/c.json"]);
    assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{}", said.stderr);
    assert!(said.stderr.contains("the cassette `mcptest.yml/c.json` cannot be written: "), "{}", said.stderr);
}

/// Two files ask the same, and hear what they themselves were told: alone, in any order, and at the same time.
#[test]
fn a_part_of_what_was_recorded_plays_as_the_whole_does() {
    let place = Place::new();
    place.write("mcptest.yml", DEMO);
    for name in ["a", "b"] {
        let suite = format!(
            "tools: [{{ it: says {name}, tool: set_motd, args: {{ text: {name} }} }}]\n\
             resources: [{{ it: reads {name}, uri: \"demo://motd\", expect: {{ text: {name} }} }}]\n"
        );
        place.write(&format!("{name}.test.mcp.yml"), &suite);
    }
    assert_eq!(place.report(&["--record", "c.json"]).0, 0);
    place.write("mcptest.yml", GONE);
    for part in [&["b.test.mcp.yml"][..], &["--filter", "reads b"], &["b.test.mcp.yml", "a.test.mcp.yml"], &["-j", "2"]]
    {
        let (code, report) = place.report(&[&["--replay", "c.json"], part].concat());
        assert_eq!(code, 0, "{part:?}: {:#?}", messages(&report));
    }
    assert!(place.read("c.json").contains("\"test\": \"b.test.mcp.yml#resources/reads b\""));
}

#[test]
fn a_crash_is_played_as_a_crash() {
    let suite =
        "tools:\n  - { it: first, tool: echo, args: { text: a } }\n  - { it: second, tool: echo, args: { text: b } }\n";
    let place = Place::with_fixture(&["--crash-at", "4"], suite);
    let (_, report) = place.report(&["--record", "c.json"]);
    let live = verdicts(&report);
    assert!(live.iter().any(|verdict| verdict.contains("crashed")), "{live:?}");
    let (_, report) = place.report(&["--replay", "c.json"]);
    assert_eq!(verdicts(&report), live);
}
