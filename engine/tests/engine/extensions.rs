//! Extensions through the real binary: where they hold, what they may do, and how a run ends when one is bad.

use crate::guests::{cache, guest};
use crate::kit::{Place, Said, verdicts};
use serde_json::{Value, json};
use std::path::Path;

/// A place with a server, a suite, and a copy of the hostile guest.
pub(crate) fn place(lines: &str, suite: &str) -> Place {
    let place = Place::with_config(&[], lines, suite);
    std::fs::copy(guest("hostile"), place.path("hostile.wasm")).expect("a copy");
    place
}

pub(crate) fn run(place: &Place, args: &[&str]) -> Said {
    let mut command = place.command(&[&["run"], args].concat());
    crate::kit::said(command.env("MCPTEST_CACHE_DIR", cache()).output().expect("the binary runs"))
}

pub(crate) fn report(place: &Place, args: &[&str]) -> (i32, Value) {
    let said = run(place, &[&["--json"], args].concat());
    let report = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr));
    (said.code, report)
}

pub(crate) fn tool(name: &str, expect: &str) -> String {
    format!("  - {{ it: {name}, tool: echo, args: {{ message: hi }}, expect: {{ text: {expect} }} }}\n")
}

const MODES: &str =
    "  - { it: passes, tool: echo, args: { message: hi }, expect: { text: { $hostile: { do: pass } } } }
  - { it: fails, tool: echo, args: { message: hi }, expect: { text: { $hostile: { do: fail } } } }
  - { it: panics, tool: echo, args: { message: hi }, expect: { text: { $hostile: { do: panic } } } }
  - { it: goes on, tool: echo, args: { message: hi }, expect: { text: { $hostile: { do: pass } } } }
";

#[test]
fn a_matcher_holds_where_it_is_named() {
    let expected = ["passes: passed", "fails: failed", "panics: faulted (crashed)", "goes on: passed"];
    let suite = format!("tools:\n{MODES}");
    let by_flag = report(&place("", &suite), &["--matcher", "hostile.wasm"]);
    let by_config = report(&place("extensions: { bad: { path: ./hostile.wasm } }\n", &suite), &[]);
    let by_import = report(&place("", &format!("imports: {{ matchers: [./hostile.wasm] }}\n{suite}")), &[]);
    let by_id = "extensions: { bad: ./hostile.wasm }\n";
    let by_id = report(&place(by_id, &format!("imports: {{ matchers: [bad] }}\n{suite}")), &[]);
    for (code, report) in [&by_flag, &by_config, &by_import, &by_id] {
        assert_eq!((verdicts(report), *code), (expected.map(str::to_owned).to_vec(), 1));
    }
    let failure = |report: &Value| report["suites"][0]["tests"][2]["failures"][0].clone();
    assert_eq!(failure(&by_flag.1)["source"], "hostile");
    assert_eq!(failure(&by_config.1)["source"], "bad", "the config's name for it wins");
    assert_eq!(failure(&by_flag.1)["kind"], "fault");
    assert_eq!(failure(&by_flag.1)["path"], "$.text");
    assert!(failure(&by_flag.1)["hints"].to_string().contains("told to panic"), "{}", failure(&by_flag.1));
}

#[test]
fn an_import_holds_for_its_file() {
    let place = place("", &format!("imports: {{ matchers: [./hostile.wasm] }}\ntools:\n{MODES}"));
    place.write("other.test.mcp.yml", &format!("tools:\n{MODES}"));
    let said = run(&place, &[]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("there is no matcher `$hostile`"), "{}", said.stderr);
    assert!(said.stderr.contains("other.test.mcp.yml:2:"), "{}", said.stderr);
    assert!(said.stderr.contains("hint: one of an extension is there with `--matcher FILE.wasm`"), "{}", said.stderr);
    assert!(!said.stderr.contains("suite.test.mcp.yml:"), "{}", said.stderr);
}

