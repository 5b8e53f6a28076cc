//! SIGKILL, which leaves the binary no time for anything: its servers and plugins are gone soon after it all the same.

use crate::kit::{Place, fixture_server};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Ends only by SIGKILL, with a child in its group and one that left it.
const STUBBORN: [&str; 4] = ["--ignore-eof", "--ignore-term", "--fork-child", "--setsid-child"];
const SLOW: &str = "tools:\n  - { it: hangs, tool: sleep, args: { ms: 60000 }, timeout: 60s }\n";
/// By this variable every process that a test started is found, however it was orphaned.
const MARK: &str = "MCPTEST_KILLED_TEST";
/// How long a tree may outlive the binary: the guard's graces, and a slow machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn start(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    command.env(MARK, mark(place)).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the binary runs")
}

fn mark(place: &Place) -> String {
    place.path("").display().to_string()
}

/// The processes of a place, zombies not counted: those show no environment.
#[cfg(target_os = "linux")]
fn running(place: &Place) -> Vec<String> {
    let wanted = format!("{MARK}={}", mark(place));
    let processes = std::fs::read_dir("/proc").expect("processes").flatten().map(|entry| entry.path());
    let carries = |folder: &Path| {
        let environ = std::fs::read(folder.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let name = |folder: &Path| std::fs::read_to_string(folder.join("cmdline")).unwrap_or_default().replace('\0', " ");
    processes.filter(|folder| carries(folder)).map(|folder| format!("{} {}", folder.display(), name(&folder))).collect()
}

/// What the scripted server wrote down is all that can be found elsewhere.
#[cfg(not(target_os = "linux"))]
fn running(place: &Place) -> Vec<String> {
    let pids = place.read("pids");
    let pids = pids.lines().filter(|pid| pid.trim().parse().is_ok_and(crate::kit::is_running));
    pids.map(str::to_owned).collect()
}

fn kill(place: &Place, mut child: Child) {
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    assert_nothing_runs(place);
}

fn assert_nothing_runs(place: &Place) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = running(place);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still running: {left:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn await_pids(place: &Place, count: usize) {
    let deadline = Instant::now() + PATIENCE;
    while place.read("pids").lines().count() < count {
        assert!(Instant::now() < deadline, "the server never started");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn no_command_leaves_a_server_behind() {
    let with = |flags: &[&str]| Place::with_fixture(&[&STUBBORN, flags].concat(), SLOW);
    let two = with(&[]);
    two.write("other.test.mcp.yml", SLOW);
    let commands: [(Place, &[&str], usize); 5] = [
        (with(&[]), &["run"], 3),
        (with(&["--no-init-answer"]), &["run"], 3),
        (two, &["run", "-j", "2"], 6),
        (with(&[]), &["call", "sleep", "ms:=60000"], 3),
        (with(&["--hang-on", "tools/list"]), &["discover"], 3),
    ];
    for (place, args, processes) in commands {
        let child = start(&place, args);
        await_pids(&place, processes);
        kill(&place, child);
    }
}

#[test]
fn nor_does_it_leave_a_plugin() {
    let suite = "tools:\n  - { it: hangs, ping: true, expect: { result: { $stuck: 1 } } }\n";
    let place = Place::with_fixture(&[], suite);
    let script =
        "#!/bin/sh\ntrap '' TERM\nsetsid sleep 1000 &\necho $! >> pids\necho $$ >> pids\nwhile :; do sleep 1; done\n";
    place.write("stuck", script);
    let status = Command::new("chmod").args(["+x", "stuck"]).current_dir(place.path("")).status().expect("chmod runs");
    assert!(status.success());
    let child = start(&place, &["run", "--plugin", "./stuck", "--timeout", "60s"]);
    await_pids(&place, 3);
    kill(&place, child);
}

#[test]
fn whatever_the_moment() {
    at_once((0..60).step_by(5), |milliseconds| {
        let place = Place::with_fixture(&STUBBORN, SLOW);
        let child = start(&place, &["run"]);
        std::thread::sleep(Duration::from_millis(milliseconds));
        kill(&place, child);

        let place = Place::new();
        let mut child = start(&place, &["exec", "--connection-server", "--server-command", &stubborn(&place)]);
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"mcp.call","params":{"tool":"sleep","arguments":{"ms":60000}}}"#;
        writeln!(child.stdin.as_mut().expect("a pipe"), "{call}").expect("the binary reads");
        std::thread::sleep(Duration::from_millis(milliseconds));
        kill(&place, child);
    });
}

/// The command of a server that writes down its processes.
fn stubborn(place: &Place) -> String {
    format!("{} {} --pid-file {}", fixture_server(), STUBBORN.join(" "), place.path("pids").display())
}

/// Side by side, because each waits most of the time.
fn at_once(moments: impl IntoIterator<Item = u64>, test: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        for milliseconds in moments {
            let test = &test;
            scope.spawn(move || test(milliseconds));
        }
    });
}

#[test]
fn in_the_middle_of_a_shutdown_too() {
    at_once([0, 5, 50, 500], |milliseconds| {
        let place = Place::new();
        let mut child = start(&place, &["exec", "--connection-server", "--server-command", &stubborn(&place)]);
        let mut stdin = child.stdin.take().expect("a pipe");
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"mcp.initialize"}}"#).expect("the binary reads");
        await_pids(&place, 3);
        drop(stdin);
        std::thread::sleep(Duration::from_millis(milliseconds));
        kill(&place, child);
    });
}

#[test]
fn an_sdk_that_is_gone_at_any_moment_takes_everything_along() {
    at_once((0..60).step_by(10), |milliseconds| {
        let place = Place::new();
        let mut child = start(&place, &["exec", "--connection-server", "--server-command", &stubborn(&place)]);
        let mut stdin = child.stdin.take().expect("a pipe");
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"mcp.initialize"}}"#).expect("the binary reads");
        std::thread::sleep(Duration::from_millis(milliseconds));
        drop(stdin);
        child.wait().expect("it ends");
        assert_nothing_runs(&place);
    });
}
