//! Every diagnostic as a person reads it: folders of `tests/invalid`, each with the text it must give.
//!
//! A folder holds a config or a suite (or both) with something wrong, and `expected.txt`. `UPDATE_GOLDEN=1` writes the
//! texts anew; read them before committing.

use super::file;
use crate::diagnostic::Diagnostics;
use crate::source;
use crate::suite::{Setting, parse};
use std::path::{Path, PathBuf};

fn diagnose(folder: &Path) -> String {
    let environment = [("HOME", "/home/ada"), ("API_TOKEN", "s3cret-token")];
    let setting = Setting {
        lenient: false,
        working_dir: folder.to_owned(),
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect(),
        ..Setting::default()
    };
    let mut diagnostics = Diagnostics::default();
    let mut lenient = false;
    if let Some(path) = file::discover(folder, &mut diagnostics) {
        lenient = file::load(&path, &setting, &mut diagnostics).is_some_and(|config| config.lenient);
    }
    let setting = Setting { lenient, ..setting };
    for path in files(folder).into_iter().filter(|path| path.to_string_lossy().contains(".test.mcp.")) {
        let shown = path.file_name().expect("a name").to_string_lossy();
        match source::load(&path, &shown) {
            Ok(source) => drop(parse::parse(&source, &setting, &mut diagnostics)),
            Err(problem) => diagnostics.push(problem),
        }
    }
    diagnostics.render(false)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn every_problem_reads_as_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut different = Vec::new();
    for folder in files(&root) {
        let actual = diagnose(&folder);
        let golden = folder.join("expected.txt");
        if update {
            std::fs::write(&golden, &actual).expect("a golden file");
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if actual != expected || actual.is_empty() {
            different.push(format!("{}\n--- expected\n{expected}--- actual\n{actual}", folder.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
