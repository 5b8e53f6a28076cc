//! Plugins through the real binary: the subprocess protocol, what goes wrong with it, and what is left afterwards.

#[cfg(target_os = "linux")]
use crate::kit::fixture_server;
use crate::kit::{Place, Said, fixture_plugin, messages, verdicts};
use serde_json::{Value, json};

/// A suite of one test for each `do`, with the same plugin.
pub(crate) fn suite(imports: &str, deeds: &[&str]) -> String {
    let mut suite = format!("{imports}\ntools:\n");
    for (at, deed) in deeds.iter().enumerate() {
        let deed = if deed.starts_with('{') { (*deed).to_owned() } else { format!("{{ do: {deed} }}") };
        suite += &format!(
            "  - {{ it: \"{}\", tool: echo, args: {{ message: hi }}, expect: {{ text: {{ $hostile: {deed} }} }} }}\n",
            at + 1
        );
    }
    suite
}

/// `imports` of the scripted plugin with these flags.
pub(crate) fn import(place: &Place, flags: &[&str], more: &str) -> String {
    let pids = place.path("pids").to_str().expect("text").to_owned();
    let mut argv = vec![fixture_plugin(), "--pid-file".to_owned(), pids];
    argv.extend(flags.iter().map(|flag| (*flag).to_owned()));
    format!("imports: {{ subprocess_matchers: {{ hostile: {{ command: {}, {more} }} }} }}", json!(argv))
}

fn place(flags: &[&str], more: &str, deeds: &[&str]) -> Place {
    let place = Place::with_fixture(&[], "");
    place.write("suite.test.mcp.yml", &suite(&import(&place, flags, more), deeds));
    place
}

/// The verdicts of these deeds, without the numbers of the tests.
fn outcomes(flags: &[&str], more: &str, deeds: &[&str]) -> (Vec<String>, Value) {
    let place = place(flags, more, deeds);
    let (_, report) = place.report(&[]);
    place.assert_nothing_left();
    let verdicts = verdicts(&report).into_iter().map(|line| line.split_once(": ").expect("a verdict").1.to_owned());
    (verdicts.collect(), report)
}

#[test]
fn a_program_is_a_matcher() {
    let (verdicts, report) = outcomes(&[], "", &["pass", "no", "fail", "inside"]);
    assert_eq!(verdicts, ["passed", "failed", "failed", "failed"]);
    let messages = messages(&report);
    assert_eq!(messages[0], "it does not match");
    assert_eq!(messages[1], "told to fail, at `$.text` of `suite.test.mcp.yml#tools/3/1`");
    let inside = &report["suites"][0]["tests"][3]["failures"][0];
    assert_eq!((&inside["path"], &inside["expected"]), (&json!("$.text.a"), &json!(1)));
}

#[test]
fn it_is_told_where_the_value_stands() {
    let place = place(&[], "", &[]);
    let (imports, call) = (place.read("suite.test.mcp.yml"), "tool: echo, args: { message: hi }");
    let mut suite = imports;
    for expect in [
        "result: { content: [{ type: text, text: { $hostile: { do: fail } } }] }",
        "content: { $each: { $partial: { text: { $hostile: { do: fail } } } } }",
        "content: [{ type: text, text: { $hostile: { do: internal } } }]",
    ] {
        suite += &format!("  - {{ it: one, {call}, expect: {{ {expect} }} }}\n");
    }
    place.write("suite.test.mcp.yml", &suite);
    let (_, report) = place.report(&[]);
    for (at, path) in ["$.result.content[0].text", "$.content[0].text", "$.content[0].text"].iter().enumerate() {
        let failure = &report["suites"][0]["tests"][at]["failures"][0];
        assert_eq!(failure["path"], *path, "{report:#}");
        let told = failure["message"].as_str().expect("a message");
        assert!(at == 2 || told.starts_with(&format!("told to fail, at `{path}` of")), "{told}");
    }
}

#[test]
fn it_is_named_in_three_ways() {
    let place = Place::with_fixture(&[], &suite("", &["pass", "fail"]));
    let program = "#!/bin/sh\nexec \"$FIXTURE\" \"$@\"\n".replace("$FIXTURE", &fixture_plugin());
    for name in ["hostile", "plugins/hostile.sh", "judge.sh"] {
        place.write(name, &program);
        executable(&place, name);
    }
    let expected = ["1: passed", "2: failed"];
    assert_eq!(verdicts(&place.report(&["--plugin", "hostile"]).1), expected, "a file in this folder, by its name");
    assert_eq!(verdicts(&place.report(&["--plugin", "plugins/hostile.sh"]).1), expected);
    for imports in [
        "[./plugins/hostile.sh]",
        "{ hostile: ./judge.sh }",
        "{ hostile: { command: ./judge.sh, method: judge, timeout: 2s } }",
        "{ hostile: { command: [sh, judge.sh] } }",
    ] {
        let imports = format!("imports: {{ subprocess_matchers: {imports} }}");
        place.write("suite.test.mcp.yml", &suite(&imports, &["pass", "fail"]));
        assert_eq!(verdicts(&place.report(&[]).1), expected, "{imports}");
    }
}

