//! `mcptest check`.

use super::load::load;
use super::{NO_TESTS, OK, SuiteArgs, Talk, screen};
use crate::reporter::text::count;

pub(super) fn check(args: &SuiteArgs, talk: &Talk) -> u8 {
    let loaded = load(args, Vec::new());
    if let Some(code) = loaded.tell(talk) {
        return code;
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
    // The process ends here: freeing a million nodes one by one would be time for nobody.
    std::mem::forget(loaded);
    OK
}
