//! What a guest may use. Every limit is a constant with its reason, and every one can be set for an extension.

/// What a guest may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of linear memory.
    pub memory: usize,
    /// Bytes of the WebAssembly stack.
    pub stack: usize,
    /// Bytes of one verdict.
    pub result: usize,
    /// Bytes of one returned suite, or of the outputs that a reporter returns at once.
    pub output: usize,
    /// Messages logged during one call.
    pub log_lines: usize,
    /// Elements of all tables.
    pub table_elements: usize,
    /// Core instances inside the component; tables and memories alike.
    pub instances: usize,
    /// Files, streams, sockets and timers that are open at once.
    pub handles: usize,
}

impl Limits {
    /// A Rust guest starts with 1 MiB, a Python one with 20 MiB; a 4 MB answer and its parsed tree fit beside them.
    pub const MEMORY: usize = 64 * 1024 * 1024;
    /// Enough for a recursive parser some thousands of levels deep; what wasmtime itself takes by default.
    pub const STACK: usize = 512 * 1024;
    /// A verdict is a sentence and two values that somebody reads.
    pub const RESULT: usize = 1024 * 1024;
    /// A report or a suite that was expanded; larger ones are returned in parts, or not read by anyone.
    pub const OUTPUT: usize = 16 * 1024 * 1024;
    /// More than anyone reads about one call.
    pub const LOG_LINES: usize = 100;
    /// Bytes of one logged message; the rest is cut.
    pub const LOG_LINE: usize = 4 * 1024;
    /// Bytes kept of what a guest writes to stdout and stderr: the end, where a panic stands.
    pub const TAIL: usize = 4 * 1024;
    /// An interpreter's table of functions has some ten thousand.
    pub const TABLE_ELEMENTS: usize = 200_000;
    /// A component of one module has about five; one that links a language runtime of many libraries some dozens.
    pub const INSTANCES: usize = 200;
    /// Each open file is one of the mcptest process too, which has some thousand for all servers and workers together.
    pub const HANDLES: usize = 256;
    /// Bytes of native stack that host calls of a guest may use beyond its own.
    pub const HOST_STACK: usize = 1024 * 1024;
    /// The most that the WebAssembly stack can be set to.
    pub const MOST_STACK: usize = 64 * 1024 * 1024;
}

impl Limits {
    /// Bytes that a guest may hand over in one call. Who hands over more than it can hold shows the same bytes many
    /// times, and only the host would need the memory.
    pub fn handed_over(&self) -> usize {
        self.memory.saturating_add(self.output)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: Limits::MEMORY,
            stack: Limits::STACK,
            result: Limits::RESULT,
            output: Limits::OUTPUT,
            log_lines: Limits::LOG_LINES,
            table_elements: Limits::TABLE_ELEMENTS,
            instances: Limits::INSTANCES,
            handles: Limits::HANDLES,
        }
    }
}