pub(crate) fn executable(place: &Place, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn what_goes_wrong_has_its_code_and_the_next_call_its_rule() {
    let rows: [(&str, &str, &str); 20] = [
        // do, code, and what a call after it comes to
        ("crash", "crashed", "faulted (crashed)"),
        ("half", "crashed", "faulted (crashed)"),
        ("close", "crashed", "faulted (crashed)"),
        ("fork-and-die", "crashed", "faulted (crashed)"),
        ("hang", "timeout", "faulted (timeout)"),
        ("{ do: late, ms: 3300 }", "timeout", "passed"),
        ("wrong-id", "malformed_response", "passed"),
        ("text-id", "malformed_response", "passed"),
        ("both", "malformed_response", "passed"),
        ("neither", "malformed_response", "passed"),
        ("not-json", "malformed_response", "passed"),
        ("binary", "malformed_response", "passed"),
        ("nothing", "malformed_response", "passed"),
        ("text", "malformed_response", "passed"),
        ("huge", "malformed_response", "passed"),
        ("flood", "malformed_response", "passed"),
        ("unknown", "tool_not_exposed", "passed"),
        ("invalid", "extension_error", "passed"),
        ("internal", "extension_error", "passed"),
        ("unexpected", "extension_error", "passed"),
    ];
    std::thread::scope(|scope| {
        for (deed, code, next) in rows {
            scope.spawn(move || {
                // Only those that are to run out of time get little of it.
                let timeout = if code == "timeout" { "timeout: 3s" } else { "timeout: 60s" };
                let (verdicts, report) = outcomes(&[], timeout, &["pass", deed, "pass"]);
                assert_eq!(verdicts, ["passed", &format!("faulted ({code})"), next], "{deed}: {report:#}");
            });
        }
    });
}

#[test]
fn a_second_answer_is_not_taken_for_the_next() {
    let (verdicts, report) = outcomes(&[], "", &["twice", "fail", "fail", "pass"]);
    assert_eq!(verdicts, ["passed", "faulted (malformed_response)", "failed", "passed"]);
    assert!(messages(&report)[0].ends_with("the id 1 was answered before"), "{report:#}");
    let place = place(&[], "", &["pass", "twice"]);
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("note: plugin `hostile` wrote more than it was asked for"), "{}", said.stderr);
}

/// A place where `$hostile` is this shell script.
fn scripted(script: &str, timeout: &str, tests: usize) -> Place {
    let place = Place::with_fixture(&[], "");
    place.write("hostile.sh", script);
    let entry = format!("{{ command: [sh, hostile.sh], timeout: {timeout} }}");
    let imports = format!("imports: {{ subprocess_matchers: {{ hostile: {entry} }} }}");
    place.write("suite.test.mcp.yml", &suite(&imports, &vec!["pass"; tests]));
    place
}

#[test]
fn an_answer_before_the_question_is_none() {
    let both =
        r#"read -r line; printf '{"id":1,"result":true}\n{"id":2,"result":true}\n'; while read -r line; do :; done"#;
    let (_, report) = scripted(both, "60s", 2).report(&[]);
    assert_eq!(verdicts(&report), ["1: passed", "2: faulted (malformed_response)"], "{report:#}");
    assert!(messages(&report)[0].ends_with("it answers before it is asked"), "{report:#}");
}

