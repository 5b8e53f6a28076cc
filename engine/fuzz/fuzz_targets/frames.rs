//! Any bytes give the same lines however they are cut into pieces, and no line breaks the message parser.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_engine::mcp::message::parse_line;
use mcptest_engine::ndjson::{Framer, Item};

/// Small, so that the fuzzer reaches what lies beyond it.
const LIMIT: usize = 64;

fn keep(item: Item<'_>) -> String {
    if let Item::Line { bytes, .. } = item {
        let _ = parse_line(bytes);
    }
    format!("{item:?}")
}

fn lines<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut framer = Framer::new(LIMIT);
    let mut kept = Vec::new();
    for piece in pieces {
        framer.feed(piece);
        while let Some(item) = framer.next_line() {
            kept.push(keep(item));
        }
    }
    kept.extend(framer.finish().map(keep));
    kept
}

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = input;
    let whole = lines(std::iter::once(bytes));
    let pieces = lines(bytes.chunks(usize::from(size) + 1));
    assert_eq!(whole, pieces);
});
