//! The `mcptest` binary.

fn main() {}
