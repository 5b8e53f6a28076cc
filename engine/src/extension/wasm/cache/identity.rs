//! What tells one state of a file from another without reading it.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// How old a change must be before a file counts as settled: file systems stamp changes in steps of some milliseconds,
/// so one that happens right after a look could go unseen.
const SETTLED: Duration = Duration::from_secs(2);

/// Device, inode, size, and the times of the last write and the last change; the last of these cannot be set by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    pub(super) fn of(about: &Metadata) -> Identity {
        Identity {
            device: about.dev(),
            inode: about.ino(),
            size: about.size(),
            written: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }

    /// Whether a further change would be seen.
    pub(super) fn is_settled(about: &Metadata) -> bool {
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(about.ctime().max(0) as u64 + 1);
        SystemTime::now().duration_since(changed).is_ok_and(|age| age >= SETTLED)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { device, inode, size, written, changed } = self;
        write!(f, "{device}:{inode}:{size}:{}.{}:{}.{}", written.0, written.1, changed.0, changed.1)
    }
}
