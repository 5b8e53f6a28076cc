//! Every extension in the repository, as it lies on the disk: built, and its cases run inside the engine.
//!
//! Below `matchers` and `examples/extensions` a folder is a project (it has a `Cargo.toml` of a package, or a `build.sh`), or
//! it holds projects. One that is neither, that has no cases or does not run them natively, or that nobody built fails.

use super::{Findings, suites};
use crate::engine::Engine;
use crate::guests;
use crate::languages;
use crate::process::{cargo, output, root};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// Where extensions are looked for.
const HOMES: [&str; 2] = ["matchers", "examples/extensions"];
/// Folders that belong to a project.
const PARTS: [&str; 5] = ["src", "target", "node_modules", "__pycache__", "bindings"];

struct Project {
    folder: PathBuf,
    /// A file for each of its roles.
    cases: Vec<PathBuf>,
    is_cargo: bool,
}

/// Formatting, clippy and the native tests of the cargo workspaces among them.
pub fn natively(_: &Engine) -> Findings {
    let mut findings = Findings::default();
    for home in HOMES {
        let commands: [&[&str]; 3] = [
            &["fmt", "--all", "--check"],
            &["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
            &["test", "--locked", "--workspace", "--quiet"],
        ];
        for args in commands {
            let mut command = cargo(args);
            command.current_dir(root().join(home)).env("CARGO_TARGET_DIR", root().join("target/guests"));
            findings.note(output(&mut command).map(drop));
        }
    }
    findings
}

/// Builds what cargo doesn't build, runs the cases of all, and then the suite that uses them.
pub fn inside(engine: &Engine) -> Findings {
    let mut findings = Findings::default();
    for home in HOMES {
        match projects(&root().join(home)) {
            Ok(projects) => projects.iter().for_each(|project| findings.note(project.check(engine))),
            Err(error) => findings.note(Err(error)),
        }
    }
    findings.note(suites::passes(engine, &root().join("examples").join("extensions"), &[]));
    findings
}

/// The projects below a folder; an empty list is an error.
fn projects(home: &Path) -> Result<Vec<Project>> {
    let mut found = Vec::new();
    let mut folders = std::fs::read_dir(home)?
        .map(|entry| entry.map(|entry| entry.path()))
        .filter(|path| path.as_ref().is_ok_and(|path| path.is_dir()))
        .collect::<std::io::Result<Vec<_>>>()?;
    folders.sort();
    folders.retain(|folder| folder.file_name().is_some_and(|name| !PARTS.iter().any(|part| name == *part)));
    for folder in folders {
        let is_cargo = folder.join("Cargo.toml").is_file();
        if !is_cargo && !folder.join("build.sh").is_file() {
            found.extend(projects(&folder)?);
            continue;
        }
        let own = ["cases.json", "cases-reporter.json", "cases-transform.json"].map(|name| folder.join(name));
        let mut cases: Vec<PathBuf> = own.into_iter().filter(|file| file.is_file()).collect();
        if cases.is_empty() {
            cases.push(home.join("cases.json"));
        }
        ensure!(cases.iter().all(|file| file.is_file()), "`{}` has no cases", folder.display());
        if is_cargo {
            runs_natively(&folder, &cases)?;
        }
        found.push(Project { folder, cases, is_cargo });
    }
    ensure!(!found.is_empty(), "`{}` holds no extension: nothing in it builds", home.display());
    Ok(found)
}

/// Whether a test of the package names each of its files of cases.
fn runs_natively(folder: &Path, cases: &[PathBuf]) -> Result<()> {
    let source = std::fs::read_to_string(folder.join("src").join("lib.rs")).unwrap_or_default();
    let tests = source.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests);
    for file in cases.iter().filter_map(|file| file.file_name()?.to_str()) {
        ensure!(tests.contains(&format!("{file}\"")), "`{}` has no test that runs `{file}`", folder.display());
    }
    Ok(())
}

impl Project {
    fn check(&self, engine: &Engine) -> Result<()> {
        let component = self.component()?;
        if !self.is_cargo {
            languages::build(engine, &self.folder, &component)?;
        }
        ensure!(component.is_file(), "`{}` was not built to `{}`", self.folder.display(), component.display());
        let mut command = engine.command(&["extension", "check"]);
        command.arg(component);
        for cases in &self.cases {
            command.arg("--cases").arg(cases);
        }
        output(&mut command).map(drop)
    }

    fn component(&self) -> Result<PathBuf> {
        let name = |folder: &Path| folder.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        if self.is_cargo {
            return guests::component(&self.folder);
        }
        let parent = self.folder.parent().and_then(name).context("a project has a parent")?;
        let own = name(&self.folder).context("a project has a name")?;
        Ok(languages::folder().join(format!("{parent}-{own}.wasm")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_a_project_with_cases() {
        let count = |home: &str| projects(&root().join(home)).map(|projects| projects.len()).expect("all have cases");
        assert!(count("matchers") >= 9);
        assert!(count("examples/extensions") >= 8);
    }

    #[test]
    fn a_forgotten_folder_is_found() {
        let home = std::env::temp_dir().join(format!("mcptest-projects-{}", std::process::id()));
        std::fs::create_dir_all(home.join("empty")).expect("writable");
        assert!(projects(&home).is_err(), "a folder that nobody builds");
        std::fs::write(home.join("empty/build.sh"), "").expect("writable");
        assert!(projects(&home).is_err(), "a project without cases");
        std::fs::write(home.join("cases.json"), "{}").expect("writable");
        assert_eq!(projects(&home).map(|projects| projects.len()).ok(), Some(1));
        std::fs::write(home.join("empty/Cargo.toml"), "").expect("writable");
        assert!(projects(&home).is_err(), "a package that does not run its cases");
        std::fs::create_dir(home.join("empty/src")).expect("writable");
        let test = "#[cfg(test)]\nmod tests { … run(\"../cases.json\") }";
        std::fs::write(home.join("empty/src/lib.rs"), test).expect("writable");
        assert_eq!(projects(&home).map(|projects| projects.len()).ok(), Some(1));
        std::fs::remove_dir_all(&home).expect("removable");
    }
}
