use super::*;
use crate::child::Grace;
use crate::suite::{Action, Answer, Body, Close, Field, Listing, Reference};
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

const EVERYTHING: &str = include_str!("../../../tests/valid/everything.test.mcp.yml");

fn suite(text: &str) -> Suite {
    let source = Source::new("dir/a.test.mcp.yml", "dir/a.test.mcp.yml", text.to_owned());
    let mut diagnostics = Diagnostics::default();
    let suite = parse(&source, &Setting::default(), &mut diagnostics);
    assert!(diagnostics.list.is_empty(), "{}", diagnostics.render(false));
    suite.expect("a suite")
}

fn case(text: &str) -> Case {
    suite(&format!("tests:\n  - {text}")).cases.remove(0)
}

fn single(text: &str) -> crate::suite::Step {
    match case(&format!("{{it: a, {text}}}")).body {
        Body::Single(step) => *step,
        body => panic!("{body:?}"),
    }
}

#[test]
fn lanes_and_tests_keep_the_order_of_the_document() {
    let suite = suite(
        "tools: [{it: a, tool: x}, {it: b, tool: x}]\ntests: [{it: c, ping: true}]\nevals: [1]\nprompts: [{it: d, prompt: x}]",
    );
    let order: Vec<(Lane, &str)> = suite.cases.iter().map(|case| (case.lane, case.name.as_str())).collect();
    assert_eq!(order, [(Lane::Tools, "a"), (Lane::Tools, "b"), (Lane::Tests, "c"), (Lane::Prompts, "d")]);
    assert_eq!(suite.unsupported.len(), 1);
    assert_eq!(&*suite.description, "a.test.mcp.yml");
}

#[test]
fn compliance_is_a_lane_and_the_rules_it_names() {
    for text in ["[a, {rule: b}, {other: c}]", "{rules: [a, b], level: strict}"] {
        let suite = suite(&format!("compliance: {text}"));
        let rules: Vec<Option<&str>> = suite.unsupported.iter().map(|found| found.rule.as_deref()).collect();
        assert_eq!(rules, [None, Some("a"), Some("b")], "{text}");
    }
    assert_eq!(suite("compliance: {}\nagents: [a]").unsupported.len(), 2);
}

#[test]
fn every_key_is_read() {
    let suite = suite(EVERYTHING);
    assert_eq!(&*suite.description, "Filesystem server");
    assert_eq!((suite.before.len(), suite.after.len(), suite.cases.len()), (1, 0, 10));
    assert_eq!(suite.variables[0].name, "root");
    let Some(ServerChoice::Inline(server)) = &suite.server else { panic!("{:?}", suite.server) };
    assert_eq!(
        (&*server.name, server.command.as_str(), &server.args[..]),
        ("fs", "node", &["fs.js".to_owned(), "8080".into()][..])
    );
    assert_eq!(server.env, [("A".to_owned(), "1".to_owned())]);
    assert_eq!((server.startup_timeout, server.timeout), (Duration::from_secs(30), Duration::from_secs(10)));
    assert_eq!((server.shutdown, server.max_line), (Grace::each(Duration::from_millis(500)), 1 << 20));
    assert_eq!(server.protocol.revision(), Some("2025-06-18"));
    assert_eq!(server.client, json!({"roots": {}, "sampling": {"tools": {}}}));
    let answers = &suite.respond.entries[0];
    assert_eq!(answers.method, "elicitation/create");
    assert!(matches!(
        answers.answers[..],
        [
            Answer::Result(_),
            Answer::Error(_),
            Answer::Ignore,
            Answer::Accept(None),
            Answer::Accept(Some(_)),
            Answer::Result(_),
            Answer::Result(_)
        ]
    ));
    let third = &suite.cases[2];
    assert_eq!(
        (third.skip.as_deref(), third.retry, third.repeat, third.restart, third.handshake),
        (Some(""), 1, 2, true, false)
    );
    let several = &suite.cases[5];
    assert_eq!(several.tags, ["a", "b"]);
    let rows = several.each.as_ref().expect("rows");
    assert_eq!((rows[0].values[0].0.as_str(), rows[1].values[0].0.as_str()), ("n", "row"));
    let [write, read] = several.body.steps() else { panic!("{:?}", several.body) };
    assert_eq!((write.label.as_deref(), write.output_schema, read.output_schema), (Some("writes"), false, true));
    assert_eq!((read.captures[1].name.as_str(), read.captures[1].all), ("all", true));
    let fields: Vec<Field> = read.expect.iter().map(|expectation| expectation.field).collect();
    assert_eq!(fields, [Field::Checks, Field::Files, Field::Notifications, Field::Requests, Field::ExitCode]);
    assert!(matches!(suite.cases[6].body, Body::Parallel(_)));
}

