//! One table of behaviour for every backend: the same call has the same verdict or code everywhere, and what the call
//! after a fault comes to is a column per backend.

use crate::guests::{cache, guest};
use crate::kit::{Place, Said, fixture_plugin, said, verdicts};
use crate::plugins::suite;
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The backends, in the order of the columns.
const BACKENDS: [&str; 6] = ["component", "in_process", "bare", "bound", "mcp_stdio", "mcp_http"];

struct Row {
    /// What a component is told, and what a program is.
    deeds: [&'static str; 2],
    outcome: &'static str,
    /// What the next call comes to.
    next: [&'static str; 6],
}

const FINE: [&str; 6] = ["passed"; 6];

const AFTER_A_CRASH: [&str; 6] =
    ["passed", "passed", "faulted (crashed)", "faulted (crashed)", "passed", "faulted (crashed)"];

const TABLE: [Row; 9] = [
    Row { deeds: ["pass", "pass"], outcome: "passed", next: FINE },
    Row { deeds: ["fail", "fail"], outcome: "failed", next: FINE },
    Row { deeds: ["unknown", "unknown"], outcome: "faulted (tool_not_exposed)", next: FINE },
    Row { deeds: ["internal", "internal"], outcome: "faulted (extension_error)", next: FINE },
    Row { deeds: ["garbage-message", "neither"], outcome: "faulted (malformed_response)", next: FINE },
    Row { deeds: ["huge", "huge"], outcome: "faulted (malformed_response)", next: FINE },
    Row { deeds: ["loop", "{ do: late, ms: 3300 }"], outcome: "faulted (timeout)", next: FINE },
    Row { deeds: ["panic", "crash"], outcome: "faulted (crashed)", next: AFTER_A_CRASH },
    // One that closes its stdout and lives on can answer nothing, whatever time it has.
    Row { deeds: ["panic", "close"], outcome: "faulted (crashed)", next: AFTER_A_CRASH },
];

/// A place where `$hostile` runs on this backend, with little time for a call where it is to run out.
pub(crate) fn place(backend: &str, deeds: &[&str], hasty: bool) -> Place {
    let place = Place::with_fixture(&[], &suite("", deeds));
    let config = place.read("mcptest.yml");
    std::fs::copy(guest("hostile"), place.path("hostile.wasm")).expect("a copy");
    let pids = place.path("pids").to_str().expect("text").to_owned();
    let argv = |flag: &[&str]| {
        let mut argv = vec![fixture_plugin()];
        argv.extend(flag.iter().map(|flag| (*flag).to_owned()));
        argv.extend(["--pid-file".to_owned(), pids.clone()]);
        json!(argv)
    };
    let timeout = if hasty { "3s" } else { "60s" };
    let head = "[plugin]\nid = \"bad\"\nversion = \"1.0.0\"\nkind = \"matcher\"\ntools = [\"hostile\"]\n";
    let lines = match backend {
        "component" => "extensions: { bad: ./hostile.wasm }\n".to_owned(),
        "in_process" => {
            place.write("plugin.toml", &format!("{head}runtime = \"in_process\"\nentry_point = \"hostile.wasm\"\n"));
            "plugins: { bad: ./plugin.toml }\n".to_owned()
        }
        "mcp_stdio" => {
            let table = format!("[plugin.mcp_stdio]\ncommand = {}\n", argv(&["--mcp"]));
            place.write("plugin.toml", &format!("{head}runtime = [\"jvm\", \"mcp_stdio\"]\n{table}"));
            format!("plugins: {{ bad: {{ manifest: ., timeout: {timeout} }} }}\n")
        }
        "mcp_http" => {
            let url = format!("http://{}/mcp", service(&place, &[]));
            let table =
                format!("[plugin.mcp_http]\nurl = \"{url}\"\ntimeout_sec = {}\n", timeout.trim_end_matches('s'));
            place.write("plugin.toml", &format!("{head}runtime = \"mcp_http\"\n{table}"));
            "plugins: { bad: . }\n".to_owned()
        }
        "bound" => {
            format!("plugins: {{ bad: {{ command: {}, tools: [hostile], timeout: {timeout} }} }}\n", argv(&["--bound"]))
        }
        _ => {
            let import = format!("{{ hostile: {{ command: {}, timeout: {timeout} }} }}", argv(&[]));
            place.write("suite.test.mcp.yml", &suite(&format!("imports: {{ subprocess_matchers: {import} }}"), deeds));
            String::new()
        }
    };
    place.write("mcptest.yml", &format!("{config}{lines}"));
    place
}

/// Starts the scripted service; it ends with the place.
pub(crate) fn service(place: &Place, flags: &[&str]) -> String {
    let file = place.path("address").to_str().expect("text").to_owned();
    // The shell ends the service when the test's end of the pipe is gone.
    let script = "\"$0\" $2 --http \"$1\" & read -r line; kill $!";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, &fixture_plugin(), &file, &flags.join(" ")]).stdin(Stdio::piped()).stdout(Stdio::null());
    let child = shell.spawn().expect("a shell");
    SERVICES.lock().expect("no panic").push(child);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !place.path("address").exists() {
        assert!(Instant::now() < deadline, "the service does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    place.read("address")
}

/// Held until the tests end.
static SERVICES: Mutex<Vec<Child>> = Mutex::new(Vec::new());

fn report(place: &Place) -> Value {
    let mut command = place.command(&["run", "--json"]);
    let Said { stdout, stderr, .. } =
        said(command.env("MCPTEST_CACHE_DIR", cache()).output().expect("the binary runs"));
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

#[test]
fn every_backend_behaves_alike() {
    std::thread::scope(|scope| {
        for (column, backend) in BACKENDS.iter().enumerate() {
            scope.spawn(move || {
                for row in &TABLE {
                    let deed = row.deeds[usize::from(column >= 2)];
                    let place = place(backend, &["pass", deed, "pass"], row.outcome.contains("timeout"));
                    let report = report(&place);
                    let expected = ["passed", row.outcome, row.next[column]];
                    let expected: Vec<String> =
                        expected.iter().enumerate().map(|(at, one)| format!("{}: {one}", at + 1)).collect();
                    assert_eq!(verdicts(&report), expected, "{backend}, {deed}: {report:#}");
                    place.assert_nothing_left();
                }
            });
        }
    });
}

#[test]
fn an_mcp_server_that_writes_what_is_no_answer_has_its_code() {
    std::thread::scope(|scope| {
        for (deed, outcome, next) in [
            ("half", "faulted (crashed)", "passed"),
            ("binary", "faulted (malformed_response)", "passed"),
            ("wrong-id", "faulted (malformed_response)", "passed"),
            ("flood", "faulted (malformed_response)", "passed"),
            ("twice", "passed", "passed"),
        ] {
            scope.spawn(move || {
                let place = place("mcp_stdio", &["pass", deed, "pass"], outcome.contains("malformed"));
                let report = report(&place);
                let expected = ["1: passed".to_owned(), format!("2: {outcome}"), format!("3: {next}")];
                assert_eq!(verdicts(&report), expected, "{deed}: {report:#}");
                place.assert_nothing_left();
            });
        }
    });
}

#[test]
fn a_late_answer_of_an_mcp_server_says_nothing_of_the_next_call() {
    let late = "{ do: late, ms: 3900 }";
    let place = place("mcp_stdio", &["pass", late, late], true);
    let report = report(&place);
    assert_eq!(verdicts(&report), ["1: passed", "2: faulted (timeout)", "3: faulted (timeout)"], "{report:#}");
    place.assert_nothing_left();
}

#[test]
fn an_mcp_server_that_ignores_the_end_or_forks_is_killed_with_its_children() {
    let place = place("mcp_stdio", &["pass"], false);
    let manifest = place.read("plugin.toml");
    place.write("plugin.toml", &manifest.replace("\"--mcp\"", "\"--mcp\",\"--ignore-eof\",\"--fork\""));
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("note: plugin `bad` did not end within"), "{}", said.stderr);
    assert_eq!(place.read("pids").lines().count(), 3, "two servers, and what one left");
    place.assert_nothing_left();
}

#[test]
fn a_server_that_crashed_is_started_again_and_that_is_told() {
    let place = place("mcp_stdio", &["crash", "crash", "process", "failed", "not-json"], true);
    let said = place.mcptest(&["run", "--reporter", "ndjson"]);
    let events: Vec<Value> = said.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let logs = events.iter().filter(|event| event["type"] == "log" && event["data"]["from"] == "extension");
    let texts: Vec<&str> = logs.filter_map(|event| event["data"]["text"].as_str()).collect();
    assert_eq!(texts, ["bad (warn): is started again after a crash", "bad (warn): is started again after 2 crashes"]);
    let codes: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "test-finished")
        .map(|event| &event["data"]["failures"][0]["code"])
        .collect();
    assert_eq!(
        codes,
        [&json!("crashed"), &json!("crashed"), &Value::Null, &json!("extension_error"), &json!("malformed_response")]
    );
    assert_eq!(place.read("pids").lines().count(), 4, "the server under test, and three starts");
    place.assert_nothing_left();
}

#[test]
fn a_server_that_never_gets_up_is_not_started_for_ever() {
    let place = place("mcp_stdio", &["pass"; 7], false);
    let manifest = place.read("plugin.toml");
    let head = manifest.split("command = ").next().expect("a head");
    place.write("plugin.toml", &format!("{head}command = [\"sh\", \"-c\", \"echo up >> starts; exit 3\"]\n"));
    let report = report(&place);
    assert!(verdicts(&report).iter().all(|verdict| verdict.ends_with("faulted (crashed)")), "{report:#}");
    assert_eq!(place.read("starts").lines().count(), 5, "{report:#}");
    assert_eq!(report.to_string().matches("it ended in 5 starts in a row").count(), 2, "the two last ones: {report:#}");
}

#[test]
fn what_is_said_of_a_slow_or_lost_server_fits_how_it_is_reached() {
    let place = place("mcp_http", &["{ do: late, ms: 3300 }"], true);
    let report = report(&place).to_string();
    assert!(report.contains("raise `timeout_sec`") && !report.contains("stdout"), "{report}");
    let place = self::place("mcp_stdio", &["pass"], false);
    place.write("plugin.toml", &format!("{}working_dir = \"nowhere\"\n", place.read("plugin.toml")));
    let report = self::report(&place).to_string();
    assert!(report.contains("a relative `working_dir`") && !report.contains("`cwd`"), "{report}");
}

#[test]
fn a_server_is_started_as_its_manifest_says() {
    let place = place("mcp_stdio", &["environment", "folder"], false);
    std::fs::create_dir(place.path("sub")).expect("a folder");
    let manifest = place.read("plugin.toml");
    place.write("plugin.toml", &format!("{manifest}working_dir = \"sub\"\nenv = {{ ADDED = \"1\" }}\n"));
    let mut command = place.command(&["run", "--json"]);
    command.env("SECRET_TOKEN", "s3cr3t-value").env("LANG", "C.UTF-8").env("TMPDIR", "/tmp");
    let report: Value = serde_json::from_str(&said(command.output().expect("it runs")).stdout).expect("a report");
    let messages = crate::kit::messages(&report);
    let mut names: Vec<&str> = messages[0].lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    assert_eq!(names, ["ADDED", "HOME", "LANG", "MCPTEST_SESSION", "PATH", "TMPDIR"]);
    assert_eq!(messages[1], place.path("sub").canonicalize().expect("a folder").to_str().expect("text"));
    // One that never answers the handshake has the time that its manifest gives it, not that of a call.
    let head = manifest.split("command = ").next().expect("a head");
    place.write("plugin.toml", &format!("{head}command = [\"sleep\", \"1000\"]\nstartup_timeout_sec = 1\n"));
    let report = self::report(&place);
    assert_eq!(verdicts(&report), ["1: faulted (timeout)", "2: faulted (timeout)"], "{report:#}");
}

#[test]
fn requests_over_http_are_tried_again_and_every_attempt_is_told() {
    for (deed, outcome, attempts) in [
        ("busy", "1: passed", 2),
        ("broken", "1: passed", 2),
        // Whatever it says in a 5xx.
        ("ill", "1: passed", 2),
        ("down", "1: faulted (extension_error)", 3),
        ("forbidden", "1: faulted (extension_error)", 0),
    ] {
        let place = place("mcp_http", &[deed], false);
        let said = place.mcptest(&["run", "--reporter", "ndjson"]);
        let events: Vec<Value> = said.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let logs = events.iter().filter(|event| event["type"] == "log" && event["data"]["from"] == "extension");
        let texts: Vec<&str> = logs.filter_map(|event| event["data"]["text"].as_str()).collect();
        assert_eq!(texts.len(), attempts, "{deed}: {texts:?}");
        for (at, text) in texts.iter().enumerate() {
            assert!(text.starts_with(&format!("bad (warn): attempt {} of 4 in ", at + 2)), "{deed}: {text}");
        }
        let (_, report) = place.report(&[]);
        let after = if ["busy", "broken", "ill"].contains(&deed) { "1: passed" } else { outcome };
        assert_eq!(verdicts(&report), [after], "{deed}: {report:#}");
    }
}

#[test]
fn a_service_that_lost_the_session_gets_a_new_one() {
    let place = place("mcp_http", &["pass", "forgotten", "pass"], false);
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}", said.stdout);
    assert!(said.stdout.contains("bad (warn): has lost the session, and a new one is opened"), "{}", said.stdout);
}