#[test]
fn what_is_told_of_a_plugin_is_what_it_did() {
    let place = scripted("read -r line; echo '{\"id\":1,\"result\":true}'; exec 0<&-; sleep 1000", "1s", 2);
    let (_, report) = place.report(&[]);
    assert_eq!(verdicts(&report), ["1: passed", "2: faulted (timeout)"], "{report:#}");
    assert!(report.to_string().contains("it has closed its stdin"), "{report:#}");
    let chatty = r#"while read -r line; do n=$((n+1)); printf '{"method":"log"}\n{"id":%d,"result":true}\n' $n; done"#;
    let said = scripted(chatty, "60s", 1).mcptest(&["run"]);
    assert!(said.stdout.contains("it wrote: {") && !said.stderr.contains("flush"), "{}{}", said.stdout, said.stderr);
    let endless = "read -r line; printf '{\"id\":1,\"result\":true}'; while read -r line; do :; done";
    let (_, report) = scripted(endless, "1s", 1).report(&[]);
    assert_eq!(verdicts(&report), ["1: faulted (timeout)"], "{report:#}");
    let told = report.to_string();
    assert!(told.contains("it had begun a line: {") && told.contains("ends with a line feed"), "{report:#}");
    for (line, hint) in [
        (r#"\357\273\277{"id":2,"result":true}"#, "write UTF-8 without one"),
        (r#"{"id":2,"result":NaN}"#, "JSON has double quotes"),
        ("{", "no line ends inside"),
    ] {
        let script = format!(
            "read -r line; echo '{{\"id\":1,\"result\":true}}'; read -r line; printf '{line}\\n'; while read -r line; do :; done"
        );
        let (_, report) = scripted(&script, "60s", 2).report(&[]);
        assert!(report.to_string().contains(hint), "{line}: {report:#}");
    }
    let vague =
        r#"read -r line; echo '{"id":1,"result":{"pass":false,"message":" ","path":"items[0]"}}'; read -r line"#;
    let (_, report) = scripted(vague, "60s", 1).report(&[]);
    assert_eq!(messages(&report), ["it does not match"]);
    assert_eq!(report["suites"][0]["tests"][0]["failures"][0]["path"], "$.text.items[0]");
    let long = "read -r line; head -c 20000000 /dev/zero | tr '\\0' x; echo; while read -r line; do :; done";
    let (_, report) = scripted(long, "60s", 1).report(&[]);
    assert!(report.to_string().contains("it wrote: xxxxx"), "the head of a line that is too long: {report:#}");
}

#[test]
fn faults_show_the_line_the_code_and_stderr() {
    let (_, report) = outcomes(&[], "timeout: 1s", &["not-json", "binary", "neither", "crash"]);
    let failure = |at: usize| &report["suites"][0]["tests"][at]["failures"][0];
    let (words, hints) =
        (|at: usize| failure(at)["message"].as_str().unwrap(), |at: usize| failure(at)["hints"].to_string());
    assert!(words(0).contains("(-32700)") && hints(0).contains("it wrote: Traceback (most recent"), "{}", failure(0));
    assert!(words(1).contains("(-32700)") && hints(1).contains("\\\\u{1b}[2J"), "{}", failure(1));
    assert!(words(2).contains("(-32600)") && hints(2).contains("{\\\"id\\\":3}"), "{}", failure(2));
    assert!(words(3).contains("plugin `hostile` ended before it answered `hostile`"), "{}", failure(3));
    assert!(words(3).contains("(exit code 3)") && hints(3).contains("told to crash"), "{}", failure(3));
    assert_eq!(failure(3)["source"], "hostile");
}

#[test]
fn one_that_cannot_be_started_is_a_fault_of_every_call() {
    let place = Place::with_fixture(&[], "");
    place.write("plain.txt", "no program");
    place.write("format", "no program");
    executable(&place, "format");
    for (command, words) in [
        ("./missing", "no program `./missing` at that path"),
        ("./plain.txt", "is not executable"),
        ("./format", "is not a program that this machine can run"),
    ] {
        let imports = format!("imports: {{ subprocess_matchers: {{ hostile: {{ command: {command} }} }} }}");
        place.write("suite.test.mcp.yml", &suite(&imports, &["pass", "pass"]));
        let (code, report) = place.report(&[]);
        let faulted = ["1: faulted (launch_failed)", "2: faulted (launch_failed)"];
        assert_eq!((verdicts(&report), code), (faulted.map(str::to_owned).to_vec(), 1));
        assert!(messages(&report)[0].contains(words), "{report:#}");
    }
}

#[test]
fn it_is_started_by_the_first_call_and_kept_for_the_run() {
    let place = place(&[], "", &["process", "process"]);
    place.write("other.test.mcp.yml", &place.read("suite.test.mcp.yml"));
    let (_, report) = place.report(&["-j", "2"]);
    let processes = messages(&report);
    assert_eq!(processes.len(), 4);
    assert!(processes.iter().all(|process| *process == processes[0]), "one process for all files: {processes:?}");
    assert_eq!(place.read("pids").matches(&format!("{}\n", processes[0])).count(), 1);

    let unused = self::place(&[], "", &["pass"]);
    let suite = unused.read("suite.test.mcp.yml");
    unused.write("suite.test.mcp.yml", &format!("{suite}  - {{ it: plain, tool: echo, args: {{ message: hi }} }}\n"));
    let (_, report) = unused.report(&["--filter", "plain"]);
    assert_eq!(verdicts(&report), ["plain: passed"]);
    assert_eq!(unused.read("pids").lines().count(), 1, "the server, and no plugin");
    assert_eq!(unused.mcptest(&["check"]).code, 0);
    assert_eq!(unused.read("pids").lines().count(), 1);
}

#[test]
fn large_requests_and_much_stderr_pass_through() {
    let (verdicts, _) = outcomes(&[], "", &["chatter", "chatter", "pass"]);
    assert_eq!(verdicts, ["passed"; 3]);
    let place = place(&[], "", &[]);
    let long = "m".repeat(1_000_000);
    let test = format!(
        "  - {{ it: long, tool: echo, args: {{ message: {long} }}, expect: {{ text: {{ $hostile: {{ do: echo }} }} }} }}\n"
    );
    let suite = place.read("suite.test.mcp.yml");
    place.write("suite.test.mcp.yml", &format!("{suite}{test}"));
    let (_, report) = place.report(&[]);
    assert!(messages(&report)[0].len() > 1_000_000, "the whole value came back");
}

#[test]
fn one_that_does_not_read_costs_its_timeout() {
    let place = place(&[], "timeout: 500ms", &["deaf"]);
    let long = "m".repeat(300_000);
    let test = format!(
        "  - {{ it: long, tool: echo, args: {{ message: {long} }}, expect: {{ text: {{ $hostile: {{ do: pass }} }} }} }}\n"
    );
    let suite = place.read("suite.test.mcp.yml");
    place.write("suite.test.mcp.yml", &format!("{suite}{test}"));
    let (_, report) = place.report(&[]);
    assert_eq!(verdicts(&report), ["1: faulted (timeout)", "long: faulted (timeout)"]);
    place.assert_nothing_left();
}

#[test]
fn one_that_ignores_the_end_or_forks_is_killed_with_its_children() {
    let place = place(&["--ignore-eof", "--fork"], "timeout: 300ms", &["pass", "fork"]);
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("note: plugin `hostile` did not end within 300ms"), "{}", said.stderr);
    assert_eq!(place.read("pids").lines().count(), 4);
    place.assert_nothing_left();
}

/// No parent, no group, no environment: nothing of it tells where it comes from.
#[test]
#[cfg(target_os = "linux")]
fn whoever_hides_from_its_tree_ends_with_the_run() {
    let hides = "env -i setsid sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >> pids'";
    let answers = r#"while read -r line; do id=${line##*:}; echo "{\"id\":${id%\}},\"result\":true}"; done"#;
    let place = place(&[], "", &[]);
    let server = json!(["-c", format!("{hides}; exec {} --pid-file pids", fixture_server())]);
    place.write("mcptest.yml", &format!("name: fixture\ncommand: sh\nargs: {server}\n"));
    let imports = json!({"subprocess_matchers": {"shy": {"command": ["sh", "-c", format!("{hides}; {answers}")]}}});
    let test = "{ it: asks, tool: echo, args: { message: hi }, expect: { text: { $shy: 1 } } }";
    place.write("suite.test.mcp.yml", &format!("imports: {imports}\ntools: [{test}]\n"));
    let (code, report) = place.report(&[]);
    assert_eq!((code, verdicts(&report)), (0, vec!["asks: passed".to_owned()]), "{report:#}");
    assert_eq!(place.read("pids").lines().count(), 3, "the server, and two that hide");
    place.assert_nothing_left();
}

#[test]
fn its_environment_is_short_unless_more_is_granted() {
    let environment = |args: &[&str]| {
        let place = place(&[], "", &["environment", "folder"]);
        let mut command = place.command(&[&["run", "--json"], args].concat());
        command.env("SECRET_TOKEN", "s3cr3t-value").env("LANG", "C.UTF-8").env("TMPDIR", "/tmp");
        let said: Said = crate::kit::said(command.output().expect("it runs"));
        let report: Value = serde_json::from_str(&said.stdout).expect("a report");
        let messages = messages(&report);
        let here = place.path("").canonicalize().expect("a folder");
        assert_eq!(messages[1], here.to_str().expect("text"), "it runs in the suite's folder");
        let names = messages[0].lines().map(|line| line.split_once('=').expect("a variable").0.to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    // The last of them is how the engine finds the whole tree when it ends it.
    let short = ["HOME", "LANG", "MCPTEST_SESSION", "PATH", "TMPDIR"];
    assert_eq!(environment(&[]), short);
    let granted = environment(&["--allow", "hostile=env:SECRET_TOKEN"]);
    assert_eq!(granted.len(), 6);
    assert!(granted.contains(&"SECRET_TOKEN".to_owned()));
}
