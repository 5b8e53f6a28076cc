//! `docs/failures.md` shows typical failures: each is made here from its suite and its answer, and must look as it does
//! there. `SNAPSHOTS=overwrite` writes the page anew.

use super::*;
use crate::diagnostic::Diagnostics;
use crate::event::At;
use crate::matcher::{Compiler, Mode};
use crate::source::{Json, Node, Source, yaml};
use std::path::Path;

/// The failures of the first expectation in a suite.
fn failures(suite: &str, actual: Option<&Json>) -> Vec<Failure> {
    let source = Source::new("greet.test.mcp.yml", "greet.test.mcp.yml", suite.to_owned());
    let mut diagnostics = Diagnostics::default();
    let tree = yaml::parse(&source, &mut diagnostics).expect("a tree");
    let expect = find(&tree, "expect").expect("an `expect`");
    let entry = &expect.entries().expect("a mapping")[0];
    let mode = if entry.key == "error" { Mode::Partial } else { Mode::Exact };
    let compiled = Compiler::new(&source, &mut diagnostics).compile(&entry.value, mode);
    assert!(!diagnostics.has_errors(), "{:?}", diagnostics.list);
    let found = compiled.check(actual, &format!("$.{}", entry.key));
    found.into_iter().map(|mismatch| mismatch.into_failure(&source)).collect()
}

fn find<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).or_else(|| {
        let below =
            node.entries().unwrap_or_default().iter().map(|entry| &entry.value).chain(node.items().unwrap_or_default());
        below.into_iter().find_map(|child| find(child, key))
    })
}

fn shown(suite: &str, actual: Option<&Json>, style: Style) -> String {
    render_all(&failures(suite, actual), style).join("\n")
}

#[test]
fn the_page_of_failures_is_what_is_shown() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/failures.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (mut fresh, mut sections) = (String::new(), 0);
    let (mut suite, mut answer) = (String::new(), String::new());
    let mut rest = page.as_str();
    while let Some(start) = rest.find("```") {
        let end = start + 3 + rest[start + 3..].find("```").expect("a closed block");
        let (kind, body) = rest[start + 3..end].split_once('\n').expect("a block");
        fresh.push_str(&rest[..start]);
        match kind {
            "yaml" => suite = body.to_owned(),
            "json" => answer = body.to_owned(),
            _ => {}
        }
        if kind == "text" {
            let actual = (answer.trim() != "nothing").then(|| serde_json::from_str(&answer).expect("JSON"));
            let text = shown(&suite, actual.as_ref(), Style { color: false, width: 80 });
            assert!(text.lines().all(|line| crate::reporter::text::columns(line) <= 80), "{text}");
            fresh.push_str(&format!("```text\n{text}```"));
            sections += 1;
            picture(&path, sections, &shown(&suite, actual.as_ref(), Style { color: true, width: 80 }));
        } else {
            fresh.push_str(&rest[start..end + 3]);
        }
        rest = &rest[end + 3..];
    }
    fresh.push_str(rest);
    assert!(sections >= 12, "{sections} failures");
    assert_eq!(page.matches("](failures/").count(), sections, "a picture for each");
    hold(&path, &fresh);
}

/// The failure in colour, as a picture beside the page.
fn picture(page: &Path, number: usize, colored: &str) {
    let terminal = anstyle_svg::Term::new().min_width_px(760);
    hold(&page.with_file_name("failures").join(format!("{number:02}.svg")), &terminal.render_svg(colored));
}

/// Compares a file, or writes it anew.
fn hold(path: &Path, fresh: &str) {
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, fresh).expect("written");
    } else {
        let held = std::fs::read_to_string(path).unwrap_or_default();
        assert!(fresh == held, "{} is out of date:\n{fresh}", path.display());
    }
}

#[test]
fn nothing_raw_reaches_the_terminal() {
    let suite = "tools:\n  - it: x\n    tool: y\n    expect:\n      structured: { a: \"plain\", b: [1] }\n";
    let hostile = crate::reporter::sample::HOSTILE;
    let actual = serde_json::json!({"a": hostile, hostile: [hostile, {hostile: 1}], "b": hostile});
    for (color, width) in [(false, 80), (true, 80), (false, 20), (false, 0)] {
        let text = shown(suite, Some(&actual), Style { color, width });
        let raw =
            text.replace("\u{1b}[", "").chars().find(|c| *c != '\n' && crate::reporter::visible::is_invisible(*c));
        assert!(raw.is_none(), "{raw:?} in {text}");
        assert!(color || !text.contains('\u{1b}'));
    }
}

#[test]
fn a_message_without_end_takes_a_screen_at_most() {
    let mut failures = failures("expect: { text: a }", Some(&Json::from("b")));
    failures[0].message = "no\n".repeat(100_000);
    let text = render(&failures[0], Style { color: false, width: 80 });
    let heading: Vec<&str> = text.lines().take_while(|line| !line.contains("-->")).collect();
    assert_eq!(heading.len(), MESSAGE_ROWS);
    assert!(heading[MESSAGE_ROWS - 1].ends_with('…'), "{text}");
}

#[test]
fn long_lines_are_cut_around_the_caret() {
    let text = format!("{}key: 値{}", " ".repeat(300), "x".repeat(300));
    let at = At { file: "a.yml".into(), line: 7, column: 306, width: 1, text, cut: 0 };
    let failure = Failure::new(FailureKind::Mismatch, "no".into(), at);
    let shown = render(&failure, Style { color: false, width: 60 });
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines.iter().all(|line| crate::reporter::text::columns(line) <= 60), "{shown}");
    let caret = lines[3].find('^').expect("a caret");
    let before: String = lines[2].chars().take_while(|c| *c != '値').collect();
    assert_eq!(crate::reporter::text::columns(&before), caret, "{shown}");
}

#[test]
fn colour_changes_no_character() {
    let suite = "tools:\n  - it: x\n    tool: y\n    expect:\n      structured: { a: hello, b: [1], c: 1 }\n";
    let actual = serde_json::json!({"a": "hallo", "b": [1, 2], "c": "1"});
    let plain = shown(suite, Some(&actual), Style { color: false, width: 80 });
    let colored = shown(suite, Some(&actual), Style { color: true, width: 80 });
    let mut bare = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare.push_str(before);
        rest = after.split_once('m').expect("an escape").1;
    }
    bare.push_str(rest);
    // In colour the change is highlighted, and needs no mark below it.
    let without_marks = |text: &str| {
        text.lines().filter(|line| !line.trim().chars().all(|c| c == '^')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_marks(&bare), without_marks(&plain));
}