#[test]
fn a_service_that_does_not_listen_is_not_launched() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let place = Place::with_fixture(&[], &suite("", &["pass"]));
    let head = "[plugin]\nid = \"hostile\"\nversion = \"1\"\nkind = \"matcher\"\nruntime = \"mcp_http\"\n";
    place.write("plugin.toml", &format!("{head}[plugin.mcp_http]\nurl = \"http://{free}/mcp\"\n"));
    let (_, report) = place.report(&["--plugin", "."]);
    assert_eq!(verdicts(&report), ["1: faulted (launch_failed)"], "{report:#}");
    assert!(report.to_string().contains("is the server running"), "{report:#}");
}

#[test]
fn a_secret_is_sent_and_never_shown() {
    for (header, sent) in [("Authorization", "Bearer [redacted]"), ("X-Token", "[redacted]")] {
        let place = place("mcp_http", &["credentials"], false);
        let auth = format!("auth_header = \"{header}\"\nauth_secret_env = \"PLUGIN_SECRET\"\n");
        place.write("plugin.toml", &format!("{}{auth}", place.read("plugin.toml")));
        let mut command = place.command(&["run", "--json"]);
        let told = said(command.env("PLUGIN_SECRET", "s3cr3t-value").output().expect("it runs"));
        let report: Value = serde_json::from_str(&told.stdout).expect("a report");
        assert_eq!(crate::kit::messages(&report), [sent], "{report:#}");
        assert!(!told.stdout.contains("s3cr3t-value") && !told.stderr.contains("s3cr3t-value"));
        let manifest = place.read("plugin.toml");
        place.write("plugin.toml", &manifest.replace(header, "a header"));
        let misnamed = said(place.command(&["run"]).env("PLUGIN_SECRET", "s3cr3t-value").output().expect("it runs"));
        assert_eq!(misnamed.code, 4, "{}", misnamed.stderr);
        assert!(misnamed.stderr.contains("`auth_header`: `a header` cannot name a header"), "{}", misnamed.stderr);
        place.write("plugin.toml", &manifest);
        let unset = place.mcptest(&["run"]);
        assert_eq!(unset.code, 4, "{}", unset.stderr);
        assert!(unset.stderr.contains("`PLUGIN_SECRET` is not set"), "{}", unset.stderr);
        for (value, words) in [("", "`PLUGIN_SECRET` is empty"), ("s3cr3t-value\n", "cannot stand in a header")] {
            let mut command = place.command(&["run"]);
            let told = said(command.env("PLUGIN_SECRET", value).output().expect("it runs"));
            assert_eq!(told.code, 4, "{}", told.stderr);
            assert!(told.stderr.contains(words) && told.stderr.contains("`PLUGIN_SECRET`"), "{}", told.stderr);
            assert!(!told.stderr.contains("s3cr3t"), "{}", told.stderr);
        }
    }
}

#[test]
fn a_manifest_that_cannot_be_used_stops_the_run() {
    let place = Place::with_fixture(&[], &suite("", &["pass"]));
    let head = "[plugin]\nid = \"bad\"\nversion = \"1\"\nkind = \"matcher\"\n";
    for (text, code) in [
        (format!("{head}runtime = [\"jvm\"]\n"), "runtime_not_supported"),
        (format!("{head}runtime = \"mcp_stdio\"\n"), "handshake_failed"),
        ("hello".to_owned(), "handshake_failed"),
    ] {
        place.write("plugin.toml", &text);
        let said = place.mcptest(&["run", "--plugin", "plugin.toml"]);
        assert_eq!(said.code, 4, "{text}: {}", said.stderr);
        assert!(said.stderr.contains(&format!("({code})")), "{text}: {}", said.stderr);
    }
    let said = place.mcptest(&["run", "--plugin", "none/plugin.toml"]);
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert!(said.stderr.contains("(launch_failed)") && !place.path("pids").exists(), "{}", said.stderr);
}
