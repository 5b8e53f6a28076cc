//! The lines of the human report, and the one line on a terminal that moves.
//!
//! The moving line is drawn only by ticks and erased before anything else is written, so that what scrolls by is the
//! same text as in a file.

use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

/// Twenty times a second is enough for the eye.
const REDRAW: Duration = Duration::from_millis(50);
const ERASE: &str = "\r\x1b[2K";

/// Where the report is written.
pub(super) struct Screen {
    output: BufWriter<Box<dyn Write + Send>>,
    blank: bool,
    drawn: Option<Instant>,
}

impl Screen {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Screen {
        Screen { output: BufWriter::with_capacity(1 << 14, output), blank: true, drawn: None }
    }

    /// Writes a line; `text` may hold several.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.erase()?;
        self.blank = text.is_empty();
        self.output.write_all(text.as_bytes())?;
        self.output.write_all(b"\n")
    }

    /// Writes the lines of `block`, each after `indent`.
    pub(super) fn block(&mut self, indent: &str, block: &str) -> io::Result<()> {
        for line in block.lines() {
            if line.is_empty() { self.line("")? } else { self.line(&format!("{indent}{line}"))? }
        }
        Ok(())
    }

    /// Leaves a blank line, unless there is one or nothing stands above.
    pub(super) fn gap(&mut self) -> io::Result<()> {
        if self.blank { Ok(()) } else { self.line("") }
    }

    /// Draws the moving line, if its turn has come; `text` has to fit the width.
    pub(super) fn draw(&mut self, text: impl FnOnce() -> String) -> io::Result<()> {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW) {
            return Ok(());
        }
        self.drawn = Some(Instant::now());
        write!(self.output, "{ERASE}{}", text())
    }

    pub(super) fn erase(&mut self) -> io::Result<()> {
        match self.drawn.take() {
            Some(_) => self.output.write_all(ERASE.as_bytes()),
            None => Ok(()),
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
