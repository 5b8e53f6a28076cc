//! The role of a reporter: it reads the events of a run and writes reports.

use crate::event::Event;
use crate::failure::Failure;

/// A reporter. One instance sees all events of a run, in order.
///
/// Export it with [`export_reporter!`](crate::export_reporter).
pub trait Reporter: Default + 'static {
    /// The capabilities that it needs, by kind. Writing its outputs needs none: the host writes them.
    const CAPABILITIES: &'static [&'static str] = &[];

    /// Takes the next event, and returns what is ready to be written.
    fn observe(&mut self, event: &Event) -> Result<Vec<Output>, Failure>;

    /// Called once, after the last event.
    fn finish(&mut self) -> Result<Vec<Output>, Failure> {
        Ok(Vec::new())
    }
}

/// Text that a reporter has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// A file of its own, by its path in the folder that the host keeps for it. None: the main output.
    pub name: Option<String>,
    /// The text. Outputs of the same name are appended.
    pub text: String,
}

impl Output {
    /// Text for the main output: the file or standard output that the user named.
    pub fn main(text: impl Into<String>) -> Output {
        Output { name: None, text: text.into() }
    }

    /// Text for a file of its own: `pages/index.html`.
    pub fn file(name: impl Into<String>, text: impl Into<String>) -> Output {
        Output { name: Some(name.into()), text: text.into() }
    }
}

/// Hands an event's text to a reporter: what the exported function does.
pub(crate) fn observe(reporter: &mut impl Reporter, event: &str) -> Result<Vec<Output>, Failure> {
    let event = serde_json::from_str(event)
        .map_err(|error| Failure::internal(format_args!("the event cannot be read: {error}")))?;
    reporter.observe(&event)
}
