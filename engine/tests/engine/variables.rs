//! Variables that do not end, and rows that are none: told before anything runs.

use crate::kit::Place;

/// Each of these once took minutes, or all memory.
#[test]
fn variables_that_never_end_are_told() {
    let doubling: String = (1..=40).map(|at| format!("  v{at}: \"${{v{0}}}${{v{0}}}\"\n", at - 1)).collect();
    let everywhere: String = (0..12)
        .map(|at| format!("  w{at}: \"{}\"\n", (0..12).map(|to| format!("${{w{to}}} ")).collect::<String>()))
        .collect();
    let cases = [
        ("  a: \"x ${a} ${a}\"\n".to_owned(), "a", "the variable `a` cannot be resolved"),
        ("  a: \"${b} ${b}\"\n  b: \"${a} ${a}\"\n".to_owned(), "a", "the variable `a` cannot be resolved"),
        (everywhere, "w3", "the variable `w3` cannot be resolved"),
        (format!("  v0: x\n{doubling}"), "v40", "with `v40`, variables expand to more than 1 MiB"),
        (
            "  v0: [a, b]\n".to_owned() + &doubling.replace('"', ""),
            "v40",
            "with `v40`, variables expand to more than 1 MiB",
        ),
    ];
    for (variables, name, wanted) in cases {
        let place = Place::new();
        let suite = format!(
            "variables:\n{variables}tools:\n  - {{ it: a, tool: echo, args: {{ message: \"${{{name}}}\" }} }}\n"
        );
        place.write("suite.test.mcp.yml", &suite);
        let said = place.mcptest(&["check"]);
        assert_eq!(said.code, 2, "{}", said.stderr);
        assert!(said.stderr.contains(wanted), "{wanted}: {}", said.stderr);
    }
    let suite = r#"
variables: { a: x, b: "${a}${a}", c: ["${b}", "${b}"], d: "${c} ${b}" }
tools:
  - { it: a, tool: echo, args: { message: "${d}" }, expect: { text: '["xx","xx"] xx' } }
"#;
    let (code, report) = Place::with_fixture(&[], suite).report(&[]);
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn a_test_without_rows_captures_nothing() {
    let place = Place::with_fixture(&[], "");
    place.write("rows.json", "[]");
    let captures = "tool: echo, args: { message: hi }, capture: { x: $.text } }";
    let uses = "  - { it: uses it, tool: echo, args: { message: \"${x}\" } }\n";
    for rows in ["[]", "rows.json"] {
        for before in ["", "  - { it: is first, ping: true }\n"] {
            let suite = format!("tools:\n{before}  - {{ it: has none, each: {rows}, {captures}\n{uses}");
            place.write("suite.test.mcp.yml", &suite);
            let said = place.mcptest(&["check"]);
            assert_eq!(said.code, 2, "{}", said.stderr);
            assert_eq!(said.stderr.matches("error").count(), 2, "one error and its sum: {}", said.stderr);
        }
    }
}
