//! Readers of the event stream: each turns events into one output.

use crate::event::Event;
use std::io;

/// One reader of the stream.
pub trait Reporter: Send {
    /// An event, in order.
    fn event(&mut self, event: &Event) -> io::Result<()>;
    /// Called some twenty times a second, for what moves on a terminal.
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
