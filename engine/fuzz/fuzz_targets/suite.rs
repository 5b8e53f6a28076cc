//! Any text is a suite or a list of problems, each of which can be shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_engine::suite::parse::parse_text;

fuzz_target!(|text: &str| {
    let _ = parse_text(text).render(false);
});
