//! The event stream itself, one JSON object per line, as it happens.
//!
//! ```json
//! {"seq":1,"at":"2026-01-01T12:00:00.000Z","type":"run-started","data":{"version":"0.1.0","files":1,"tests":1,"jobs":1}}
//! ```

use super::Reporter;
use crate::event::Event;
use std::io::{self, BufWriter, Write};

/// Writes every event.
pub struct Ndjson {
    name: String,
    output: BufWriter<Box<dyn Write + Send>>,
    frames: bool,
}

impl Ndjson {
    /// A reporter called `name` that writes to `output`; `frames` asks for those of passed steps too.
    pub fn new(name: impl Into<String>, output: Box<dyn Write + Send>, frames: bool) -> Ndjson {
        Ndjson { name: name.into(), output: BufWriter::with_capacity(1 << 16, output), frames }
    }
}

impl Reporter for Ndjson {
    fn name(&self) -> &str {
        &self.name
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        super::escaped::write(&mut self.output, event)?;
        self.output.write_all(b"\n")
    }

    fn tick(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    fn wants_frames(&self) -> bool {
        self.frames
    }
}
