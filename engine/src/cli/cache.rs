//! `mcptest cache`.

use super::{FAILED, OK, screen};
use crate::cache::{self, Cleaned};
use crate::coprocess;
#[cfg(feature = "wasm")]
use crate::extension::wasm::Cache;
use crate::reporter::text::count;
use std::io;
use std::path::{Path, PathBuf};

/// What is kept, where, and how it is removed.
type Kept = (&'static str, PathBuf, fn(&Path) -> io::Result<Cleaned>);

/// Removes everything that is kept between runs.
pub(super) fn clean() -> u8 {
    let variable = |name: &str| std::env::var(name).ok();
    let Some(root) = cache::folder(&variable) else {
        screen::tell("error: there is no cache folder: neither `MCPTEST_CACHE_DIR` nor a home folder is set\n");
        return FAILED;
    };
    let kept: [Option<Kept>; 2] = [
        #[cfg(feature = "wasm")]
        Cache::place(&variable).map(|folder| ("compiled extensions", folder, Cache::clean as _)),
        #[cfg(not(feature = "wasm"))]
        None,
        Some(("results of calls", coprocess::calls_folder(&root), coprocess::clean_calls)),
    ];
    let mut code = OK;
    for (what, folder, clean) in kept.into_iter().flatten() {
        match clean(&folder) {
            Ok(Cleaned { files, bytes }) => {
                let files = count(files, "file");
                screen::print(&format!("{what}: removed {files} ({bytes} bytes) from {}\n", folder.display()));
            }
            Err(error) => {
                screen::tell(&format!("error: `{}` cannot be cleaned: {error}\n", folder.display()));
                code = FAILED;
            }
        }
    }
    code
}
