//! `mcptest discover`: what it writes is read, checked and run.

use crate::kit::{Place, fixture_server, messages, verdicts};

const DEMO: [&str; 3] = ["--", "mcptest", "demo-server"];

fn discover(place: &Place, args: &[&str], server: &[&str]) -> String {
    let said = place.mcptest(&[&["discover"][..], args, server].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.stderr
}

#[test]
fn the_demo_servers_suite_passes_as_it_is() {
    for args in [&[][..], &["--capture"], &["--capture", "--answer", "--call", "all"]] {
        let place = Place::new();
        let told = discover(&place, args, &DEMO);
        assert!(told.contains("wrote `mcptest-demo-server.test.mcp.yml`") || told.contains(".test.mcp.yml`"), "{told}");
        let said = place.mcptest(&["check"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let (code, report) = place.report(&[]);
        assert_eq!(code, 0, "{args:?} {:#?} {:#?}", verdicts(&report), messages(&report));
        let verdicts = verdicts(&report);
        assert!(verdicts.contains(&"calls echo: passed".to_owned()), "{verdicts:?}");
        assert!(verdicts.contains(&"calls fail: passed".to_owned()), "{verdicts:?}");
        assert!(verdicts.contains(&"reads demo://greeting/{name}: passed".to_owned()), "{verdicts:?}");
        let skipped = verdicts.iter().filter(|verdict| verdict.ends_with(": skipped")).count();
        assert_eq!(skipped, usize::from(!args.contains(&"all")), "{verdicts:?}");
    }
}

#[test]
fn captured_answers_are_expected_and_changing_ones_by_their_shape() {
    let place = Place::new();
    discover(&place, &["--capture", "-o", "a.test.mcp.yml"], &DEMO);
    let text = place.read("a.test.mcp.yml");
    assert!(text.contains("expect: { structured: { sum: 2 } }"), "{text}");
    assert!(text.contains("skip: review the arguments first"), "{text}");
    let said = place.mcptest(&["discover", "-o", "-", "--", "mcptest", "demo-server"]);
    assert!(said.stdout.contains("expect: { isError: false }") && !said.stdout.contains("sum: 2"), "{}", said.stdout);
}

#[test]
fn nothing_is_written_over_without_force() {
    let place = Place::new();
    place.write("a.test.mcp.yml", "mine");
    let again = ["discover", "-o", "a.test.mcp.yml", "--", "mcptest", "demo-server"];
    let said = place.mcptest(&again);
    assert!(said.code == 2 && said.stderr.contains("is there already"), "{}", said.stderr);
    assert_eq!(place.read("a.test.mcp.yml"), "mine");
    discover(&place, &["-o", "a.test.mcp.yml", "--force"], &DEMO);
    assert!(place.read("a.test.mcp.yml").contains("tools:"));
}

#[test]
fn secrets_are_not_written_down_and_a_dying_server_is_no_end() {
    let place = Place::new();
    let server = fixture_server();
    let mut command = place.command(&["discover", "--capture", "--call", "all", "-o", "a.test.mcp.yml", "--", &server]);
    let output = command.env("MY_API_TOKEN", "canary-value-123").output().expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    let text = place.read("a.test.mcp.yml");
    assert!(!text.contains("canary-value-123"), "{text}");
    assert!(text.contains("the server was gone after `crash`") || text.contains("when it was tried"), "{text}");
    let said = place.mcptest(&["check", "a.test.mcp.yml"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
}

#[test]
fn names_that_mean_something_in_a_suite_are_written_so_that_they_do_not() {
    let place = Place::new();
    let server = fixture_server();
    let args = ["--call", "all", "--capture", "-o", "a.test.mcp.yml"];
    discover(&place, &args, &["--", &server, "--odd-names"]);
    let text = place.read("a.test.mcp.yml");
    assert!(text.contains(r#"args: { "$${x}": "$${tmp}", $gt: 1, "a: b": example }"#), "{text}");
    // What is sent when it is run is what was sent when it was tried.
    assert!(text.contains("prompt: \"$${all}\"\n    args: {}\n"), "{text}");
    assert!(text.contains("prompt: \"$${none}\"\n    expect:"), "{text}");
    let said = place.mcptest(&["check", "a.test.mcp.yml"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let said = place.mcptest(&["run", "a.test.mcp.yml"]);
    assert_eq!(said.code, 0, "{}", said.stdout);
}

#[test]
fn a_list_that_fails_is_told_and_the_others_are_written() {
    let place = Place::new();
    let server = fixture_server();
    for (flag, why) in [("--refuse", "-32603 not today"), ("--hang-on", "no answer to `prompts/list` within 2s")] {
        let args = ["--force", "--timeout", "2s", "-o", "a.test.mcp.yml"];
        let told = discover(&place, &args, &["--", &server, flag, "prompts/list"]);
        let why = format!("`prompts/list` did not come to its end: {why}");
        assert!(told.contains(&format!("note: {why}")), "{told}");
        let text = place.read("a.test.mcp.yml");
        assert!(text.contains(&format!("# Something is missing here: {why}\n")), "{text}");
        assert!(text.contains("tool: echo\n") && !text.contains("prompts:"), "{text}");
    }
}

#[test]
fn a_server_of_the_modern_era_is_found_where_the_command_line_says_so() {
    let place = Place::new();
    let server = fixture_server();
    let command = ["--", server.as_str(), "--modern-only"];
    let said = place.mcptest(&[&["discover"][..], &command].concat());
    assert!(said.code == 3 && said.stderr.contains("`--protocol auto`"), "{}", said.stderr);
    discover(&place, &["--protocol", "auto", "-o", "a.test.mcp.yml"], &command);
    let text = place.read("a.test.mcp.yml");
    assert!(text.contains("protocol: auto"), "{text}");
    let said = place.mcptest(&["run", "a.test.mcp.yml"]);
    assert_eq!(said.code, 0, "{}", said.stdout);
}

#[test]
fn the_command_that_runs_the_suite_names_the_config_that_was_named() {
    let place = Place::new();
    let server = serde_json::Value::from(fixture_server());
    place.write("of mine.yml", &format!("command: {server}\nargs: [--modern-only]\n"));
    let named = ["-c", "of mine.yml", "--protocol", "auto", "-o", "a b.test.mcp.yml"];
    let told = discover(&place, &named, &[]);
    let command = "mcptest run --config 'of mine.yml' 'a b.test.mcp.yml'";
    assert!(told.contains(&format!("next: {command}\n")), "{told}");
    assert!(told.contains("the suite needs `protocol: auto` in the server's config"), "{told}");
    assert!(place.read("a b.test.mcp.yml").contains(&format!("#   {command}\n")));
    place.write("mcptest.yml", &format!("command: {server}\n"));
    let told = discover(&place, &["-o", "c.test.mcp.yml"], &[]);
    assert!(told.contains("next: mcptest run c.test.mcp.yml\n") && !told.contains("--protocol"), "{told}");
}
