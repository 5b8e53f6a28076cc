//! `mcptest extension new`: a project that builds, and whose cases hold. `engine/templates/extension` has its parts.

use super::NewArgs;
use crate::cli::{BAD_INPUT, OK, screen};
use clap::ValueEnum;
use std::path::Path;

/// The language of a new extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    /// With the guest SDK; needs rustup's target wasm32-wasip2
    Rust,
    /// QuickJS inside the component; needs npm
    Js,
    /// An interpreter inside the component; needs pip
    Python,
    /// Needs Zig, or a clang with wasi-libc
    C,
}

/// What a new extension does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Judges values
    Matcher,
    /// Writes reports
    Reporter,
    /// Rewrites suites
    Transform,
}

/// A file of a project: its path, and its text with placeholders.
type File = (&'static str, &'static str);

macro_rules! files {
    ($folder:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../templates/extension/", $folder, "/", $path)))),*]
    };
}

macro_rules! sdk {
    ($($path:literal)*) => {
        &[$((concat!("mcptest-guest/", $path), include_str!(concat!("../../../../guest-sdk/", $path)))),*]
    };
}

const SDK: &[File] = sdk!("Cargo.toml" "src/bindings.rs" "src/event.rs" "src/export.rs" "src/failure.rs"
    "src/lib.rs" "src/log.rs" "src/matcher.rs" "src/matchers.rs" "src/reporter.rs" "src/testkit.rs"
    "src/testkit/file.rs" "src/testkit/nasty.rs" "src/testkit/tests.rs" "src/transform.rs" "src/value.rs"
    "src/verdict.rs" "wit/mcptest.wit");
const WIT: &[File] = &[("wit/mcptest.wit", include_str!("../../../../wit/mcptest.wit"))];
const BINDINGS: &[File] = &[
    ("bindings/matcher.c", include_str!("../../../../wit/c/matcher.c")),
    ("bindings/matcher.h", include_str!("../../../../wit/c/matcher.h")),
];

/// Everything that belongs to a language, whatever the role.
fn project(language: Language) -> [&'static [File]; 3] {
    match language {
        Language::Rust => [files!("rust/project": ".gitignore.in" "Cargo.toml.in" "README.md"), SDK, &[]],
        Language::Js => [files!("js/project": ".gitignore.in" "README.md" "package.json"), WIT, &[]],
        Language::Python => [files!("python/project": ".gitignore.in" "README.md" "requirements.txt"), WIT, &[]],
        Language::C => [files!("c/project": ".gitignore.in" "README.md" "build.sh"), WIT, BINDINGS],
    }
}

/// What the role adds; none where the language doesn't have it.
fn part(language: Language, part: Part) -> Option<[&'static [File]; 2]> {
    let cases: &[File] = match part {
        Part::Matcher => files!("any/matcher": "cases.json"),
        Part::Reporter => files!("any/reporter": "cases.json"),
        Part::Transform => files!("any/transform": "cases.json"),
    };
    let code: &[File] = match (language, part) {
        (Language::Rust, Part::Matcher) => files!("rust/matcher": "src/lib.rs"),
        (Language::Rust, Part::Reporter) => files!("rust/reporter": "src/lib.rs"),
        (Language::Rust, Part::Transform) => files!("rust/transform": "src/lib.rs"),
        (Language::Js, Part::Matcher) => files!("js/matcher": "extension.js"),
        (Language::Js, Part::Reporter) => files!("js/reporter": "extension.js"),
        (Language::Js, Part::Transform) => files!("js/transform": "extension.js"),
        (Language::Python, Part::Matcher) => files!("python/matcher": "extension.py"),
        (Language::Python, Part::Reporter) => files!("python/reporter": "extension.py"),
        (Language::Python, Part::Transform) => files!("python/transform": "extension.py"),
        (Language::C, Part::Matcher) => files!("c/matcher": "extension.c"),
        (Language::C, _) => return None,
    };
    Some([cases, code])
}

pub(super) fn new(args: &NewArgs) -> u8 {
    match write(args, Path::new(&args.name)) {
        Ok(count) => {
            screen::print(&format!("{}: {count} files; its README.md says how to build and try it\n", args.name));
            OK
        }
        Err((message, hint)) => {
            screen::tell(&format!("error: {message}\nhint: {hint}\n"));
            BAD_INPUT
        }
    }
}

/// Writes the project into a folder that must not exist yet; gives the number of files.
fn write(args: &NewArgs, folder: &Path) -> Result<usize, (String, &'static str)> {
    if !is_name(&args.name) {
        let message = format!("`{}` is no name for an extension", args.name);
        return Err((message, "use a lowercase letter, then lowercase letters, digits and hyphens"));
    }
    let Some(part) = part(args.lang, args.role) else {
        let message = "there is no such project in C: only matchers".to_owned();
        return Err((message, "`--lang rust`, `js` and `python` have reporters and transforms"));
    };
    let problem =
        |error: std::io::Error| (format!("`{}` cannot be made: {error}", folder.display()), "choose another name");
    std::fs::create_dir(folder).map_err(problem)?;
    let role = args.role.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let filled = |text: &str| {
        let text = text.replace("{{name}}", &args.name).replace("{{role}}", &role);
        text.replace("{{file}}", &args.name.replace('-', "_"))
    };
    let files: Vec<&File> = project(args.lang).into_iter().chain(part).flatten().collect();
    for (path, text) in &files {
        let path = folder.join(path.strip_suffix(".in").unwrap_or(path));
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(problem)?;
        std::fs::write(path, filled(text)).map_err(problem)?;
    }
    Ok(files.len())
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(allowed) && !name.ends_with('-')
}

#[cfg(test)]
mod tests;
