//! Plugins that are bound with a spec: the handshake, the manifest, the capabilities, and every role.

use crate::kit::{Place, fixture_plugin, messages, verdicts};
use crate::plugins::suite;
use serde_json::{Value, json};

const ALL: &str = "[hostile, report.observe, report.finish, transform.suite]";

/// A place whose config binds the scripted plugin.
fn place(flags: &[&str], more: &str, deeds: &[&str]) -> Place {
    let place = Place::with_fixture(&[], &suite("", deeds));
    let pids = place.path("pids").to_str().expect("text").to_owned();
    let mut argv = vec![fixture_plugin(), "--bound".to_owned(), "--pid-file".to_owned(), pids];
    argv.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let config = place.read("mcptest.yml");
    let more = if more.contains("tools:") { more.to_owned() } else { format!("tools: {ALL}, {more}") };
    place.write("mcptest.yml", &format!("{config}plugins: {{ bad: {{ command: {}, {more} }} }}\n", json!(argv)));
    place
}

fn manifest(change: impl FnOnce(&mut Value)) -> String {
    let mut manifest = json!({"plugin_id": "hostile", "plugin_version": "0.1.0", "protocol_version": 1,
        "exposed_tools": ["hostile"]});
    change(&mut manifest);
    json!({ "manifest": manifest }).to_string()
}

#[test]
fn a_bound_plugin_shakes_hands_and_executes() {
    let place = place(&[], "", &["pass", "fail", "internal", "pass"]);
    let (code, report) = place.report(&[]);
    assert_eq!(verdicts(&report), ["1: passed", "2: failed", "3: faulted (extension_error)", "4: passed"]);
    assert_eq!(code, 1);
    assert_eq!(report["suites"][0]["tests"][2]["failures"][0]["source"], "bad", "the config's name for it");
    assert!(messages(&report)[1].contains("(7): something broke"), "{report:#}");
    let said = place.mcptest(&["run"]);
    assert!(said.stdout.contains("extension bad (") && said.stdout.contains("$hostile"), "{}", said.stdout);
    place.assert_nothing_left();
}

#[test]
fn every_way_a_handshake_fails_has_its_code_and_lasts() {
    let asks = |kind: &str| manifest(|m| m["capabilities"] = json!([kind]));
    let rows: Vec<(String, &str, &str)> = vec![
        ("hang".into(), "timeout: 500ms", "timeout"),
        ("crash".into(), "", "crashed"),
        ("garbage".into(), "", "malformed_response"),
        ("refuse".into(), "", "handshake_failed"),
        ("{}".into(), "", "handshake_failed"),
        (manifest(|m| m["plugin_id"] = json!("")), "", "handshake_failed"),
        (manifest(|m| drop(m.as_object_mut().unwrap().remove("exposed_tools"))), "", "handshake_failed"),
        (manifest(|m| m["capabilities"] = json!(["clock", "clock"])), "", "handshake_failed"),
        (asks(" clock"), "", "handshake_failed"),
        (asks(""), "", "handshake_failed"),
        (manifest(|m| m["protocol_version"] = json!(2)), "", "protocol_version_mismatch"),
        (manifest(|m| m["exposed_tools"] = json!(["other"])), "", "tool_not_exposed"),
        (asks("clock"), "", "capability_not_allowed"),
        (asks("clock"), "capabilities: [random]", "capability_not_allowed"),
        (manifest(|_| ()), "capabilities: [clock]", "capability_not_declared"),
    ];
    std::thread::scope(|scope| {
        for (handshake, more, code) in &rows {
            scope.spawn(move || {
                let place = place(&["--handshake", handshake], more, &["pass", "pass"]);
                let (exit, report) = place.report(&[]);
                let expected = [format!("1: faulted ({code})"), format!("2: faulted ({code})")];
                assert_eq!((verdicts(&report), exit), (expected.to_vec(), 1), "{handshake} {more}: {report:#}");
                place.assert_nothing_left();
                assert_eq!(place.read("pids").lines().count(), 2, "it was started once");
            });
        }
    });
}

