//! `mcptest check`.

use super::load::load;
use super::{BAD_INPUT, NO_TESTS, OK, SuiteArgs, Talk, screen};
use crate::reporter::text::count;

pub(super) fn check(args: &SuiteArgs, talk: &Talk) -> u8 {
    let loaded = load(args);
    screen::tell_problems(&loaded.diagnostics, talk);
    if loaded.diagnostics.has_errors() {
        return BAD_INPUT;
    }
    if loaded.plan.tests == 0 {
        screen::tell("error: there is nothing to check\n");
        if let [first, ..] = loaded.missing.as_slice() {
            screen::tell(&format!("hint: no file matches `{first}`\n"));
        }
        return NO_TESTS;
    }
    let files = count(loaded.plan.files.len(), "file");
    screen::print(&format!("{} in {files}: no errors\n", count(loaded.plan.tests, "test")));
    OK
}
