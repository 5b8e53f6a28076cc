//! Where the system does not tell: a tree is its process group.

use super::{Member, State};

/// Whether members can be enumerated.
pub(in crate::child) const KNOWN: bool = false;

pub(in crate::child) fn adopt_orphans() {}

pub(in crate::child) fn adopts() -> bool {
    false
}

pub(in crate::child) fn members(_leader: Option<u32>, _group: u32, _id: &str) -> Vec<Member> {
    Vec::new()
}

pub(in crate::child) fn strays(_leaders: &[u32]) -> Vec<u32> {
    Vec::new()
}

pub(in crate::child) fn state(_pid: u32) -> Option<State> {
    None
}
