//! Readers of the event stream: each turns events into one output.
//!
//! `--reporter NAME[=FILE]`, repeatable. Where each one writes:
//!
//! - with `=FILE`, into that file (its folders are made), and `human` still shows the run on stdout beside it;
//! - `json`, `ndjson` and `junit` without a file take stdout, for one of them at most. `human` then keeps quiet, or goes
//!   to stderr when it is asked for by name: stdout is data, stderr is talk;
//! - with nothing asked for, `human` writes to stdout.

pub mod human;
pub mod json;
pub mod junit;
pub mod ndjson;
mod open;
mod results;
mod tail;
pub mod text;
pub mod visible;

use crate::event::Event;
pub use open::{Options, Screen, create, names, open};
use std::io;

/// One reader of the stream.
pub trait Reporter: Send {
    /// Its name, with its file, as the user would type it: `junit=report.xml`.
    fn name(&self) -> &str;
    /// An event, in order.
    fn event(&mut self, event: &Event) -> io::Result<()>;
    /// Called some twenty times a second, for what moves on a terminal and for what is held back until then.
    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// The stream is over: write what is left.
    fn finish(&mut self) -> io::Result<()>;
    /// Whether it wants the frames of passed steps too.
    fn wants_frames(&self) -> bool {
        false
    }
}
