//! Which suite files are meant: files as they are, folders and globs with what is ignored by git left out.

use crate::diagnostic::{Diagnostic, Diagnostics};
use ignore::WalkBuilder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const DEFAULT: &str = "**/*.test.mcp.{yml,yaml}";

/// The suite files, sorted, each once; `missing` collects what matched nothing.
pub(super) fn find(paths: &[String], diagnostics: &mut Diagnostics, missing: &mut Vec<String>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    if paths.is_empty() {
        add(&mut found, &mut seen, walk(Path::new("."), DEFAULT, true, diagnostics));
        if found.is_empty() {
            missing.push("**/*.test.mcp.yml".into());
        }
    }
    for text in paths {
        let path = Path::new(text);
        let files = if path.is_dir() {
            walk(path, DEFAULT, true, diagnostics)
        } else if path.is_file() || !is_glob(text) {
            vec![path.to_owned()]
        } else {
            glob(text, diagnostics)
        };
        if files.is_empty() {
            missing.push(text.clone());
        }
        add(&mut found, &mut seen, files);
    }
    found
}

fn add(found: &mut Vec<PathBuf>, seen: &mut BTreeSet<PathBuf>, mut files: Vec<PathBuf>) {
    files.sort();
    for file in files {
        let file = file.strip_prefix(".").map_or(file.clone(), Path::to_owned);
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if seen.insert(real) {
            found.push(file);
        }
    }
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// A glob is looked up below its longest plain folder; when git ignores everything it names, it is meant all the same.
fn glob(text: &str, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    let text = text.strip_prefix("./").unwrap_or(text);
    let plain: PathBuf =
        Path::new(text).components().take_while(|part| !is_glob(&part.as_os_str().to_string_lossy())).collect();
    let rest = Path::new(text).strip_prefix(&plain).unwrap_or(Path::new(text)).to_string_lossy().into_owned();
    let folder = if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain };
    let found = walk(&folder, &rest, true, diagnostics);
    if found.is_empty() && !diagnostics.has_errors() { walk(&folder, &rest, false, diagnostics) } else { found }
}

fn walk(folder: &Path, pattern: &str, ignoring: bool, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    let matcher = match globset::GlobBuilder::new(pattern).literal_separator(true).build() {
        Ok(glob) => glob.compile_matcher(),
        Err(error) => {
            diagnostics.push(Diagnostic::error(format!("`{pattern}` is not a glob: {}", error.kind())));
            return Vec::new();
        }
    };
    let walked = WalkBuilder::new(folder).standard_filters(ignoring).require_git(false).build();
    let mut entries = Vec::new();
    for entry in walked {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(error) => diagnostics.push(left_out(&error)),
        }
    }
    let files = entries.into_iter().filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
    files
        .map(ignore::DirEntry::into_path)
        .filter(|path| matcher.is_match(path.strip_prefix(folder).unwrap_or(path)))
        .collect()
}

/// A folder that cannot be looked into: the suites in it would be missed without a word.
fn left_out(error: &ignore::Error) -> Diagnostic {
    let told = error.to_string();
    Diagnostic::warning(format!("suites may be left out: {}", told.trim_start_matches("IO error for operation on ")))
}