#[test]
fn what_it_asks_for_and_gets_is_fine() {
    let asks = manifest(|m| m["capabilities"] = json!(["env:GIVEN"]));
    let granted = place(&["--handshake", &asks], "capabilities: [\"env:GIVEN\", clock]", &["environment"]);
    let mut command = granted.command(&["run", "--json"]);
    let said = crate::kit::said(command.env("GIVEN", "a-gift").env("KEPT", "mine").output().expect("it runs"));
    let report: Value = serde_json::from_str(&said.stdout).expect("a report");
    let environment = &messages(&report)[0];
    let redacted = environment.contains("GIVEN=[redacted]\n");
    assert!(redacted && !environment.contains("KEPT"), "it is there, and no report shows it: {environment}");
    let by_flag = place(&["--handshake", &asks], "", &["pass"]);
    assert_eq!(by_flag.report(&["--allow", "bad=env:GIVEN"]).0, 0);
}

#[test]
fn bare_and_bound_are_told_apart() {
    let place = Place::with_fixture(&[], &suite("", &["pass"]));
    let config = place.read("mcptest.yml");
    place.write(
        "mcptest.yml",
        &format!("{config}plugins: [{{ id: bad, command: {}, tools: [hostile] }}]\n", json!(fixture_plugin())),
    );
    let (_, report) = place.report(&[]);
    // The scripted plugin takes `handshake` for a matcher, and its answer is no manifest.
    assert_eq!(verdicts(&report), ["1: faulted (crashed)"]);
    place.write(
        "mcptest.yml",
        &format!("{config}plugins: {{ bad: {{ command: x, tools: [hostile], protocol_version: 2 }} }}\n"),
    );
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert!(said.stderr.contains("protocol_version_mismatch"), "{}", said.stderr);
}

#[test]
fn reporters_write_what_they_return() {
    let test = |name: &str| format!("  - {{ it: {name}, tool: echo, args: {{ message: hi }} }}\n");
    let place = place(&[], "", &[]);
    place.write(
        "suite.test.mcp.yml",
        &format!("tools:\n{}{}{}", test("first"), test("report pages/a.txt"), test("last")),
    );
    let said = place.mcptest(&["run", "--reporter", "bad=out/report.txt"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(place.read("out/report.txt"), "first\nlast\nfinished\n");
    assert_eq!(place.read("out/report.txt.files/pages/a.txt"), "named\n");
    for name in ["../outside.txt", "panic"] {
        place.write("suite.test.mcp.yml", &format!("tools:\n{}", test(&format!("report {name}"))));
        let said = place.mcptest(&["run", "--reporter", "bad=out/report.txt"]);
        assert_eq!(said.code, 2, "{name}: {}", said.stderr);
        assert!(said.stdout.contains("1 passed"), "{name}: the run itself is fine: {}", said.stdout);
    }
    place.assert_nothing_left();
}

#[test]
fn transforms_rewrite_and_are_read_again() {
    let place = place(&[], "", &[]);
    let suite = |way: &str| {
        format!(
            "x-hostile: {way}\nimports: {{ transforms: [bad] }}\ntools:\n  - {{ it: a, tool: echo, args: {{ message: hi }} }}\n"
        )
    };
    place.write("suite.test.mcp.yml", &suite("rename"));
    let (code, report) = place.report(&[]);
    assert_eq!((code, &report["suites"][0]["description"]), (0, &json!("Renamed")));
    let cases = [
        ("unknown-key", 2, "unknown key `expct`"),
        ("list", 4, "(malformed_response)"),
        ("panic", 4, "(crashed)"),
        ("refuse", 4, "(extension_error)"),
    ];
    for (way, code, words) in cases {
        place.write("suite.test.mcp.yml", &suite(way));
        for command in ["run", "check"] {
            let said = place.mcptest(&[command]);
            assert_eq!(said.code, code, "{way}: {}", said.stderr);
            assert!(said.stderr.contains(words), "{way}: {}", said.stderr);
        }
    }
    place.assert_nothing_left();
}

#[test]
fn a_role_that_it_was_not_bound_for_is_refused() {
    let place = place(&[], "tools: [hostile]", &["pass"]);
    let said = place.mcptest(&["run", "--transform", "bad"]);
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert!(said.stderr.contains("extension `bad` is no transform"), "{}", said.stderr);
}
