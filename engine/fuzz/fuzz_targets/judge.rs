//! Any expected value judges any actual one, and says why whenever it does not hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_engine::diagnostic::Diagnostics;
use mcptest_engine::matcher::{Compiler, Mode};
use mcptest_engine::source::{Source, yaml};

fuzz_target!(|input: (&str, &str)| {
    let (expected, actual) = input;
    let Ok(actual) = serde_json::from_str(actual) else { return };
    let source = Source::new("fuzz", "fuzz", expected.to_owned());
    let mut diagnostics = Diagnostics::default();
    let Some(node) = yaml::parse(&source, &mut diagnostics) else { return };
    let expected = Compiler::new(&source, &mut diagnostics).compile(&node, Mode::Exact);
    if diagnostics.has_errors() {
        let _ = diagnostics.render(false);
        return;
    }
    assert_eq!(expected.holds(Some(&actual)), expected.check(Some(&actual), "$").is_empty());
});
