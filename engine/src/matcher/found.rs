//! Where mismatches go while a value is judged.

use super::mismatch::{Mismatch, Rank};

/// The mismatches found so far, or only whether there is one.
#[derive(Debug)]
pub struct Found {
    list: Vec<Mismatch>,
    any: bool,
    probe: bool,
}

impl Found {
    /// How many mismatches are kept: more than anyone reads, and few enough for any answer to be judged quickly.
    pub const LIMIT: usize = 50;

    /// Collects.
    pub(super) fn all() -> Found {
        Found { list: Vec::new(), any: false, probe: false }
    }

    /// Only notes whether there is any.
    pub(super) fn probe() -> Found {
        Found { list: Vec::new(), any: false, probe: true }
    }

    /// Whether this only asks for a yes or a no.
    pub fn is_probe(&self) -> bool {
        self.probe
    }

    /// Whether nothing more is wanted: walks may stop here.
    pub fn is_full(&self) -> bool {
        if self.probe { self.any } else { self.list.len() >= Found::LIMIT }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        !self.any
    }

    /// Adds a mismatch; it is only made when it is kept.
    pub fn add(&mut self, make: impl FnOnce() -> Mismatch) {
        self.any = true;
        if !self.is_full() {
            self.list.push(make());
        }
    }

    /// How many are kept so far, to look at those added since.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn since(&mut self, mark: usize) -> &mut [Mismatch] {
        &mut self.list[mark..]
    }

    /// The mismatches, worst first: what could not be compared at all, then what is missing, different, unexpected.
    pub(super) fn finish(mut self) -> Vec<Mismatch> {
        let full = self.is_full();
        self.list.sort_by_key(|mismatch| mismatch.rank);
        if full && let Some(last) = self.list.last_mut() {
            last.hints.push(format!("only the first {} differences are listed", Found::LIMIT));
        }
        debug_assert!(self.list.iter().all(|mismatch| mismatch.rank <= Rank::Extra));
        self.list
    }
}
