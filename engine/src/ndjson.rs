//! Newline-delimited framing: bytes in, lines out, under a limit.