#[test]
fn actions_become_what_they_say() {
    let request = single("request: {id: null, method: '${m}'}").action;
    assert!(matches!(request, Action::Request(node) if node.to_json() == json!({"id": null, "method": "${m}"})));
    assert!(matches!(single("raw: '{'").action, Action::Raw(_)));
    assert!(matches!(single("raw: {base64: 'e3 0K'}").action, Action::Bytes(bytes) if bytes == b"{}\n"));
    assert!(matches!(single("tool: t").action, Action::Tool { args: None, .. }));
    assert!(matches!(single("tool: t, args: '${row}'").action, Action::Tool { args: Some(_), .. }));
    assert!(matches!(single("list: templates").action, Action::List(Listing::Templates)));
    assert!(matches!(single("close: kill").action, Action::Close(Close::Kill)));
    assert!(matches!(single("wait: 250").action, Action::Wait(time) if time == Duration::from_millis(250)));
    let complete = single("complete: {template: 'a://{b}', argument: b, value: ''}").action;
    assert!(matches!(complete, Action::Complete { reference: Reference::Template(_), context: None, .. }));
}

#[test]
fn rows_come_from_files_beside_the_suite() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("rows.csv", "\u{feff}name, n,ok,empty\n\"a,b\",1.50,true,\n007,-3,TRUE,99999999999999999999\n");
    write("rows.json", "[{\"a\": [1, {\"b\": null}]}, 5]");
    let text = "tests: [{it: a, ping: true, each: rows.csv}, {it: b, ping: true, each: rows.json}]";
    let source = Source::new("a.test.mcp.yml", folder.path().join("a.test.mcp.yml"), text.to_owned());
    let mut diagnostics = Diagnostics::default();
    let suite = parse(&source, &Setting::default(), &mut diagnostics).expect("a suite");
    assert!(diagnostics.list.is_empty(), "{}", diagnostics.render(false));
    let rows = |case: usize| -> Vec<serde_json::Value> {
        let rows = suite.cases[case].each.as_ref().expect("rows");
        rows.iter().map(|row| row.values.iter().map(|(name, node)| (name.clone(), node.to_json())).collect()).collect()
    };
    assert_eq!(rows(0)[0], json!({"name": "a,b", "n": 1.5, "ok": true, "empty": ""}));
    assert_eq!(rows(0)[1], json!({"name": "007", "n": -3, "ok": "TRUE", "empty": "99999999999999999999"}));
    assert_eq!(rows(1), [json!({"a": [1, {"b": null}]}), json!({"row": 5})]);
    let row = &suite.cases[1].each.as_ref().expect("rows")[0].values[0].1;
    assert_eq!(source.slice(row.span), "rows.json");
}

#[test]
fn a_lenient_suite_warns_of_strays_and_still_fails_on_errors() {
    let source = Source::new("a.yml", "a.yml", "tests: [{it: a, ping: true, stray: 1}, {it: b, pin: true}]".into());
    let setting = Setting { lenient: true, ..Setting::default() };
    let mut diagnostics = Diagnostics::default();
    parse(&source, &setting, &mut diagnostics);
    let messages: Vec<&str> = diagnostics.list.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        messages,
        ["unknown key `stray` in a test, ignored", "a test needs an action", "unknown key `pin` in a test, ignored"]
    );
}

proptest! {
    #[test]
    fn no_damage_to_a_suite_makes_it_panic(from in 0..EVERYTHING.len(), length in 0..40usize, with in "[-{}\\[\\]:,&*!|'\" \\n$a0~]{0,6}") {
        let mut text = EVERYTHING.as_bytes().to_vec();
        let end = (from + length).min(text.len());
        text.splice(from..end, with.bytes());
        if let Ok(text) = String::from_utf8(text) {
            parse_text(&text).render(true);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        parse_text(&text);
    }
}
