//! `mcptest discover`: asks a server what it has, tries what changes nothing, and writes a suite that runs.
//!
//! [`survey`] asks, [`write`] makes the text. What comes out is for people: comments say where to go on, arguments are made
//! from the schemas, and what a tool really answered decides what the suite expects of it.

pub mod survey;
mod value;
pub mod write;
mod yaml;

use crate::source::Json;

/// Stands for the server's `${tmp}` in what it answered, so that two sessions can be compared.
const TMP: &str = "\u{f8ff}tmp\u{f8ff}";

/// Which tools are called to see what they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Those that say that they change nothing.
    ReadOnly,
    /// Every one.
    All,
    /// None.
    None,
}

/// What a server has.
#[derive(Debug, Default)]
pub struct Survey {
    /// `serverInfo`.
    pub server_info: Option<Json>,
    /// The revision that was spoken.
    pub protocol_version: Option<String>,
    /// Its tools, prompts, resources and templates, in its own order.
    pub items: Vec<Item>,
    /// Lists that did not come to their end, of what, and why.
    pub unlisted: Vec<(Kind, String)>,
}

/// Something that a step can be written for.
#[derive(Debug)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its name, or its URI.
    pub name: String,
    /// What the server says about it.
    pub about: Option<String>,
    /// The schema of its arguments, as it came; `null` for what has none.
    pub schema: Json,
    /// What it is called with; `null` for a prompt that takes nothing.
    pub args: Json,
    /// Whether it has to be called as a task.
    pub task: bool,
    /// Whether trying it changes nothing, so that it may be tried again.
    pub harmless: bool,
    /// What came of trying it.
    pub tried: Tried,
}

/// What an [`Item`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A tool.
    Tool,
    /// A resource, by its URI.
    Resource,
    /// A resource template.
    Template,
    /// A prompt.
    Prompt,
}

/// What came of trying an [`Item`].
#[derive(Debug, Clone, PartialEq)]
pub enum Tried {
    /// It was not tried, and why.
    Not(String),
    /// What it answered, and what it answered in another session; the same twice can be expected a third time.
    Result(Json, Option<Json>),
    /// It answered with an error.
    Error(Json),
}
