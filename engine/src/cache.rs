//! The user's cache folder: what may be lost, and how it is thrown away.
//!
//! ```text
//! CACHE/extensions/    compiled extensions
//! CACHE/calls/         results of calls that an SDK asked to keep
//! ```

use etcetera::BaseStrategy as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where everything is kept that may be lost: `MCPTEST_CACHE_DIR`, or a folder in the user's cache folder.
pub fn folder(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    match variable("MCPTEST_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("mcptest")),
    }
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// How many files.
    pub files: usize,
    /// How many bytes.
    pub bytes: u64,
}

/// Removes the files of a folder that are ours; a folder that is not there holds none.
pub(crate) fn sweep(folder: &Path, is_ours: impl Fn(&Path) -> bool) -> io::Result<Cleaned> {
    let mut cleaned = Cleaned::default();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleaned),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if is_ours(&entry.path()) {
            cleaned.bytes += entry.metadata().map_or(0, |about| about.len());
            fs::remove_file(entry.path())?;
            cleaned.files += 1;
        }
    }
    Ok(cleaned)
}
