//! `mcptest cache`.

use super::{FAILED, OK, screen};
use crate::extension::wasm::Cache;
use crate::reporter::text::count;

/// Removes the compiled code of extensions.
pub(super) fn clean() -> u8 {
    let Some(folder) = Cache::place(&|name| std::env::var(name).ok()) else {
        screen::tell("error: there is no cache folder: neither `MCPTEST_CACHE_DIR` nor a home folder is set\n");
        return FAILED;
    };
    match Cache::clean(&folder) {
        Ok(cleaned) => {
            let files = count(cleaned.files, "file");
            screen::print(&format!("removed {files} ({} bytes) from {}\n", cleaned.bytes, folder.display()));
            OK
        }
        Err(error) => {
            screen::tell(&format!("error: `{}` cannot be cleaned: {error}\n", folder.display()));
            FAILED
        }
    }
}
