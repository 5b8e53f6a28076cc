//! Which tests run, in which order, and when a run stops.

use crate::kit::{Place, verdicts};

const THREE: &str = "tools:\n  - { it: first, tool: echo, args: { message: a }, tags: [quick, io] }\n  - { it: second, tool: fail, args: { text: no }, tags: [io] }\n  - { it: third, tool: echo, args: { message: a } }\n";

fn verdicts_of(suite: &str, args: &[&str]) -> (i32, Vec<String>) {
    let place = Place::with_fixture(&[], suite);
    let (code, report) = place.report(args);
    (code, verdicts(&report))
}

#[test]
fn filters_choose_by_name_and_tag() {
    assert_eq!(verdicts_of(THREE, &["--filter", "FIRST"]).1, ["first: passed"]);
    assert_eq!(verdicts_of(THREE, &["--filter", "/(first|third)$/"]).1, ["first: passed", "third: passed"]);
    assert_eq!(verdicts_of(THREE, &["--tag", "io", "--skip-tag", "quick"]), (1, vec!["second: failed".into()]));
}

#[test]
fn filters_choose_rows_by_the_name_that_reports_show() {
    let suite = "tools:\n  - { it: 'echoes ${word}', each: [{ word: one }, { word: two }], tool: echo, args: { message: '${word}' } }\n";
    assert_eq!(verdicts_of(suite, &["--filter", "echoes two"]).1, ["echoes two: passed"]);
    assert_eq!(verdicts_of(suite, &["--filter", "/^echoes (one|three)$/"]).1, ["echoes one: passed"]);
    assert_eq!(verdicts_of(suite, &["--filter", "[2]"]).1, ["echoes two: passed"]);
}

#[test]
fn nothing_selected_is_exit_7_unless_that_is_fine() {
    let place = Place::with_fixture(&[], THREE);
    let said = place.mcptest(&["run", "--filter", "nothing like it"]);
    assert_eq!(said.code, 7);
    assert!(said.stderr.contains("no test was selected"), "{}", said.stderr);
    assert_eq!(place.mcptest(&["run", "--filter", "nothing like it", "--pass-with-no-tests"]).code, 0);
    let said = Place::new().mcptest(&["run", "--", "true"]);
    assert_eq!(said.code, 7, "{}", said.stderr);
}

#[test]
fn fail_fast_skips_the_rest_and_says_so() {
    let (code, verdicts) = verdicts_of(THREE, &["--fail-fast"]);
    assert_eq!((code, verdicts), (1, vec!["first: passed".into(), "second: failed".into(), "third: skipped".into()]));
    let (_, verdicts) = verdicts_of(THREE, &["--max-fail", "2"]);
    assert_eq!(verdicts, ["first: passed", "second: failed", "third: passed"]);
}

#[test]
fn only_runs_alone_and_is_refused_in_ci() {
    let suite = THREE.replace("it: third,", "it: third, only: true,");
    assert_eq!(verdicts_of(&suite, &[]).1, ["third: passed"]);
    let place = Place::with_fixture(&[], &suite);
    let output = place.command(&["run"]).env("CI", "true").output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`only` is refused when `CI=true`"));
}

#[test]
fn a_seed_gives_the_same_order_again() {
    let tests: String = (0..12).map(|n| format!("  - {{ it: t{n}, ping: true }}\n")).collect();
    let suite = format!("tests:\n{tests}");
    let (_, one) = verdicts_of(&suite, &["--shuffle", "--seed", "5"]);
    let (_, two) = verdicts_of(&suite, &["--shuffle", "--seed", "5"]);
    let (_, plain) = verdicts_of(&suite, &[]);
    assert_eq!(one, two);
    assert_ne!(one, plain);
}

#[test]
fn a_selected_test_brings_the_tests_along_whose_captures_it_uses() {
    let suite = "tools:\n  - { it: unrelated, ping: true }\n  - { it: maker, tool: echo, args: { message: made }, capture: { made: $.text } }\n  - { it: user, tool: echo, args: { message: '${made}!' }, expect: { text: 'made!' } }\n";
    assert_eq!(verdicts_of(suite, &["--filter", "user"]), (0, vec!["maker: passed".into(), "user: passed".into()]));
    let broken = suite.replace("capture:", "expect: { text: other }, capture:");
    let (code, verdicts) = verdicts_of(&broken, &["--shuffle", "--seed", "3"]);
    assert_eq!(code, 1);
    assert!(verdicts.contains(&"user: skipped".to_owned()), "{verdicts:?}");
}

#[test]
fn files_run_in_parallel_and_are_reported_in_order() {
    let place = Place::with_fixture(&[], "tools:\n  - { it: slow, tool: sleep, args: { ms: 300 } }\n");
    for name in ["b", "c", "d"] {
        place.write(&format!("t{name}.test.mcp.yml"), &format!("tests:\n  - {{ it: {name}, ping: true }}\n"));
    }
    let (code, report) = place.report(&["-j", "4"]);
    assert_eq!(
        (code, verdicts(&report)),
        (0, ["slow: passed", "b: passed", "c: passed", "d: passed"].map(String::from).to_vec())
    );
    assert_eq!(place.read("pids").lines().count(), 4, "each worker has a server of its own");
    place.assert_nothing_left();
}

#[test]
fn paths_are_files_folders_and_globs() {
    let place = Place::with_fixture(&[], "tests:\n  - { it: top, ping: true }\n");
    place.write("deep/er/x.test.mcp.yml", "tests:\n  - { it: deep, ping: true }\n");
    place.write("ignored/y.test.mcp.yml", "tests:\n  - { it: ignored, ping: true }\n");
    place.write("odd.yml", "tests:\n  - { it: odd, ping: true }\n");
    place.write(".gitignore", "ignored/\n");
    let of = |args: &[&str]| verdicts(&place.report(args).1);
    assert_eq!(of(&[]), ["deep: passed", "top: passed"]);
    assert_eq!(of(&["deep"]), ["deep: passed"]);
    assert_eq!(of(&["./**/*.test.mcp.yml"]), ["deep: passed", "top: passed"]);
    assert_eq!(of(&["odd.yml", "deep/er"]), ["odd: passed", "deep: passed"]);
    assert_eq!(of(&["ignored/*.yml"]), ["ignored: passed"]);
    let said = place.mcptest(&["run", "nowhere.yml"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("nowhere.yml"), "{}", said.stderr);
}