#[test]
fn a_fault_is_never_a_verdict() {
    let suite = ["$not", "$any", "$each", "$some"].map(|wrapper| match wrapper {
        "$not" => tool("not", "{ $not: { $hostile: { do: panic } } }"),
        "$any" => tool("any", "{ $any: [{ $hostile: { do: panic } }, hi] }"),
        "$each" => "  - { it: each, tool: echo, args: { message: hi }, expect: { content: { $each: { $hostile: { do: panic } } } } }\n".to_owned(),
        _ => "  - { it: none, tool: echo, args: { message: hi }, expect: { content: { $none: { $hostile: { do: panic } } } } }\n".to_owned(),
    });
    let negated = tool("negated", "\"match:not:hostile:{\\\"do\\\":\\\"x\\\"}\"");
    let suite = format!("tools:\n{}{negated}", suite.concat());
    let (code, report) = report(&place("", &suite), &["--matcher", "hostile.wasm"]);
    let expected = ["not", "any", "each", "none"].map(|name| format!("{name}: faulted (crashed)"));
    assert_eq!(verdicts(&report)[..4], expected);
    assert_eq!(verdicts(&report)[4], "negated: passed", "the guest fails it, and that is negated");
    assert_eq!(code, 1);
}

#[test]
fn a_bad_argument_stops_the_run_at_its_line() {
    let suite = format!(
        "tools:\n{}{}",
        tool("one", "{ $hostile: { check: refuse } }"),
        tool("two", "{ $hostile: { do: pass }, $gt: x }")
    );
    let said = run(&place("", &suite), &["--matcher", "hostile.wasm"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(
        said.stderr.contains("error: `$hostile`: it was told to refuse\n --> suite.test.mcp.yml:2:"),
        "{}",
        said.stderr
    );
    let crash = format!("tools:\n{}", tool("one", "{ $hostile: { check: panic } }"));
    let said = run(&place("", &crash), &["--matcher", "hostile.wasm"]);
    assert_eq!(said.code, 4, "a crash is the extension's doing: {}", said.stderr);
    assert!(said.stderr.contains("(crashed)"), "{}", said.stderr);
}

#[test]
fn a_captured_argument_is_looked_at_when_it_is_known() {
    let suite = "\
tools:
  - it: captures
    steps:
      - { tool: echo, args: { message: refuse }, capture: { way: $.text } }
      - { tool: echo, args: { message: hi }, expect: { text: { $hostile: { check: \"${way}\" } } } }
";
    let (code, report) = report(&place("", suite), &["--matcher", "hostile.wasm"]);
    assert_eq!((verdicts(&report), code), (vec!["captures: failed".to_owned()], 1));
    assert!(report.to_string().contains("it was told to refuse"), "{report}");
}

/// The guest would pass it: it died looking at the argument.
#[test]
fn no_verdict_counts_on_an_argument_that_could_not_be_looked_at() {
    let suite = "\
tools:
  - it: captures
    steps:
      - { tool: echo, args: { message: panic }, capture: { way: $.text } }
      - { tool: echo, args: { message: hi }, expect: { text: { $hostile: { check: \"${way}\", do: pass } } } }
  - { it: goes on, tool: echo, args: { message: hi }, expect: { text: { $hostile: { do: pass } } } }
";
    let (code, report) = report(&place("", suite), &["--matcher", "hostile.wasm"]);
    assert_eq!((verdicts(&report).join(", "), code), ("captures: faulted (crashed), goes on: passed".to_owned(), 1));
}

/// A suite may have thousands of arguments, and each would take as long again.
#[test]
fn who_is_late_with_one_argument_is_asked_of_no_other() {
    let tests: String =
        (0..100).map(|n| tool(&format!("late {n}"), &format!("{{ $hostile: {{ check: loop, n: {n} }} }}"))).collect();
    let said = run(&place("", &format!("tools:\n{tests}")), &["--matcher", "hostile.wasm"]);
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert_eq!(said.stderr.matches("did not end `check` within 1s (timeout)").count(), 1, "{}", said.stderr);
}

/// `path` in the contract: where the value stands in the step's outcome.
#[test]
fn a_guest_is_told_where_the_value_stands() {
    let inside = |name: &str, expect: &str| {
        format!("  - {{ it: {name}, tool: echo, args: {{ message: hi }}, expect: {{ content: {expect} }} }}\n")
    };
    let suite = format!(
        "tools:\n{}{}{}{}",
        tool("whole", "{ $hostile: { do: fail } }"),
        inside("deep", "[{ type: text, text: { $hostile: { do: fail } } }]"),
        inside("fault", "[{ type: text, text: { $hostile: { do: panic } } }]"),
        inside("searched", "{ $some: { $partial: { text: { $hostile: { do: panic } } } } }"),
    );
    let (_, report) = report(&place("", &suite), &["--matcher", "hostile.wasm"]);
    let failures: Vec<&Value> =
        report["suites"][0]["tests"].as_array().unwrap().iter().map(|test| &test["failures"][0]).collect();
    for (failure, path) in failures.iter().zip(["$.text", "$.content[0].text", "$.content[0].text", "$.content"]) {
        assert_eq!(failure["path"], path, "{failure}");
    }
    for (failure, path) in failures[..2].iter().zip(["$.text", "$.content[0].text"]) {
        assert!(failure["message"].as_str().unwrap().contains(&format!("at `{path}` of")), "{failure}");
    }
}

#[test]
fn what_cannot_be_loaded_stops_the_run() {
    let place = place("", &format!("tools:\n{MODES}"));
    place.write("text.wasm", "hello");
    let core = wat::parse_str("(module)").unwrap();
    std::fs::write(place.path("core.wasm"), core).unwrap();
    std::fs::write(place.path("plain.wasm"), wat::parse_str("(component)").unwrap()).unwrap();
    std::fs::write(place.path("newer.wasm"), wat::parse_str(exports("0.2.0", "")).unwrap()).unwrap();
    let imports = "(import \"wasi:http/types@0.2.0\" (instance)) (import \"acme:kv/store@1.0.0\" (instance))";
    std::fs::write(place.path("everything.wasm"), wat::parse_str(exports("0.1.0", imports)).unwrap()).unwrap();
    let waiting = exports("0.1.0", "(core func (canon task.cancel))");
    std::fs::write(place.path("async.wasm"), wat::parse_str(waiting).unwrap()).unwrap();
    std::fs::write(place.path("wrong.wasm"), wat::parse_str(exports("0.1.0", "")).unwrap()).unwrap();
    let cases = [
        ("none.wasm", "launch_failed", "cannot be read"),
        ("text.wasm", "launch_failed", "is no WebAssembly"),
        ("core.wasm", "launch_failed", "mcptest extension build core.wasm"),
        ("plain.wasm", "handshake_failed", "is a component and no extension"),
        ("newer.wasm", "protocol_version_mismatch", "update mcptest"),
        ("everything.wasm", "runtime_not_supported", "imports `wasi:http/types@0.2.0` and 1 more"),
        ("wrong.wasm", "handshake_failed", "does not fit the contract"),
        ("async.wasm", "handshake_failed", "does not fit the contract"),
    ];
    for (file, code, words) in cases {
        let said = run(&place, &["--matcher", file]);
        assert_eq!(said.code, 4, "{file}: {}", said.stderr);
        assert!(said.stderr.contains(&format!("({code})")), "{file}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{file}: {}", said.stderr);
        assert!(!said.stderr.contains("there is no matcher"), "one problem, told once: {}", said.stderr);
        // A server may have been started while it was compiled.
        place.assert_nothing_left();
    }
}

/// A component that exports our interfaces, with nothing in them.
fn exports(version: &str, imports: &str) -> String {
    let export = |name: &str| format!("(export \"mcptest:extension/{name}@{version}\" (instance $empty))");
    format!("(component {imports} (instance $empty) {} {})", export("describing"), export("matching"))
}

/// A component of the `matcher` world around a core module of our own.
fn around(core: &str) -> Vec<u8> {
    let functions = "
        (memory (export \"memory\") 1)
        (func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) unreachable)
        (func (export \"mcptest:extension/describing@0.1.0#describe\") (result i32) unreachable)
        (func (export \"mcptest:extension/matching@0.1.0#check\") (param i32 i32 i32 i32) (result i32) unreachable)
        (func (export \"mcptest:extension/matching@0.1.0#evaluate\")
          (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) unreachable)";
    wat::parse_str(format!("(module {functions} {core})")).expect("a module")
}

#[test]
fn what_goes_wrong_before_it_speaks_is_told() {
    let place = place("", &format!("tools:\n{MODES}"));
    let cases = [
        ("loops", "(func $loop (loop br 0)) (start $loop)", "timeout", "did not end"),
        ("table", "(table 1000000000 funcref)", "crashed", "tables of 1000000000 elements, and may have 200000"),
        ("memory", "(memory 2000)", "crashed", "bytes of memory, and may have 67108864"),
        ("dies", "", "crashed", "crashed in `describe`: it panicked or aborted"),
        ("silent", "", "crashed", "hint: it wrote nothing to stderr"),
    ];
    for (name, core, code, words) in cases {
        std::fs::write(place.path("core.wasm"), around(core)).unwrap();
        let file = format!("{name}.wasm");
        let said = place.mcptest(&["extension", "build", "core.wasm", "--world", "matcher", "-o", &file]);
        assert_eq!(said.code, 0, "{name}: {}", said.stderr);
        let said = run(&place, &["--matcher", &file]);
        assert_eq!(said.code, 4, "{name}: {}", said.stderr);
        assert!(said.stderr.contains(&format!("({code})")), "{name}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{name}: {}", said.stderr);
    }
}

#[test]
fn a_pin_is_held() {
    let suite = format!("tools:\n{}", tool("passes", "{ $hostile: { do: pass } }"));
    let place = place("", &suite);
    let inspected = place.mcptest(&["extension", "inspect", "--json", "hostile.wasm"]);
    let inspected: Value = serde_json::from_str(&inspected.stdout).expect("JSON");
    let pin = |digest: &str| format!("extensions: {{ bad: {{ path: hostile.wasm, sha256: \"{digest}\" }} }}\n");
    let config = place.read("mcptest.yml");
    place.write("mcptest.yml", &format!("{config}{}", pin(inspected["sha256"].as_str().unwrap())));
    assert_eq!(run(&place, &[]).code, 0);
    place.write("mcptest.yml", &format!("{config}{}", pin(&"0".repeat(64))));
    let said = run(&place, &[]);
    assert_eq!(said.code, 4);
    assert!(said.stderr.contains("is not the file that was pinned"), "{}", said.stderr);
}

#[test]
fn the_header_says_what_is_replaced_and_granted() {
    let suite = format!("tools:\n{}", tool("replaced", "{ $contains: { do: pass } }"));
    let config = "extensions: { bad: { path: hostile.wasm }, greedy: { path: greedy.wasm, allow: [fs.read:., env:GREEDY, clock, random, \"net:localhost:1\", fs.write:.] } }\n";
    let place = place(config, &suite);
    std::fs::copy(guest("greedy"), place.path("greedy.wasm")).unwrap();
    let said = run(&place, &[]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("replaces the built-in $contains"), "{}", said.stdout);
    assert!(
        said.stdout.contains("may: fs.read:., env:GREEDY, clock, random, net:localhost:1, fs.write:."),
        "{}",
        said.stdout
    );
    assert!(said.stderr.contains("was granted `fs.write:.`, and does not ask for it"), "{}", said.stderr);
}

#[test]
fn two_extensions_with_one_name_are_an_error() {
    let config = "extensions: { one: { path: hostile.wasm }, two: { path: copy.wasm } }\n";
    let place = place(config, &format!("tools:\n{MODES}"));
    std::fs::copy(guest("hostile"), place.path("copy.wasm")).unwrap();
    let said = run(&place, &[]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("extensions `one` and `two` both offer a matcher `$hostile`"), "{}", said.stderr);
}

#[test]
fn grants_come_from_the_command_line_too() {
    let suite = "tools:\n  - { it: reads, tool: echo, args: { message: hi }, expect: { text: { $not: { $greedy: { do: read, what: data/file } } } } }\n";
    let place = place("", suite);
    std::fs::copy(guest("greedy"), place.path("greedy.wasm")).unwrap();
    place.write("data/file", "1234");
    let allow =
        ["fs.read:data", "env:GREEDY", "clock", "random", "net:localhost:1"].map(|grant| format!("greedy={grant}"));
    let mut args = vec!["--matcher", "greedy.wasm"];
    allow.iter().for_each(|grant| args.extend(["--allow", grant.as_str()]));
    assert_eq!(run(&place, &args).code, 0, "{}", run(&place, &args).stderr);
    assert_eq!(run(&place, &args[..4]).code, 4, "one grant is not all");
    let said = run(&place, &["--matcher", "hostile.wasm", "--allow", "nobody=clock", "--filter", "none"]);
    assert!(said.stderr.contains("no extension `nobody` was loaded"), "{}", said.stderr);
    let said = run(&place, &["--allow", "greedy=everything"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("`everything` is no grant"), "{}", said.stderr);
}

#[test]
fn a_grant_is_not_had_by_taking_a_name() {
    let test = tool("reads", "{ $greedy: { do: read, what: data/file } }");
    let place = place("extensions: { greedy: { path: hostile.wasm } }\n", &format!("tools:\n{test}"));
    std::fs::copy(guest("greedy"), place.path("one.wasm")).unwrap();
    std::fs::copy(guest("greedy"), place.path("two.wasm")).unwrap();
    let allow = ["fs.read:.", "env:GREEDY", "clock", "random", "net:localhost:1"].map(|it| format!("greedy={it}"));
    let allow: Vec<&str> = allow.iter().flat_map(|grant| ["--allow", grant.as_str()]).collect();
    let said = run(&place, &[&["--matcher", "one.wasm"], &allow[..]].concat());
    assert_eq!(said.code, 4, "the config's `greedy` is another file: {}", said.stderr);
    assert!(said.stderr.contains("(capability_not_allowed)"), "{}", said.stderr);
    place.write("mcptest.yml", &place.read("mcptest.yml").replace("extensions:", "x-none:"));
    let said = run(&place, &[&["--matcher", "one.wasm", "--matcher", "two.wasm"], &allow[..]].concat());
    assert_eq!(said.code, 4);
    assert!(said.stderr.contains("`two.wasm` is called `greedy`, and so is another extension"), "{}", said.stderr);
}

#[test]
fn a_pipe_is_no_extension() {
    let place = place("", &format!("tools:\n{MODES}"));
    let said = run(&place, &["--matcher", "/dev/zero"]);
    assert_eq!(said.code, 4);
    assert!(said.stderr.contains("it is no regular file"), "{}", said.stderr);
}

#[test]
fn two_runs_say_the_same() {
    let suite = format!(
        "tools:\n{}{}{}",
        tool("clock", "{ $hostile: { do: clock } }"),
        tool("random", "{ $hostile: { do: random } }"),
        tool("fails", "{ $hostile: { do: fail } }")
    );
    let place = place("", &suite);
    let failures = || {
        let (_, report) = report(&place, &["--matcher", "hostile.wasm"]);
        let tests = report["suites"][0]["tests"].as_array().expect("tests").clone();
        tests.iter().map(|test| test["failures"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(failures(), failures());
}

#[test]
fn what_an_extension_logs_is_told_with_its_step() {
    let suite = format!("tools:\n{}", tool("logs", "{ $not: { $hostile: { do: log, what: careful } } }"));
    let said = run(&place("", &suite), &["--matcher", "hostile.wasm", "--reporter", "ndjson"]);
    let logs: Vec<Value> = said.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let log = logs.iter().find(|event| event["type"] == "log" && event["data"]["from"] == "extension");
    let log = log.unwrap_or_else(|| panic!("{}", said.stdout));
    assert_eq!(log["data"]["text"], "hostile (warn): careful");
    assert_eq!(log["data"]["step"], "suite.test.mcp.yml#tools/logs/1");
}

#[test]
fn authors_get_their_commands() {
    let place = place("", "");
    let said = place.mcptest(&["extension", "inspect", "hostile.wasm"]);
    for words in
        ["hostile 0.1.0", "matcher, reporter, transform", "mcptest:extension@0.1.0", "asks for  nothing", "$hostile"]
    {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    let cases = json!({"matcher": "hostile", "cases": [
        {"name": "passes", "expected": {"do": "pass"}, "actual": 1, "verdict": "pass"},
        {"name": "fails", "expected": {"do": "fail"}, "actual": 1, "verdict": "fail", "message": "told to fail"},
        {"name": "refuses", "expected": {"check": "refuse"}, "verdict": "invalid"},
    ]});
    place.write("good.json", &cases.to_string());
    let said = place.mcptest(&["extension", "check", "hostile.wasm", "--cases", "good.json"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    place.write("bad.json", &cases.to_string().replace("{\"do\":\"pass\"}", "{\"do\":\"panic\"}"));
    let said = place.mcptest(&["extension", "check", "hostile.wasm", "--cases", "bad.json"]);
    assert_eq!(said.code, 1);
    assert!(said.stdout.contains("✗ passes: "), "{}", said.stdout);
    let said = place.mcptest(&["extension", "bench", "hostile.wasm", "--expected", "{\"do\":\"pass\"}"]);
    assert!(said.code == 0 && said.stdout.contains("a call"), "{}{}", said.stdout, said.stderr);
    assert_eq!(place.mcptest(&["extension", "inspect", "none.wasm"]).code, 4);
    assert!(Path::new(env!("CARGO_BIN_EXE_mcptest")).exists());
}
