//! What authors of plugins are told: `extension inspect` asks the plugin itself, `extension check` sends what nobody should.

use crate::backends::service;
use crate::kit::{Place, Said, fixture_plugin};
use serde_json::{Value, json};

const RUNTIMES: [&str; 4] = ["bare", "subprocess", "mcp_stdio", "mcp_http"];

/// A place with the scripted plugin, on this runtime; and what to call it there.
fn place(runtime: &str, flags: &[&str]) -> (Place, &'static str) {
    let place = Place::new();
    let pids = place.path("pids").to_str().expect("text").to_owned();
    let mut argv = vec![fixture_plugin(), "--pid-file".to_owned(), pids];
    argv.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let head = "[plugin]\nid = \"bad\"\nversion = \"2.0.0\"\nkind = \"matcher\"\ntools = [\"hostile\"]\n";
    let table = match runtime {
        "bare" => {
            place.write("hostile", &format!("#!/bin/sh\nexec {}\n", argv.join(" ")));
            crate::plugins::executable(&place, "hostile");
            return (place, "hostile");
        }
        "mcp_http" => format!("url = \"http://{}/mcp\"\n", service(&place, flags)),
        _ => {
            argv.push(if runtime == "subprocess" { "--bound" } else { "--mcp" }.to_owned());
            format!("command = {}\n", json!(argv))
        }
    };
    place.write("plugin.toml", &format!("{head}runtime = \"{runtime}\"\n[plugin.{runtime}]\n{table}"));
    (place, "plugin.toml")
}

fn author(runtime: &str, flags: &[&str], command: &[&str]) -> Said {
    let (place, name) = place(runtime, flags);
    let said = place.mcptest(&[&["extension"], command, &[name]].concat());
    place.assert_nothing_left();
    said
}

#[test]
fn a_careful_plugin_passes_the_check_on_every_runtime() {
    for runtime in RUNTIMES {
        let said = author(runtime, &["--careful"], &["check"]);
        assert_eq!(said.code, 0, "{runtime}: {}{}", said.stdout, said.stderr);
        let held: Vec<&str> = said.stdout.lines().filter(|line| line.starts_with("✓ ")).collect();
        let has = |line: &str| held.contains(&line);
        assert!(has("✓ a method that it does not have"), "{runtime}: {}", said.stdout);
        assert_eq!(has("✓ its handshake"), runtime != "bare", "{runtime}: {}", said.stdout);
        assert_eq!(has("✓ a tool that it does not have"), runtime != "bare", "{runtime}: {}", said.stdout);
        assert_eq!(has("✓ the end of its stdin"), runtime != "mcp_http", "{runtime}: {}", said.stdout);
        let params = held.iter().filter(|line| line.contains("the params ") || line.contains("the arguments ")).count();
        assert!(params >= 4, "{runtime}: {}", said.stdout);
    }
}

#[test]
fn what_a_careless_plugin_does_is_told() {
    // It takes every method for a matcher, and what it does not know kills it.
    for (runtime, words) in [
        ("bare", "✗ `hostile` judging null as null: plugin `hostile` ended before it answered"),
        ("subprocess", "✗ `hostile` judging null as null: plugin `bad` ended before it answered"),
        ("mcp_stdio", "✗ `hostile` judging null as null: plugin `bad` is gone before it answered"),
    ] {
        let said = author(runtime, &[], &["check"]);
        assert_eq!(said.code, 1, "{runtime}: {}{}", said.stdout, said.stderr);
        assert!(said.stdout.contains(words), "{runtime}: {}", said.stdout);
        assert!(said.stdout.contains("-32602"), "{runtime}: what to do about it: {}", said.stdout);
    }
    for runtime in ["bare", "subprocess", "mcp_stdio"] {
        let said = author(runtime, &["--careful", "--ignore-eof"], &["check"]);
        assert_eq!(said.code, 1, "{runtime}: {}{}", said.stdout, said.stderr);
        let words = "✗ the end of its stdin: it did not end within ";
        assert!(said.stdout.contains(words), "{runtime}: {}", said.stdout);
    }
    let said = author("subprocess", &["--careful", "--handshake", "crash"], &["check"]);
    assert_eq!(said.code, 4, "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("(crashed)"), "{}", said.stderr);
}

#[test]
fn inspect_shows_what_the_plugin_says_itself() {
    for runtime in RUNTIMES {
        let said = author(runtime, &[], &["inspect"]);
        assert_eq!(said.code, 0, "{runtime}: {}{}", said.stdout, said.stderr);
        let says = if runtime == "bare" { "says      nothing of itself" } else { "says      hostile 0.1.0, protocol " };
        assert!(said.stdout.contains(says), "{runtime}: {}", said.stdout);
        let exposes = "exposes   hostile, report.observe, report.finish, transform.suite";
        assert_eq!(said.stdout.contains(exposes), runtime != "bare", "{runtime}: {}", said.stdout);
    }
    let said = author("subprocess", &[], &["inspect", "--json"]);
    let shown: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!((&shown["version"], &shown["says"]["version"]), (&json!("2.0.0"), &json!("0.1.0")), "{shown:#}");
    let manifest = json!({ "manifest": { "plugin_id": "near", "plugin_version": "1.0.0", "protocol_version": 1,
        "exposed_tools": ["near"], "capabilities": ["clock"] } });
    let said = author("subprocess", &["--handshake", &manifest.to_string()], &["inspect"]);
    assert_eq!(said.code, 1, "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("asks for  clock"),
        "what it asks for is shown without being granted: {}",
        said.stdout
    );
    assert!(said.stderr.contains("it does not expose `hostile`, which is declared"), "{}", said.stderr);
    let place = Place::new();
    place.write("plugin.toml", "[plugin]\nid = 7\n");
    let said = place.mcptest(&["extension", "inspect", "plugin.toml"]);
    assert!(said.stderr.contains("\n  2 | id = 7\n"), "its lines are lines: {}", said.stderr);
    place.write("near.py", "#!/usr/bin/env python3\n");
    let said = place.mcptest(&["extension", "inspect", "near.py"]);
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert!(said.stderr.contains("once it is executable: `chmod +x near.py`"), "{}", said.stderr);
    let said = author("subprocess", &["--handshake", "refuse"], &["inspect"]);
    assert_eq!(said.code, 4, "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("(handshake_failed)"), "{}", said.stderr);
}
