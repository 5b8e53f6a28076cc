//! Ctrl-C and SIGTERM: a report, exit code 130, and nothing left running, whoever is being waited for.

use crate::backends;
use crate::guests::cache;
use crate::kit::{Place, Said, fixture_plugin, said, verdicts};
use crate::plugins::suite;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

const SLOW: &str =
    "tools:\n  - { it: hangs, tool: sleep, args: { ms: 60000 }, timeout: 60s }\n  - { it: never runs, ping: true }\n";

#[test]
fn a_signal_ends_the_run_with_a_report_and_no_orphan() {
    for (signal, flags) in
        [(Signal::INT, &["--fork-child"][..]), (Signal::TERM, &["--ignore-eof", "--ignore-term", "--setsid-child"])]
    {
        let place = Place::with_fixture(flags, SLOW);
        let mut command = place.command(&["run", "--json"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let deadline = Instant::now() + Duration::from_secs(20);
        while place.read("pids").lines().count() < flags.len().min(2) {
            assert!(Instant::now() < deadline, "the server never started");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(100));
        kill_process(Pid::from_child(&child), signal).expect("a signal can be sent");
        let said = said(child.wait_with_output().expect("it ends"));
        assert_eq!(said.code, 130, "{} {}", said.stdout, said.stderr);
        let report: serde_json::Value = serde_json::from_str(&said.stdout).expect("a report");
        assert_eq!(report["summary"]["total"], 2, "{report:#}");
        assert_eq!(report["summary"]["skipped"], 2, "{report:#}");
        place.assert_nothing_left();
    }
}

/// Nobody reads the report, so whoever writes it waits for ever.
#[test]
fn a_signal_is_heard_while_stdout_is_full() {
    let suite = "tools:\n  - { it: tells much, tool: big, args: { bytes: 600000 } }\n  - { it: hangs, tool: sleep, args: { ms: 600000 }, timeout: 10m }\n";
    let place = Place::with_fixture(&[], suite);
    let mut command = place.command(&["run", "--show-frames", "--reporter", "ndjson"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary runs");
    let mut stdout = child.stdout.take().expect("stdout");
    // The rest of the line is more than a pipe holds.
    stdout.read_exact(&mut [0; 100_000]).expect("the start of a report");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).expect("a signal can be sent");
    place.assert_nothing_left();
    kill_process(pid, Signal::TERM).expect("a signal can be sent");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

/// Runs this, sends a signal when it is `ready`, and gives what it said; nothing that is waited for there would ever come.
fn interrupted(place: &Place, args: &[&str], signal: Signal, ready: impl Fn() -> bool) -> Said {
    let mut command = place.command(args);
    command.env("MCPTEST_CACHE_DIR", cache()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let deadline = Instant::now() + Duration::from_secs(30);
    let until = |what: &str, mut done: Box<dyn FnMut() -> bool + '_>| {
        while !done() {
            assert!(Instant::now() < deadline, "{args:?}: it never {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    until("was ready", Box::new(ready));
    kill_process(Pid::from_child(&child), signal).expect("a signal can be sent");
    until("ended", Box::new(|| child.try_wait().expect("a child").is_some()));
    let said = said(child.wait_with_output().expect("it ended"));
    assert_eq!(said.code, 130, "{args:?}: {}{}", said.stdout, said.stderr);
    place.assert_nothing_left();
    said
}

/// The server under test, and the plugin.
fn both_started(place: &Place) -> bool {
    place.read("pids").lines().count() == 2
}

#[test]
fn a_signal_ends_a_call_of_every_backend() {
    for (backend, signal) in [
        ("bare", Signal::INT),
        ("bound", Signal::TERM),
        ("mcp_stdio", Signal::INT),
        ("mcp_http", Signal::TERM),
        ("component", Signal::INT),
    ] {
        let place = backends::place(backend, &[], false);
        let mark = place.path("mark");
        let program = json!({ "do": "hang", "mark": mark });
        let deed = if backend == "component" { "loop".to_owned() } else { program.to_string() };
        let head = place.read("suite.test.mcp.yml").replace("tools:\n", "");
        place.write("suite.test.mcp.yml", &suite(&head, &[&deed, "pass"]));
        // Long enough for whoever waits for it to be noticed.
        let config =
            place.read("mcptest.yml").replace("bad: ./hostile.wasm", "bad: { path: hostile.wasm, timeout: 1h }");
        place.write("mcptest.yml", &config.replace("60s", "1h"));
        place.write("suite.test.mcp.yml", &place.read("suite.test.mcp.yml").replace("60s", "1h"));
        let begun = Instant::now();
        let ready = || match backend {
            // A guest cannot say that it loops: it has had the time to begin.
            "component" => place.path("pids").exists() && begun.elapsed() > Duration::from_secs(1),
            _ => mark.exists(),
        };
        let said = interrupted(&place, &["run", "--json"], signal, ready);
        let report: Value = serde_json::from_str(&said.stdout).expect("a report");
        assert_eq!(verdicts(&report), ["1: skipped", "2: skipped"], "{backend}: {report:#}");
    }
}

#[test]
fn a_signal_ends_a_handshake() {
    let pids = |place: &Place| place.path("pids").to_str().expect("text").to_owned();
    let place = Place::with_fixture(&[], &suite("", &["pass"]));
    let config = place.read("mcptest.yml");
    let argv = json!([fixture_plugin(), "--bound", "--pid-file", pids(&place), "--handshake", "hang", "--fork"]);
    place.write(
        "mcptest.yml",
        &format!("{config}plugins: {{ bad: {{ command: {argv}, tools: [hostile], timeout: 1h }} }}\n"),
    );
    let three = || place.read("pids").lines().count() == 3;
    let said = interrupted(&place, &["run", "--json"], Signal::TERM, three);
    assert!(said.stdout.contains("\"skipped\":1"), "{}", said.stdout);

    let place = backends::place("mcp_stdio", &["pass"], false);
    let mute = json!(["sh", "-c", format!("echo $$ >> {}; exec sleep 1000", pids(&place))]);
    let manifest = place.read("plugin.toml");
    let before = manifest.lines().take_while(|line| !line.starts_with("command")).collect::<Vec<_>>().join("\n");
    place.write("plugin.toml", &format!("{before}\ncommand = {mute}\nstartup_timeout_sec = 3600\n"));
    let said = interrupted(&place, &["run", "--json"], Signal::INT, || both_started(&place));
    assert!(said.stdout.contains("\"skipped\":1"), "{}", said.stdout);
    for command in ["inspect", "check"] {
        place.write("pids", "");
        let ready = || place.read("pids").lines().count() == 1;
        interrupted(&place, &["extension", command, "plugin.toml"], Signal::INT, ready);
    }
}

#[test]
fn a_signal_ends_a_reporter_and_a_transform() {
    let place = Place::with_fixture(&[], "");
    let (config, pids) = (place.read("mcptest.yml"), place.path("pids").to_str().expect("text").to_owned());
    let argv = json!([fixture_plugin(), "--bound", "--pid-file", pids]);
    let tools = "tools: [report.observe, report.finish, transform.suite], timeout: 1h";
    place.write("mcptest.yml", &format!("{config}plugins: {{ bad: {{ command: {argv}, {tools} }} }}\n"));
    let test = |name: &str| format!("tools:\n  - {{ it: {name}, tool: echo, args: {{ message: hi }} }}\n");
    place.write("suite.test.mcp.yml", &test("report hang"));
    let begun = Instant::now();
    // Every test is done by then, and its end is being reported.
    let ready = || both_started(&place) && begun.elapsed() > Duration::from_secs(1);
    interrupted(&place, &["run", "--reporter", "bad=report.txt"], Signal::INT, ready);

    let mark = place.path("mark");
    let head = format!("x-hostile: hang\nx-mark: {}\nimports: {{ transforms: [bad] }}\n", mark.display());
    place.write("suite.test.mcp.yml", &format!("{head}{}", test("a")));
    for command in ["run", "check", "list"] {
        let _ = std::fs::remove_file(&mark);
        interrupted(&place, &[command], Signal::TERM, || mark.exists());
    }
}
