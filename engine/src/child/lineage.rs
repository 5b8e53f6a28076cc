//! Who descends from whom: read from `/proc` on Linux, not known elsewhere, where a tree is its process group.

#[cfg(target_os = "linux")]
mod procfs;
#[cfg(not(target_os = "linux"))]
mod unknown;

#[cfg(target_os = "linux")]
pub(super) use procfs::{KNOWN, adopt_orphans, adopts, members, state, strays};
#[cfg(not(target_os = "linux"))]
pub(super) use unknown::{KNOWN, adopt_orphans, adopts, members, state, strays};

/// A process of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    /// Its number.
    pub(super) pid: u32,
    /// Its process group.
    pub(super) group: u32,
    /// Whether it has ended and only waits to be reaped.
    pub(super) ended: bool,
}

/// What is known of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// Its parent.
    pub(super) parent: u32,
    /// Its process group.
    pub(super) group: u32,
    /// Whether it has ended and only waits to be reaped.
    pub(super) ended: bool,
    /// When it was started, in ticks since the machine was: with its number, this is who it is.
    pub(super) started: u64,
}
