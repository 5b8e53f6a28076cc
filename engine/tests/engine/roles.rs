//! Components that report and transform, through the real binary: what they may write, and what a suite may become.

use crate::extensions::{place, report, run, tool};
use serde_json::json;

#[test]
fn reporters_write_what_they_return() {
    let test = |name: &str| format!("  - {{ it: {name}, tool: echo, args: {{ message: hi }} }}\n");
    let place = place("", &format!("tools:\n{}{}{}", test("first"), test("report pages/a.txt"), test("last")));
    let said = run(&place, &["--reporter", "hostile.wasm=out/report.txt"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(place.read("out/report.txt"), "first\nlast\nfinished\n");
    assert_eq!(place.read("out/report.txt.files/pages/a.txt"), "named\n");
    assert!(said.stdout.contains("3 passed"), "the human report is there as well: {}", said.stdout);
    let said = run(&place, &["--reporter", "hostile.wasm", "--filter", "first"]);
    assert_eq!(said.stdout, "first\nfinished\n");

    place.write("outside.txt", "mine");
    std::os::unix::fs::symlink(place.path("outside.txt"), place.path("out/report.txt.files/link")).unwrap();
    let config = place.read("mcptest.yml");
    for name in [
        "../outside.txt",
        "../../mcptest.yml",
        "/etc/passwd",
        "link",
        "mcptest.yml",
        "a/evil.test.mcp.yml",
        ".envrc",
        "panic",
        "loop",
        "garbage-name",
        "garbage-text",
        "garbage-failure",
        "huge",
        "many",
        "at the end panic",
        "at the end loop",
        "at the end garbage",
    ] {
        place.write("suite.test.mcp.yml", &format!("tools:\n{}{}", test("before"), test(&format!("report {name}"))));
        let said = run(&place, &["--reporter", "hostile.wasm=out/report.txt"]);
        assert_eq!(said.code, 2, "{name}: {}", said.stderr);
        assert!(
            said.stderr.contains("reporter `hostile.wasm=out/report.txt` could not write"),
            "{name}: {}",
            said.stderr
        );
        assert!(said.stdout.contains("2 passed"), "{name}: the run itself is fine: {}", said.stdout);
    }
    assert_eq!((place.read("outside.txt"), place.read("mcptest.yml")), ("mine".to_owned(), config));
}

#[test]
fn a_reporter_may_have_a_folder_alone() {
    let test = |name: &str| format!("  - {{ it: {name}, tool: echo, args: {{ message: hi }} }}\n");
    let place = place("", &format!("tools:\n{}", test("report a.txt")));
    let said = run(&place, &["--reporter", "hostile.wasm=site/"]);
    assert_eq!(said.code, 2, "its last word has no name: {}", said.stderr);
    assert!(said.stderr.contains("it writes text without a name"), "{}", said.stderr);
    assert_eq!(place.read("site/a.txt"), "named\n");
    place.write("suite.test.mcp.yml", &format!("tools:\n{}{}", test("report a.txt"), test("report at the end silent")));
    assert_eq!(run(&place, &["--reporter", "hostile.wasm=site/"]).code, 0);
}

#[test]
fn transforms_rewrite_and_are_read_again() {
    let suite = |way: &str| {
        format!("x-hostile: {way}\nimports: {{ transforms: [./hostile.wasm] }}\ntools:\n{}", tool("passes", "hi"))
    };
    let place = place("", &suite("rename"));
    let (code, report) = report(&place, &[]);
    assert_eq!((code, &report["suites"][0]["description"]), (0, &json!("Renamed")));
    assert_eq!(report["suites"][0]["file"], "suite.test.mcp.yml", "the file keeps its name");
    assert_eq!(
        report["suites"][0]["tests"][0]["line"], 4,
        "and its tests their lines, whatever the text is that they come from"
    );
    let cases = [
        ("unknown-key", 2, "unknown key `expct`"),
        ("not-json", 4, "hint: it returned: {not json"),
        ("garbage", 4, "(malformed_response)"),
        ("garbage-failure", 4, "(malformed_response)"),
        ("panic", 4, "(crashed)"),
        ("loop", 4, "(timeout)"),
        ("refuse", 4, "(extension_error)"),
        ("huge", 4, "(malformed_response)"),
    ];
    for (way, code, words) in cases {
        place.write("suite.test.mcp.yml", &suite(way));
        let said = run(&place, &[]);
        assert_eq!(said.code, code, "{way}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{way}: {}", said.stderr);
    }
    place.write("suite.test.mcp.yml", &suite("unknown-key"));
    let said = run(&place, &[]);
    assert!(said.stderr.contains("suite.test.mcp.yml (after `hostile`):"), "{}", said.stderr);
    assert!(said.stderr.contains("\"expct\": null"), "what it produced is shown: {}", said.stderr);
    place.write("suite.test.mcp.yml", &format!("x-hostile: rename\ntools:\n{}", tool("passes", "hi")));
    let said = run(&place, &["--transform", "hostile.wasm"]);
    assert!(said.stdout.contains("Renamed"), "{}", said.stdout);
}

#[test]
fn a_transform_in_the_sandbox_widens_nothing() {
    let suite = |more: &str| {
        let head = "imports: { transforms: [./hostile.wasm] }\n";
        format!("x-hostile: add\nx-add: {more}\n{head}tools:\n{}", tool("passes", "hi"))
    };
    let place = place("", "");
    let touch = "command: sh, args: [-c, touch escaped]";
    for (more, words) in [
        (format!("{{ server: {{ {touch} }} }}"), "adds a server to the suite"),
        (
            format!("{{ before: [{{ it: a, tool: echo, args: {{ message: hi }}, server: {{ {touch} }} }}] }}"),
            "adds a server to the suite",
        ),
        (
            "{ imports: { subprocess_matchers: { x: { command: [touch, escaped] } } } }".to_owned(),
            "adds `imports` to the suite: `subprocess_matchers` has x",
        ),
    ] {
        place.write("suite.test.mcp.yml", &suite(&more));
        let said = run(&place, &[]);
        assert_eq!(said.code, 4, "{more}: {}", said.stderr);
        assert!(said.stderr.contains(words) && said.stderr.contains("(capability_not_allowed)"), "{}", said.stderr);
        assert!(!place.path("escaped").exists(), "{more}");
    }
    place.write("suite.test.mcp.yml", &suite("{ description: Renamed, variables: { a: 1 } }"));
    assert!(run(&place, &[]).stdout.contains("Renamed"));
}

/// What lies too deep to be compared is no way around that.
#[test]
fn a_suite_that_cannot_be_looked_at_does_not_pass() {
    let suite =
        |more: &str| format!("{more}\nimports: {{ transforms: [./hostile.wasm] }}\ntools:\n{}", tool("passes", "hi"));
    let deep = format!("x-hostile: rename\nx-deep: {}{}", "[".repeat(150), "]".repeat(150));
    for (more, way) in [("x-hostile: deep", "returned"), (deep.as_str(), "is given")] {
        let place = place("", &suite(more));
        let said = run(&place, &[]);
        assert_eq!(said.code, 4, "{way}: {}", said.stderr);
        let words = format!("the suite that extension `hostile` {way} cannot be looked at: recursion limit exceeded");
        assert!(said.stderr.contains(&words), "{}", said.stderr);
        assert!(!place.path("escaped").exists(), "{way}");
    }
}
