//! A folder with files in it, the binary run there, and what it said.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder of its own for one test.
pub(crate) struct Place {
    folder: TempDir,
}

/// What a run said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The scripted server.
pub(crate) fn fixture_server() -> String {
    example("fixture-server")
}

/// The scripted plugin.
pub(crate) fn fixture_plugin() -> String {
    example("fixture-plugin")
}

fn example(name: &str) -> String {
    let mut path = std::env::current_exe().expect("the test binary has a path");
    path.pop();
    path.pop();
    path.push("examples");
    path.push(name);
    path.to_str().expect("the path is text").to_owned()
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { folder: TempDir::new().expect("a temporary folder") }
    }

    /// A place with a config for the scripted server with these flags, and a suite.
    pub(crate) fn with_fixture(flags: &[&str], suite: &str) -> Place {
        Place::with_config(flags, "", suite)
    }

    /// The same, with further lines in the config.
    pub(crate) fn with_config(flags: &[&str], lines: &str, suite: &str) -> Place {
        let place = Place::new();
        let mut args: Vec<Value> = flags.iter().map(|flag| Value::from(*flag)).collect();
        args.extend(["--pid-file".into(), place.path("pids").to_str().expect("text").into()]);
        let command = Value::from(fixture_server());
        place.write("mcptest.yml", &format!("name: fixture\ncommand: {command}\nargs: {}\n{lines}", Value::from(args)));
        place.write("suite.test.mcp.yml", suite);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits until a file has so many lines.
    pub(crate) fn await_lines(&self, name: &str, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.read(name).lines().count() < count {
            assert!(Instant::now() < deadline, "`{name}` never had {count} lines");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
        command.args(args).current_dir(self.folder.path()).env_remove("CI").env("NO_COLOR", "1");
        command
    }

    pub(crate) fn mcptest(&self, args: &[&str]) -> Said {
        said(self.command(args).output().expect("the binary runs"))
    }

    /// Runs with `--json`, and gives the report.
    pub(crate) fn report(&self, args: &[&str]) -> (i32, Value) {
        let said = self.mcptest(&[&["run", "--json"], args].concat());
        let report = serde_json::from_str(&said.stdout)
            .unwrap_or_else(|error| panic!("no report ({error}):\n{}\n{}", said.stdout, said.stderr));
        (said.code, report)
    }

    /// Every process that the scripted server wrote down is gone.
    pub(crate) fn assert_nothing_left(&self) {
        let pids = self.read("pids");
        let deadline = Instant::now() + Duration::from_secs(10);
        for pid in pids.lines().filter_map(|line| line.trim().parse::<u32>().ok()) {
            while is_running(pid) {
                assert!(Instant::now() < deadline, "process {pid} is still running");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// The scripted server over HTTP, started by the test; it ends with it.
pub(crate) struct Running {
    child: Child,
    pub(crate) port: u16,
}

impl Running {
    pub(crate) fn new(mode: &str) -> Running {
        let mut running = Running::start(&["--http", "0", "--http-mode", mode]);
        let mut ready = String::new();
        let stderr = running.child.stderr.take().expect("stderr");
        BufReader::new(stderr).read_line(&mut ready).expect("a line");
        let port = ready.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        running.port = port.unwrap_or_else(|| panic!("no port in {ready:?}"));
        running
    }

    /// The same with these flags, without waiting for it to listen.
    pub(crate) fn start(flags: &[&str]) -> Running {
        let mut command = Command::new(fixture_server());
        command.args(flags).stdin(Stdio::piped()).stderr(Stdio::piped());
        Running { child: command.spawn().expect("the fixture server starts"), port: 0 }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub(crate) fn said(output: Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Whether a process is there and is no zombie.
pub(crate) fn is_running(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) else {
        return cfg!(not(target_os = "linux"))
            && Command::new("kill").args(["-0", &pid.to_string()]).status().is_ok_and(|s| s.success());
    };
    !status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// `name: status (code)` of every test, in order.
pub(crate) fn verdicts(report: &Value) -> Vec<String> {
    let tests = report["suites"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|suite| suite["tests"].as_array().into_iter().flatten());
    tests
        .map(|test| {
            let codes: Vec<&str> = test["failures"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|failure| failure["code"].as_str())
                .collect();
            let codes = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
            format!("{}: {}{codes}", test["it"].as_str().unwrap_or("?"), test["status"].as_str().unwrap_or("?"))
        })
        .collect()
}

/// The messages of every failure, in order.
pub(crate) fn messages(report: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for suite in report["suites"].as_array().into_iter().flatten() {
        for test in suite["tests"].as_array().into_iter().flatten() {
            for failure in test["failures"].as_array().into_iter().flatten() {
                found.push(failure["message"].as_str().unwrap_or("?").to_owned());
            }
        }
    }
    found
}
