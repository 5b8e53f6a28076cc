//! What really crosses the pipe of a plugin, held against the published schema.

use crate::kit::{Place, fixture_plugin};
use crate::plugins::suite;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Takes down what goes in and out.
const TAP: &str = "tee -a requests | \"$@\" | tee -a answers\n";

/// Holds a value against a part of the schema.
fn problem(part: &str, value: &Value) -> Option<String> {
    let mut schema = mcptest_engine::extension::process::schema();
    schema["oneOf"] = json!([{ "$ref": format!("#/$defs/{}", part.replace(' ', "%20")) }]);
    jsonschema::validator_for(&schema).expect("a schema").validate(value).err().map(|error| error.to_string())
}

fn is_message(value: &Value) -> bool {
    jsonschema::validator_for(&mcptest_engine::extension::process::schema()).expect("a schema").is_valid(value)
}

/// Which hook a request calls, as the schema names it.
fn hook(request: &Value) -> String {
    let name = match request["method"].as_str() {
        Some("handshake") => return "handshake".to_owned(),
        Some("execute") => request["params"]["tool"].as_str().expect("a tool"),
        _ => "matcher",
    };
    if name.contains('.') { name.to_owned() } else { "matcher".to_owned() }
}

/// Holds all that was taken down against the schema; gives how often each hook answered with a result and with an error.
fn exchanged(place: &Place) -> BTreeMap<String, [usize; 2]> {
    let lines = |name: &str| -> Vec<Value> {
        place.read(name).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let mut counts = BTreeMap::<String, [usize; 2]>::new();
    let (requests, answers) = (lines("requests"), lines("answers"));
    assert_eq!(requests.len(), answers.len());
    for (at, (request, answer)) in requests.iter().zip(&answers).enumerate() {
        assert_eq!((&request["id"], &answer["id"]), (&json!(at + 1), &json!(at + 1)), "minted, and echoed");
        assert_eq!(problem("request", request), None, "{request}");
        assert_eq!(problem("answer", answer), None, "{answer}");
        assert!(is_message(request) && is_message(answer), "each is one of the two: {request} {answer}");
        let hook = hook(request);
        let count = counts.entry(hook.clone()).or_default();
        if let Some(result) = answer.get("result") {
            assert_eq!(problem(&format!("{hook} result"), result), None, "{answer}");
        }
        count[usize::from(answer.get("error").is_some())] += 1;
    }
    for name in ["requests", "answers"] {
        std::fs::remove_file(place.path(name)).expect("it was there");
    }
    counts
}

/// Runs a suite of these deeds with the plugin in the config, every line taken down.
fn tapped(command: &[&str], tools: &str, suite: &str) -> Place {
    let place = Place::with_fixture(&[], suite);
    place.write("tap.sh", TAP);
    let argv = json!([&["sh", "tap.sh"], command].concat());
    let config = place.read("mcptest.yml");
    place.write("mcptest.yml", &format!("{config}plugins: {{ it: {{ command: {argv}, tools: {tools} }} }}\n"));
    place
}

#[test]
fn every_message_of_a_run_fits_the_schema() {
    let head = "imports: { transforms: [it] }";
    let suite = suite(head, &["pass", "no", "fail", "inside", "internal", "unknown"]);
    let tools = "[hostile, report.observe, report.finish, transform.suite]";
    let place = tapped(&[&fixture_plugin(), "--bound"], tools, &suite);
    let said = place.mcptest(&["run", "--reporter", "it=report.txt"]);
    assert_eq!(said.code, 1, "{}{}", said.stdout, said.stderr);
    assert_eq!(mcptest_engine::extension::PROTOCOL_VERSION, 1);
    let counts = exchanged(&place);
    assert_eq!((counts["handshake"], counts["transform.suite"], counts["report.finish"]), ([1, 0], [1, 0], [1, 0]));
    assert_eq!(counts["matcher"], [4, 2]);
    assert!(counts["report.observe"][0] > 6 && counts.len() == 5, "{counts:?}");
}

#[test]
fn every_message_of_the_examples_fits_the_schema() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/plugins").canonicalize().expect("a folder");
    let (near, notes) = (examples.join("near-python/near.py"), examples.join("notes/notes.py"));
    let test = |it: &str, argument: &str| {
        format!(
            "  - {{ it: {it}, tool: echo, args: {{ message: \"3.1\" }}, expect: {{ text: {{ $near: {argument} }} }} }}\n"
        )
    };
    let tests = [test("near", "[3, 0.2]"), test("far", "[4, 0.2]"), test("wrong", "no")].concat();
    let place = Place::with_fixture(&[], "");
    place.write("tap.sh", TAP);
    let argv = json!(["sh", "tap.sh", "python3", near]);
    let imports = format!("imports: {{ subprocess_matchers: {{ near: {{ command: {argv} }} }} }}");
    place.write("suite.test.mcp.yml", &format!("{imports}\ntools:\n{tests}"));
    assert_eq!(place.mcptest(&["run"]).code, 1);
    assert_eq!(exchanged(&place), BTreeMap::from([("matcher".to_owned(), [2, 1])]));

    let plain = "tools:\n  - { it: a, tool: echo, args: { message: hi } }\n";
    let place = tapped(&["python3", notes.to_str().expect("text")], "[report.observe, report.finish]", plain);
    let said = place.mcptest(&["run", "--reporter", "it=report.txt"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    let counts = exchanged(&place);
    assert_eq!((counts["handshake"], counts["report.finish"], counts.len()), ([1, 0], [1, 0], 3), "{counts:?}");
}

#[test]
fn what_the_host_refuses_the_schema_refuses() {
    for answer in [
        json!({ "id": 1 }),
        json!({ "id": 1, "result": true, "error": { "code": 1, "message": "no" } }),
        json!({ "id": "1", "result": true }),
        json!({ "result": true }),
        json!({ "id": 1, "error": { "code": "x", "message": "no" } }),
        json!([]),
        json!([1, true]),
        json!({ "id": 1, "error": [1, "no"] }),
    ] {
        assert!(problem("answer", &answer).is_some() && !is_message(&answer), "{answer}");
    }
    for verdict in [
        json!(null),
        json!("true"),
        json!(1),
        json!({ "pass": 1 }),
        json!({ "message": "no" }),
        json!({ "pass": true, "x": 1 }),
    ] {
        assert!(problem("verdict", &verdict).is_some(), "{verdict}");
    }
    for outputs in [json!("text"), json!([{ "name": "a" }]), json!([{ "text": "a", "to": "b" }])] {
        assert!(problem("outputs", &outputs).is_some(), "{outputs}");
    }
    let manifest = json!({ "manifest": { "plugin_id": "a", "plugin_version": "1", "protocol_version": 1, "exposed_tools": ["a"] } });
    assert_eq!(problem("handshake result", &manifest), None);
    for (field, value) in [
        ("plugin_id", json!("")),
        ("plugin_version", json!(" 1")),
        ("protocol_version", json!(2)),
        ("exposed_tools", json!(["a", "a"])),
        ("capabilities", json!(["clock "])),
    ] {
        let mut wrong = manifest.clone();
        wrong["manifest"][field] = value;
        assert!(problem("handshake result", &wrong).is_some(), "{wrong}");
    }
}

#[test]
fn the_stored_schema_is_the_printed_one() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas/plugin.json");
    let stored = std::fs::read_to_string(stored).expect("the schema is stored");
    assert_eq!(Place::new().mcptest(&["schema", "plugin"]).stdout, stored, "run `cargo xtask gen`");
}
