//! Newline-delimited framing: bytes in, lines out, under a limit.
//!
//! A [`Framer`] owns the buffer that the caller reads into, so a line is copied once at most. Bytes are looked at once,
//! however small the pieces they come in. A line past the limit is not kept: its head and its length are handed on, and
//! the next line is as good as ever.
//!
//! ```text
//! {"jsonrpc":"2.0",…}\n      Line
//! {"jsonrpc":"2.0",…}\r\n    the same Line
//! EF BB BF {…}\n             Line with `bom`, at the start of the stream only
//! {"jsonrpc":                Line without `terminated`, at the end of the stream
//! ```

mod text;

pub use text::Decoder;

/// How much of an oversized line is kept.
pub const HEAD: usize = 1024;
/// What a pipe holds by default: one read empties it.
const CHUNK: usize = 64 * 1024;
/// A buffer that a large line has blown up beyond this is given back.
const KEEP: usize = 1024 * 1024;
/// Bytes of a line that are not its content: a byte order mark and a carriage return.
const MARGIN: usize = 4;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Splits a stream of bytes into lines.
#[derive(Debug)]
pub struct Framer {
    buffer: Vec<u8>,
    /// The first byte of the line at hand.
    start: usize,
    /// Everything before this has no newline.
    scanned: usize,
    /// One past the last byte read.
    end: usize,
    limit: usize,
    first: bool,
    /// How much of the line at hand was dropped, and the last byte of it; its head stays in the buffer.
    dropped: usize,
    last: u8,
}

/// What a stream of bytes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<'a> {
    /// A line, without its end.
    Line {
        /// Its bytes.
        bytes: &'a [u8],
        /// Whether a byte order mark stood before it.
        bom: bool,
        /// Whether a newline ended it; only the last line of a stream may have none.
        terminated: bool,
    },
    /// A line longer than the limit.
    Oversize {
        /// Its first bytes.
        head: &'a [u8],
        /// How long it was.
        bytes: usize,
    },
}

impl Framer {
    /// A framer for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Framer {
        let buffer = vec![0; CHUNK];
        Framer { buffer, start: 0, scanned: 0, end: 0, limit, first: true, dropped: 0, last: 0 }
    }

    /// Where to read into; never empty. Say with [`Framer::filled`] how much was.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.scanned, self.end) = (0, 0, 0);
            if self.buffer.len() > KEEP {
                self.buffer = vec![0; CHUNK];
            }
        }
        if self.buffer.len() - self.end < CHUNK / 2 {
            // Moving at most half of the buffer, or doubling it, keeps the sum of all moves linear.
            if self.start >= self.buffer.len() / 2 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.scanned -= self.start;
                self.end -= self.start;
                self.start = 0;
            } else {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    /// Takes note that the first `count` bytes of the [space](Framer::space) were read.
    pub fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buffer.len());
    }

    /// Takes bytes that lie elsewhere.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.space();
            let count = bytes.len().min(space.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// The next complete line.
    pub fn next_line(&mut self) -> Option<Item<'_>> {
        match memchr::memchr(b'\n', &self.buffer[self.scanned..self.end]) {
            Some(at) => {
                let newline = self.scanned + at;
                let line = self.start..newline;
                self.start = newline + 1;
                self.scanned = self.start;
                Some(self.item(line, true))
            }
            None => {
                self.scanned = self.end;
                self.drop_excess();
                None
            }
        }
    }

    /// Whether the line at hand is past the limit already, and has not ended: call after the last
    /// [line](Framer::next_line).
    pub fn is_over(&self) -> bool {
        self.dropped > 0
    }

    /// The first bytes of the line at hand.
    pub fn head(&self) -> &[u8] {
        &self.buffer[self.start..self.end.min(self.start + HEAD)]
    }

    /// What is left when the stream has ended: call after the last [line](Framer::next_line).
    pub fn finish(&mut self) -> Option<Item<'_>> {
        let line = self.start..self.end;
        if line.is_empty() {
            return None;
        }
        self.start = self.end;
        self.scanned = self.end;
        Some(self.item(line, false))
    }

    /// Keeps only the head of an unfinished line that is past the limit already.
    fn drop_excess(&mut self) {
        let unfinished = self.end - self.start;
        let over = self.dropped > 0 || unfinished > self.limit.saturating_add(MARGIN);
        let head = self.limit.min(HEAD) + MARGIN;
        if self.scanned == self.end && over && unfinished > head {
            self.last = self.buffer[self.end - 1];
            self.dropped += unfinished - head;
            self.end = self.start + head;
            self.scanned = self.end;
        }
    }

    fn item(&mut self, line: std::ops::Range<usize>, terminated: bool) -> Item<'_> {
        let raw = &self.buffer[line];
        let dropped = std::mem::take(&mut self.dropped);
        let bom = std::mem::take(&mut self.first) && raw.starts_with(BOM);
        let mark = if bom { BOM.len() } else { 0 };
        let head = HEAD.min(self.limit);
        let last = if dropped > 0 && raw.len() == head + MARGIN { Some(self.last) } else { raw.last().copied() };
        let carriage = usize::from(terminated && last == Some(b'\r') && raw.len() + dropped > mark);
        let bytes = raw.len() + dropped - mark - carriage;
        if bytes > self.limit {
            return Item::Oversize { head: &raw[mark..mark + head], bytes };
        }
        Item::Line { bytes: &raw[mark..mark + bytes], bom, terminated }
    }
}

#[cfg(test)]
mod tests;
