//! `mcptest extension`: what authors of extensions need.

mod bench;
mod build;
mod cases;
mod check;
mod inspect;
mod new;

use super::{BAD_INPUT, EXTENSION, Talk, screen};
use crate::diagnostic::Diagnostics;
use crate::extension::registry::Options;
use crate::extension::{Declared, Fault, Grant, Live, Registry, Role, spec};
use crate::reporter::visible::{visible, visible_lines};
use crate::suite::environment::Environment;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Subcommand)]
pub(super) enum ExtensionCommand {
    /// Write a project that builds, and whose cases hold, into a folder of its name
    New(NewArgs),
    /// Show what a component or a plugin offers, asks for and runs on
    Inspect {
        /// The component, the plugin.toml or its folder, or the program
        #[arg(value_name = "PATH")]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the cases of a component or a plugin, and what no author thinks of
    Check(CheckArgs),
    /// Measure what a call costs
    Bench(BenchArgs),
    /// Turn a core module into a component
    Build(BuildArgs),
}

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The extension's name: a lowercase letter, then lowercase letters, digits and hyphens
    name: String,
    /// What it is written in
    #[arg(long, value_enum)]
    lang: new::Language,
    /// What it does
    #[arg(long, value_enum, default_value_t = new::Part::Matcher)]
    role: new::Part,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The component, the plugin.toml or its folder, or the program
    #[arg(value_name = "PATH")]
    file: PathBuf,
    /// Its cases (repeatable) [default: none; only what every extension must survive]
    #[arg(long, value_name = "cases.json")]
    cases: Vec<PathBuf>,
    /// Grant it something
    #[arg(long, value_name = "GRANT")]
    allow: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// The component, the plugin.toml or its folder, or the program
    #[arg(value_name = "PATH")]
    file: PathBuf,
    /// Which of its matchers [default: the first]
    #[arg(long, value_name = "NAME")]
    matcher: Option<String>,
    /// The argument, as JSON
    #[arg(long, value_name = "JSON", default_value = "\"a\"")]
    expected: String,
    /// The value, as JSON
    #[arg(long, value_name = "JSON", default_value = "\"a\"")]
    actual: String,
    /// Grant it something
    #[arg(long, value_name = "GRANT")]
    allow: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct BuildArgs {
    /// The core module
    #[arg(value_name = "CORE.wasm")]
    file: PathBuf,
    /// Where the component goes
    #[arg(long, short, value_name = "FILE.wasm")]
    output: PathBuf,
    /// The world that the module implements, when it does not say so itself: matcher, reporter, transform or extension
    #[arg(long, value_name = "WORLD")]
    world: Option<String>,
}

pub(super) fn run(command: ExtensionCommand, talk: &Talk) -> u8 {
    match command {
        ExtensionCommand::New(args) => new::new(&args),
        ExtensionCommand::Inspect { file, json } => inspect::inspect(&file, json),
        ExtensionCommand::Check(args) => check::check(&args, talk),
        ExtensionCommand::Bench(args) => bench::bench(&args, talk),
        ExtensionCommand::Build(args) => build::build(&args),
    }
}

fn registry(declared: Vec<Declared>) -> Registry {
    let environment = Environment::of_process();
    Registry::new(Options { declared, allow: Vec::new(), cache: true, environment })
}

/// A component, a `plugin.toml` or its folder, or a program: whatever lies there.
fn declared(file: &Path) -> Declared {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let shown = file.to_string_lossy();
    if let Some(manifest) = spec::at(&path) {
        return Declared::spec(manifest, shown);
    }
    if is_program(&path) {
        let folder = std::env::current_dir().unwrap_or_default();
        return Declared::program(path, shown, folder);
    }
    Declared::bare(path, shown)
}

/// Whether a file is run, and not loaded.
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = |about: std::fs::Metadata| about.is_file() && about.permissions().mode() & 0o111 != 0;
    path.extension().is_none_or(|end| end != "wasm") && path.metadata().is_ok_and(runs)
}

/// Loads one component with these grants; tells why it cannot, and gives the exit code.
fn load(file: &Path, allow: &[String], role: Option<Role>, talk: &Talk) -> Result<(Registry, Arc<Live>), u8> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut declared = declared(file);
    for text in allow {
        match Grant::parse(text, &here) {
            Ok(grant) => declared.allow.push(grant),
            Err(why) => {
                screen::tell(&format!("error: `--allow {text}`: {why}\n"));
                return Err(BAD_INPUT);
            }
        }
    }
    let path = declared.path.clone();
    let mut registry = registry(vec![declared]);
    let live = match role {
        Some(role) => registry.named(&path.to_string_lossy(), &here, None, role),
        None => registry.configured().into_iter().next().flatten(),
    };
    for notice in &registry.notices {
        screen::tell(&format!("note: {}\n", visible(notice)));
    }
    match live {
        Some(live) => Ok((registry, live)),
        None => {
            screen::tell(&std::mem::take::<Diagnostics>(&mut registry.problems).render(screen::stderr(talk).color));
            Err(EXTENSION)
        }
    }
}

fn tell_fault(fault: &Fault) -> u8 {
    // The mistakes of a manifest are shown with its lines.
    let message: Vec<_> = visible_lines(&fault.message).collect();
    screen::tell(&format!("error: {} ({})\n", message.join("\n  "), fault.code.name()));
    for hint in fault.all_hints() {
        screen::tell(&format!("hint: {}\n", visible(&hint)));
    }
    EXTENSION
}
