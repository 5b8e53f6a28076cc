//! `docs/matchers.md` and `docs/mcp-aegis.md`: every example is executed, and every matcher has its entry.
//!
//! An example is a YAML block with `expected`, and values under `passes` and `fails`.

use super::testing::compile;
use super::{aegis, table};
use crate::diagnostic::Diagnostics;
use crate::source::{Source, yaml};
use std::path::Path;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs every example of a page, and says how many there are.
fn run(name: &str) -> usize {
    let text = page(name);
    let blocks = text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let mut count = 0;
    for block in blocks.filter(|block| block.contains("expected:")) {
        let source = Source::new(name, name, block.to_owned());
        let mut diagnostics = Diagnostics::default();
        let tree = yaml::parse(&source, &mut diagnostics).unwrap_or_else(|| panic!("{block}\n{diagnostics:?}"));
        let (compiled, problems) = compile(tree.get("expected").expect("an expected value"));
        assert!(problems.list.is_empty(), "{block}\n{:?}", problems.list);
        for (key, holds) in [("passes", true), ("fails", false)] {
            for value in tree.get(key).and_then(|list| list.items()).unwrap_or_default() {
                let value = value.to_json();
                assert_eq!(compiled.holds(Some(&value)), holds, "{name}: {block}{key}: {value}");
            }
        }
        assert!(tree.get("passes").is_some() && tree.get("fails").is_some(), "{block}");
        count += 1;
    }
    count
}

#[test]
fn every_example_of_the_matchers_is_true() {
    assert!(run("matchers.md") >= table::names().count());
}

#[test]
fn every_example_of_the_family_is_true() {
    assert!(run("mcp-aegis.md") >= 3);
}

#[test]
fn every_matcher_has_its_entry() {
    let text = page("matchers.md");
    for name in table::names() {
        assert!(
            text.contains(&format!("### `{name}`")) || text.contains(&format!(" `{name}`\n")),
            "`{name}` has no entry"
        );
    }
    let family = page("mcp-aegis.md");
    for name in aegis::names_for_tests() {
        assert!(family.contains(&format!("match:{name}")), "`match:{name}` is not in the table");
    }
}
