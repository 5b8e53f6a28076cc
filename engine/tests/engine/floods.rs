//! Servers that mean harm: they flood without end, and the deadline, the memory and Ctrl-C must hold nevertheless.

use crate::kit::{Place, messages, said, verdicts};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

const QUICK: &str = "startupTimeout: 5s\nshutdownTimeout: 200ms\nrestart: test\n";

/// Steps that make the server write without end; none of them is ever answered.
const FLOODS: [&str; 3] = [
    "tool: notify, args: { method: notifications/message, params: {}, count: 1000000000000 }",
    "tool: pester, args: { method: sampling/createMessage }",
    "tool: pester, args: { method: ping }",
];

#[test]
fn a_flood_without_end_does_not_put_the_deadline_off() {
    let mut suite = "tools:\n".to_owned();
    for (number, flood) in FLOODS.iter().enumerate() {
        suite += &format!("  - {{ it: flood {number}, {flood}, timeout: 300ms }}\n");
    }
    suite += "  - { it: waits, steps: [{ notify: { method: x } }, { wait: 100ms }, { ping: true, settle: 100ms }] }\n";
    let place = Place::with_config(&[], QUICK, &suite);
    let (code, report) = place.report(&[]);
    let faulted = (0..FLOODS.len()).map(|number| format!("flood {number}: faulted (timeout)"));
    assert_eq!(verdicts(&report), faulted.chain(["waits: passed".to_owned()]).collect::<Vec<_>>());
    assert_eq!(code, 1);
    assert!(messages(&report).iter().all(|message| message == "no answer to `tools/call` within 300ms"), "{report:#}");
    place.assert_nothing_left();
}

#[test]
fn a_signal_is_heard_through_a_flood_and_while_a_line_is_being_sent() {
    for flood in FLOODS {
        let suite = format!("tools:\n  - {{ it: floods, {flood} }}\n");
        interrupted(&Place::with_config(&[], QUICK, &suite));
    }
    let place = Place::new();
    place.write("mcptest.yml", "command: [sleep, '1000']\nshutdownTimeout: 200ms\n");
    let line = "m".repeat(1_000_000);
    place.write("a.test.mcp.yml", &format!("tests:\n  - {{ it: is not read, handshake: false, raw: {line} }}\n"));
    interrupted(&place);
}

/// Runs, sends SIGINT once a step is under way, and expects the run to end as an interrupted one.
fn interrupted(place: &Place) {
    let mut command = place.command(&["run", "--timeout", "60s", "--reporter", "ndjson=events"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !place.read("events").contains("step-started") {
        assert!(Instant::now() < deadline, "no step was started");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("a signal can be sent");
    let said = said(child.wait_with_output().expect("it ends"));
    assert_eq!(said.code, 130, "{} {}", said.stdout, said.stderr);
    place.assert_nothing_left();
}

/// What came is shown in a report only as far as a person reads it.
#[test]
fn reports_do_not_grow_with_what_a_server_sends() {
    let text = "m".repeat(500_000);
    let keys: String = (0..30).map(|at| format!("        ? {at}{}\n        : 1\n", "k".repeat(20_000))).collect();
    let suite = format!(
        "tools:
  - {{ it: fails, tool: fail, args: {{ text: {text} }} }}
  - {{ it: sends blocks, tool: echo_json, args: {{ value: [{}] }}, expect: {{ error: {{ code: 1 }} }} }}
  - {{ it: speaks, tool: stderr, args: {{ text: {text} }}, expect: {{ stderr: toBeEmpty }} }}
  - it: sends keys
    tool: echo_json
    expect: {{ structured: {{}} }}
    args:
      value:
{keys}",
        "block, ".repeat(20_000),
    );
    let (code, report) = Place::with_fixture(&[], &suite).report(&[]);
    assert_eq!(code, 1);
    for test in report["suites"][0]["tests"].as_array().expect("tests") {
        let failures: Vec<String> =
            test["failures"].as_array().expect("failures").iter().map(Value::to_string).collect();
        let size: usize = failures.iter().map(String::len).sum();
        assert!(
            test["status"] == "failed" && size < 100_000,
            "{}: {} failures of {size} bytes",
            test["it"],
            failures.len()
        );
    }
}

/// Over HTTP: whatever never ends costs the time of its step, and memory that does not depend on how much came.
#[test]
fn what_never_ends_over_http_stays_within_bounds() {
    const CALL: &str = "tools:\n  - { it: calls, tool: echo, args: { message: hi }, timeout: 2s }\n";
    for (mode, code) in [
        ("endless-body", "connection_lost"),
        ("endless-error", "connection_lost"),
        ("endless-event", "timeout"),
        ("endless-comments", "timeout"),
        ("endless-events", "timeout"),
    ] {
        let place = crate::http::place(mode, "maxLine: 1MiB\n", CALL);
        let begun = Instant::now();
        let (said, peak) = peak(place.command(&["run", "--json"]));
        assert!(begun.elapsed() < Duration::from_secs(30), "{mode} took {:?}", begun.elapsed());
        let report = serde_json::from_str(&said.stdout).expect("a report");
        assert_eq!(verdicts(&report), [format!("calls: faulted ({code})")], "{mode}: {report:#}");
        // What a step keeps of messages is bounded by 128 MiB; the rest is the program.
        assert!(peak < 240 << 20, "{mode} took {} MB", peak >> 20);
        place.assert_nothing_left();
    }
}

/// Over HTTP: an answer of fifty megabytes is held a few times, and one past the limit not at all.
#[test]
fn a_huge_answer_over_http_stays_within_bounds() {
    let suite = "tools:\n  - { it: huge, tool: echo, timeout: 60s, expect: { text: { $length: 52428800 } } }\n";
    for (lines, code, most) in [("", 0, 400), ("maxLine: 1MiB\n", 1, 80)] {
        let place = crate::http::place("huge", lines, suite);
        let (said, peak) = peak(place.command(&["run"]));
        assert_eq!(said.code, code, "{}{}", said.stdout, said.stderr);
        assert!(peak < most << 20, "with {lines:?} it took {} MB", peak >> 20);
    }
}

/// Runs to the end; what was said, and the most memory that was held.
fn peak(mut command: std::process::Command) -> (crate::kit::Said, u64) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let status = format!("/proc/{}/status", child.id());
    let ended = std::thread::spawn(move || said(child.wait_with_output().expect("it ends")));
    let mut peak = 0;
    while !ended.is_finished() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        peak = mark.map_or(peak, |kilobytes: u64| peak.max(kilobytes << 10));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(peak > 0 || cfg!(not(target_os = "linux")), "the memory was seen");
    (ended.join().expect("it ends"), peak)
}
