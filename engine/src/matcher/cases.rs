//! The case files in `cases/`: for every matcher what passes, fails, cannot apply, and is a bad argument.
//!
//! ```json
//! {"matcher": "$gt", "cases": [{"name": "…", "expected": {"$gt": 1}, "actual": 2, "verdict": "pass"}]}
//! ```
//!
//! A case without `actual` judges a missing value; `message` is a part of what is said. The files know nothing of this
//! engine, so that whoever implements a matcher elsewhere can run them too.

use super::testing::{compile, node};
use super::{aegis, table};
use crate::source::Json;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    matcher: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    expected: Json,
    #[serde(default, deserialize_with = "present")]
    actual: Option<Json>,
    verdict: Wanted,
    message: Option<String>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Pass,
    Fail,
    Invalid,
}

/// Keeps `null` apart from nothing.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

fn files() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/matcher/cases");
    let mut paths: Vec<_> =
        fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).expect("readable");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(read).collect()
}

fn run(case: &Case) -> (Wanted, Vec<String>) {
    let (compiled, diagnostics) = compile(&node(&case.expected));
    if diagnostics.has_errors() {
        let said = diagnostics.list.iter().map(|problem| format!("{} {}", problem.message, problem.hints.join(" ")));
        return (Wanted::Invalid, said.collect());
    }
    let found = compiled.check(case.actual.as_ref(), "$");
    assert_eq!(found.is_empty(), compiled.holds(case.actual.as_ref()), "probe and check disagree: {}", case.name);
    let verdict = if found.is_empty() { Wanted::Pass } else { Wanted::Fail };
    (verdict, found.into_iter().map(|mismatch| mismatch.message).collect())
}

#[test]
fn every_case_ends_as_it_should() {
    let mut wrong = Vec::new();
    for file in files() {
        for case in &file.cases {
            let (verdict, said) = run(case);
            let heard = case.message.as_ref().is_none_or(|part| said.iter().any(|it| it.contains(part)));
            if verdict != case.verdict || !heard {
                wrong.push(format!(
                    "{}: {}: {verdict:?} {said:?}, wanted {:?} {:?}",
                    file.matcher, case.name, case.verdict, case.message
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_matcher_has_a_case_file_with_every_verdict() {
    let files = files();
    let have: BTreeSet<&str> = files.iter().map(|file| file.matcher.as_str()).collect();
    let family = aegis::names_for_tests().map(|name| format!("match:{name}"));
    for name in table::names().map(str::to_owned).chain(family) {
        assert!(have.contains(name.as_str()), "`{name}` has no case file");
    }
    for file in &files {
        for verdict in [Wanted::Pass, Wanted::Fail] {
            let has = file.cases.iter().any(|case| case.verdict == verdict);
            assert!(has || file.matcher == "mapping", "`{}` has no case that ends in {verdict:?}", file.matcher);
        }
    }
}
