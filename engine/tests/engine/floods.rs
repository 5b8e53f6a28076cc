//! Servers that mean harm: they flood without end, and the deadline, the memory and Ctrl-C must hold nevertheless.

use crate::kit::{Place, messages, said, verdicts};
use rustix::process::{Pid, Signal, kill_process};
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
