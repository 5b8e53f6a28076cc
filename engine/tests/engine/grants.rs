//! Names and grants: nobody gets anything by taking a name, and what a file says of a program holds for that file.

use crate::guests::{cache, guest};
use crate::kit::{Place, Said, fixture_plugin, messages, said, verdicts};
use crate::plugins::suite;
use serde_json::{Value, json};

fn run(place: &Place, args: &[&str]) -> Said {
    let mut command = place.command(&[&["run"], args].concat());
    command.env("MCPTEST_CACHE_DIR", cache()).env("SECRET_TOKEN", "s3cr3t-value");
    said(command.output().expect("the binary runs"))
}

fn report(place: &Place, args: &[&str]) -> Value {
    let Said { stdout, stderr, .. } = run(place, &[&["--json"], args].concat());
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

/// A folder with a `plugin.toml` that calls itself `lookup` and runs the hostile guest.
fn stranger(place: &Place, folder: &str) {
    let head = "[plugin]\nid = \"lookup\"\nversion = \"1\"\nkind = \"transform\"\nruntime = \"in_process\"\n";
    place.write(&format!("{folder}/plugin.toml"), &format!("{head}entry_point = \"hostile.wasm\"\n"));
    std::fs::copy(guest("hostile"), place.path(folder).join("hostile.wasm")).expect("a copy");
}

const PLAIN: &str = "tools: [{ it: a, tool: echo, args: { message: hi } }]\n";

#[test]
fn a_plugin_cannot_take_a_name() {
    let place = Place::with_config(&[], "extensions: { lookup: ./hostile.wasm }\n", PLAIN);
    std::fs::copy(guest("hostile"), place.path("hostile.wasm")).expect("a copy");
    ["p", "q"].iter().for_each(|folder| stranger(&place, folder));
    let config = place.read("mcptest.yml");
    let without = config.replace("extensions:", "x-none:");
    let list = without.clone() + "plugins: [./p, ./q]\n";
    for (config, plugins) in [(&config, &["p"][..]), (&without, &["p", "q"]), (&list, &[])] {
        place.write("mcptest.yml", config);
        let args: Vec<&str> = plugins.iter().flat_map(|plugin| ["--plugin", plugin]).collect();
        let said = run(&place, &args);
        assert_eq!(said.code, 2, "{plugins:?}: {}", said.stderr);
        assert!(said.stderr.contains("there are two extensions called `lookup`"), "{plugins:?}: {}", said.stderr);
    }
    place.write("mcptest.yml", &without);
    let said = run(&place, &["--plugin", "p", "--plugin", "./p", "--transform", "lookup"]);
    assert_eq!(said.code, 0, "one that is named twice is one: {}", said.stderr);
}

#[test]
fn a_suite_cannot_take_a_name() {
    let asks = "{ it: asks, tool: echo, args: { message: hi }, expect: { text: { $lookup: { do: environment } } } }";
    let import = |argv: Value| {
        format!("imports: {{ subprocess_matchers: {{ lookup: {{ command: {argv} }} }} }}\ntools: [{asks}]\n")
    };
    let place = Place::with_fixture(&[], &import(json!([fixture_plugin()])));
    let config = place.read("mcptest.yml");
    let allow = ["--allow", "lookup=env:SECRET_TOKEN"];
    assert!(messages(&report(&place, &allow))[0].contains("SECRET_TOKEN"), "nobody else has the name");
    let bound = json!([fixture_plugin(), "--bound"]);
    place.write("mcptest.yml", &format!("{config}plugins: {{ lookup: {{ command: {bound}, tools: [hostile] }} }}\n"));
    let messages = messages(&report(&place, &allow));
    assert!(messages[0].contains("PATH=") && !messages[0].contains("SECRET_TOKEN"), "the config's: {messages:?}");
    place.write("mcptest.yml", &config);
    place.write("other.test.mcp.yml", &import(json!([fixture_plugin(), "--careful"])));
    let said = run(&place, &allow);
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert!(said.stderr.contains("is called `lookup`, and so is another extension"), "{}", said.stderr);
    assert!(said.stderr.contains("in the config's `plugins`"), "{}", said.stderr);
    place.write("other.test.mcp.yml", &import(json!([fixture_plugin()])));
    assert_eq!(run(&place, &allow).code, 1, "the same program in two files is one");
}

#[test]
fn the_time_of_an_import_is_that_of_its_file() {
    let place = Place::with_fixture(&[], "");
    for (file, timeout) in [("a", "60s"), ("suite", "500ms")] {
        let entry = json!({ "command": [fixture_plugin()], "timeout": timeout });
        let imports = json!({ "subprocess_matchers": { "hostile": entry } });
        let text = suite(&format!("imports: {imports}"), &["{ do: late, ms: 2000 }"]);
        place.write(&format!("{file}.test.mcp.yml"), &text);
    }
    assert_eq!(verdicts(&report(&place, &[])), ["1: passed", "1: faulted (timeout)"]);
}

#[test]
fn a_plugin_in_process_is_told_where_its_time_is_written() {
    let place = Place::with_config(&[], "plugins: { bad: { manifest: ., timeout: 400ms } }\n", &suite("", &["loop"]));
    std::fs::copy(guest("hostile"), place.path("hostile.wasm")).expect("a copy");
    let head = "[plugin]\nid = \"hostile\"\nversion = \"1\"\nkind = \"matcher\"\nruntime = \"in_process\"\n";
    place.write("plugin.toml", &format!("{head}entry_point = \"hostile.wasm\"\n"));
    let report = report(&place, &[]).to_string();
    assert!(report.contains("did not end `evaluate` within 400ms"), "{report}");
    assert!(report.contains("raise its `timeout` in the config's `plugins`"), "{report}");
}
