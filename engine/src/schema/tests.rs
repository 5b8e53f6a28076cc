use super::*;
use crate::diagnostic::Diagnostics;
use crate::event::diff::{Diff, Line, Op};
use crate::event::{
    At, Body, Event, Failure, FailureKind, RunFinished, RunStarted, Status, StepFinished, StepId, Summary, Test,
};
use crate::source::{Json, Source, yaml};
use crate::suite::{Lane, Setting, parse};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

fn valid(schema: &Value, instance: &Json) -> Result<(), String> {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|error| format!("{}: {error}", error.instance_path())).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

fn yaml(text: &str) -> Json {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("a.yml", "a.yml", text.to_owned());
    let node = yaml::parse(&source, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{}", diagnostics.render(false));
    node.expect("a tree").to_json()
}

const EVERYTHING: &str = include_str!("../../tests/valid/everything.test.mcp.yml");

#[test]
fn a_suite_with_every_key_is_valid_and_parses() {
    let source = Source::new("a.test.mcp.yml", "a.test.mcp.yml", EVERYTHING.to_owned());
    let mut diagnostics = Diagnostics::default();
    let suite = parse::parse(&source, &Setting::default(), &mut diagnostics).expect("a suite");
    assert!(diagnostics.list.is_empty(), "{}", diagnostics.render(false));
    assert_eq!(suite.cases.len(), 10);
    assert_eq!(valid(&super::suite(), &yaml(EVERYTHING)), Ok(()));
}

#[test]
fn what_the_parser_refuses_the_schema_refuses() {
    let refused = [
        "tests: []",
        "tests: [{it: a}]",
        "tests: [{ping: true}]",
        "tests: [{it: a, ping: true, list: tools}]",
        "tests: [{it: a, ping: false}]",
        "tests: [{it: a, list: tols}]",
        "tests: [{it: a, wait: soon}]",
        "tests: [{it: a, ping: true, expct: {}}]",
        "tests: [{it: a, ping: true, expect: {resul: 1}}]",
        "tests: [{it: a, ping: true, expect: {checks: [{at: $}]}}]",
        "tests: [{it: a, ping: true, retry: -1}]",
        "tests: [{it: a, steps: [{tags: [x], ping: true}]}]",
        "tests: [{it: a, complete: {prompt: a, template: b, argument: c, value: d}}]",
        "imports: []\ntests: [{it: a, ping: true}]",
        "server: {urls: x}\ntests: [{it: a, ping: true}]",
        "respond: {roots: {}}\ntests: [{it: a, ping: true}]",
    ];
    let schema = super::suite();
    for text in refused {
        assert!(parse::parse_text(text).has_errors(), "the parser takes {text}");
        assert!(valid(&schema, &yaml(text)).is_err(), "the schema takes {text}");
    }
}

#[test]
fn configs_are_valid() {
    let config =
        "command: node\nservers: {a: {command: x}}\nsecrets: [A]\nreporters: [human]\nfixture: x\ncwd: y\nx-note: 1";
    assert_eq!(valid(&super::config(), &yaml(config)), Ok(()));
    assert!(valid(&super::config(), &yaml("comand: node")).is_err());
    assert!(valid(&super::config(), &yaml("command: node\nurls: x")).is_err());
}

/// Tables name every key that the schema has, so it is enough that each table is reached and each key has words.
#[test]
fn every_table_stands_in_a_schema_with_a_description_of_every_key() {
    let tables = [
        &SUITE,
        &CASE,
        &STEP,
        &RAW,
        &COMPLETE,
        &CANCEL_AFTER,
        &TASK,
        &EXPECT,
        &CHECK,
        &PERFORMANCE,
        &ANSWER,
        &SERVER,
        &SHUTDOWN,
        &CLIENT,
    ];
    let schema = super::suite();
    for table in tables {
        let object = if table.name == "suite" { &schema } else { &schema["$defs"][table.name] };
        let properties = object["properties"].as_object().expect(table.name);
        let keys: BTreeSet<&str> = table.keys().map(|key| key.name).collect();
        assert_eq!(properties.keys().map(String::as_str).collect::<BTreeSet<_>>(), keys);
        assert_eq!(keys.len(), table.keys().count(), "a key of `{}` stands twice", table.name);
        assert!(properties.values().all(|property| property["description"].is_string()), "{}", table.name);
    }
    let actions: Vec<&str> = ACTIONS.iter().map(|key| key.name).collect();
    assert_eq!(STEP.one_of[0], actions);
}

#[test]
fn examples_of_keys_are_what_the_keys_take() {
    for table in [&EXPECT, &SERVER, &SHUTDOWN, &COMPLETE, &CHECK, &PERFORMANCE, &CLIENT, &TASK, &CANCEL_AFTER, &ANSWER]
    {
        let schema = json::document(table, "one");
        for key in table.keys() {
            let instance = yaml(&format!("{}: {}", key.name, key.example));
            let mut without_company = schema.clone();
            without_company["required"] = json!([]);
            without_company["allOf"] = json!([{}]);
            assert_eq!(valid(&without_company, &instance), Ok(()), "{}.{}", table.name, key.name);
        }
    }
}

#[test]
fn events_are_valid() {
    let test = Arc::new(Test {
        id: "a#tools/b".into(),
        file: "a".into(),
        suite: "s".into(),
        server: "d".into(),
        lane: Lane::Tools,
        name: "b".into(),
        line: 3,
    });
    let failure = Failure {
        kind: FailureKind::Mismatch,
        message: "no".into(),
        matcher: None,
        path: None,
        expected: None,
        actual: None,
        code: None,
        source: None,
        step: None,
        hints: Vec::new(),
        diff: Some(Diff {
            path: "$".into(),
            lines: vec![Line {
                op: Op::Actual,
                path: "$.a".into(),
                depth: 0,
                text: "a: 1".into(),
                marks: vec![[3, 4]],
            }],
            more: 2,
        }),
        at: At { file: "a".into(), line: 1, column: 1, width: 1, text: "x".into(), cut: 0 },
    };
    let step = StepId { test: test.clone(), number: 1 };
    let bodies = [
        Body::RunStarted(RunStarted { version: "1", files: 1, tests: 1, jobs: 1, seed: None, extensions: Vec::new() }),
        Body::TestStarted { test: test.clone() },
        Body::StepStarted { step: step.clone() },
        Body::StepFinished(StepFinished { step, status: Status::Failed, duration_ms: 0.5, failures: vec![failure] }),
        Body::RunFinished(RunFinished { summary: Summary::default(), exit_code: 1, interrupted: false }),
    ];
    let schema = super::event();
    for body in bodies {
        let event = serde_json::to_value(Event { seq: 1, at: SystemTime::UNIX_EPOCH, body }).expect("an event");
        assert_eq!(valid(&schema, &event), Ok(()), "{event}");
    }
    let wrong = json!({"seq": 1, "at": "x", "type": "log", "data": {"from": "nobody", "text": ""}});
    assert!(valid(&schema, &wrong).is_err());
    assert_eq!(valid(&schema, &json!({"seq": 1, "at": "x", "type": "later", "data": {}})), Ok(()));
}
