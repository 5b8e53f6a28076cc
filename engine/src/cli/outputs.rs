//! Files that a run writes: none of them may be one that it reads, or that a later run would.
//!
//! `--junit suite.test.mcp.yml` reads like a switch and a suite, and would replace the suite by its report.

use super::RunArgs;
use super::load::Loaded;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::reporter::is_input;
use std::fs;
use std::path::{Path, PathBuf};

/// Every report and cassette that would replace what is read.
pub(super) fn check(args: &RunArgs, loaded: &Loaded) -> Diagnostics {
    let inputs: Vec<PathBuf> =
        inputs(args, loaded).into_iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let is_read = |path: &Path| is_input(path) || fs::canonicalize(path).is_ok_and(|path| inputs.contains(&path));
    let reports = loaded.reporters.iter().filter_map(|spec| {
        let file = Path::new(spec.split_once('=')?.1);
        Some(("report", file))
    });
    let outputs = reports.chain(args.record.iter().map(|path| ("cassette", path.as_path())));
    let list = outputs.filter(|(_, path)| is_read(path)).map(|(what, path)| {
        Diagnostic::error(format!("the {what} `{}` would replace what a run reads", path.display()))
            .hint(format!("give the {what} a name of its own: it is written anew by every run"))
    });
    Diagnostics::from(list.collect::<Vec<_>>())
}

/// What this run reads.
fn inputs<'a>(args: &'a RunArgs, loaded: &'a Loaded) -> Vec<&'a Path> {
    let suites = loaded.plan.files.iter().map(|file| file.suite.source.path.as_path());
    let config = loaded.config.source.as_ref().map(|source| source.path.as_path());
    let named = args.suites.paths.iter().map(Path::new).filter(|path| path.is_file());
    let given = args.suites.env_file.iter().chain(&args.replay).map(PathBuf::as_path);
    suites.chain(config).chain(named).chain(given).collect()
}
