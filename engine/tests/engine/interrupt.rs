//! Ctrl-C and SIGTERM: a report, exit code 130, and nothing left running.

use crate::kit::{Place, said};
use rustix::process::{Pid, Signal, kill_process};
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
