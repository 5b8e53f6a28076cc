//! `imports`: the extensions and programs that hold for one suite file.

use crate::source::Span;
use std::time::Duration;

/// The extensions that a suite imports.
#[derive(Debug, Clone, Default)]
pub struct Imports {
    /// `matchers`.
    pub matchers: Vec<Import>,
    /// `transforms`.
    pub transforms: Vec<Import>,
    /// `subprocess_matchers`.
    pub programs: Vec<Program>,
}

/// One entry of `imports.subprocess_matchers`: a program that is a matcher.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its key; where there is none, the file's stem is the name.
    pub matcher: Option<String>,
    /// What is run.
    pub command: Command,
    /// The method it answers, when that is not the matcher's name.
    pub method: Option<String>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// Where.
    pub span: Span,
}

/// What is run for a [`Program`].
#[derive(Debug, Clone)]
pub enum Command {
    /// A file, relative to the suite's folder.
    File(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

/// One import: an id of the config, or a file.
#[derive(Debug, Clone)]
pub struct Import {
    /// As it is written.
    pub reference: String,
    /// Where.
    pub span: Span,
}
