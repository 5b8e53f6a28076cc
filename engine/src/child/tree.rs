//! The tree under a child: who belongs to it, and how signals reach all of it.

use super::{guard, lineage};
use rustix::process::{Pid, Signal, WaitOptions};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The variable by which a process is known as part of a tree. Its value is a path of ids, so that the servers of an
/// engine that is itself under test still belong to the outer tree.
pub(super) const TAG: &str = "MCPTEST_SESSION";
/// How long [`kill_everything`] may take.
const EVERYTHING: Duration = Duration::from_secs(1);

static LIVE: Mutex<Vec<Arc<Tree>>> = Mutex::new(Vec::new());
static ENDING: AtomicBool = AtomicBool::new(false);

/// A process group and whatever left it.
#[derive(Debug)]
pub(super) struct Tree {
    /// The process that the engine started; also the number of the group.
    pub(super) leader: u32,
    id: String,
    /// Once the leader is reaped, its number may mean another process.
    reaped: AtomicBool,
    /// Members seen so far, except the leader: orphans among them become ours to reap.
    seen: Mutex<Vec<u32>>,
}

impl Tree {
    /// A new tree, known to [`kill_everything`] until it is [forgotten](Tree::forget).
    pub(super) fn register(leader: u32, id: String) -> Arc<Tree> {
        let tree = Arc::new(Tree { leader, id, reaped: AtomicBool::new(false), seen: Mutex::default() });
        lock(&LIVE).push(Arc::clone(&tree));
        guard::watch_over(leader, &tree.id);
        tree
    }

    pub(super) fn is(&self, id: &str) -> bool {
        self.id == id
    }

    pub(super) fn forget(&self) {
        guard::forget(&self.id);
        lock(&LIVE).retain(|tree| tree.id != self.id);
    }

    pub(super) fn leader_reaped(&self) {
        self.reaped.store(true, Ordering::Relaxed);
    }

    /// Sends a signal to every member once, and says how many were alive.
    pub(super) fn signal(&self, signal: Signal) -> usize {
        // Who left the group is found through the parent links, which the group's death cuts: look first, then strike.
        let members = self.members();
        let grouped = !self.reaped.load(Ordering::Relaxed) || !lineage::KNOWN;
        if grouped && let Some(group) = pid(self.leader) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
        for member in &members {
            if !(grouped && member.group == self.leader)
                && let Some(pid) = pid(member.pid)
            {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
        self.count(&members)
    }

    /// How many members are alive.
    pub(super) fn living(&self) -> usize {
        self.count(&self.members())
    }

    /// Reaps the orphans that were adopted and have ended; how many members are left to reap.
    pub(super) fn reap(&self) -> usize {
        let mut left = 0;
        lock(&self.seen).retain(|&number| {
            let Some(state) = lineage::state(number).filter(|_| lineage::adopts() && !is_leader(number)) else {
                return false;
            };
            let adopted = state.parent == std::process::id();
            let wait = || rustix::process::waitpid(pid(number), WaitOptions::NOHANG);
            let reaped = state.ended && adopted && !matches!(wait(), Ok(None));
            left += usize::from(state.ended && !reaped);
            !reaped
        });
        left
    }

    fn members(&self) -> Vec<lineage::Member> {
        let leader = (!self.reaped.load(Ordering::Relaxed)).then_some(self.leader);
        let mut found = lineage::members(leader, self.leader, &self.id);
        let mut seen = lock(&self.seen);
        // Whoever was once below the leader stays a member as an orphan, whatever its environment says.
        for &pid in seen.iter().filter(|pid| !is_leader(**pid)) {
            if let Some(state) = lineage::state(pid).filter(|state| state.parent == std::process::id())
                && !found.iter().any(|member| member.pid == pid)
            {
                found.push(lineage::Member { pid, group: state.group, ended: state.ended });
            }
        }
        for member in &found {
            if member.pid != self.leader && !seen.contains(&member.pid) {
                seen.push(member.pid);
            }
        }
        found.retain(|member| !member.ended);
        found
    }

    fn count(&self, members: &[lineage::Member]) -> usize {
        if lineage::KNOWN {
            return members.len();
        }
        usize::from(pid(self.leader).is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok()))
    }
}

/// Makes the engine the parent of orphans below it, so that none escapes: call once when a run starts (Linux; nothing
/// elsewhere).
pub fn become_subreaper() {
    lineage::adopt_orphans();
}

/// Kills every live tree and every adopted orphan, from any thread, and lets no child be started afterwards: for a
/// second Ctrl-C, a panic hook, and the very end of the process.
pub fn kill_everything() {
    ENDING.store(true, Ordering::SeqCst);
    let deadline = Instant::now() + EVERYTHING;
    loop {
        let trees: Vec<Arc<Tree>> = lock(&LIVE).clone();
        let living: usize = trees.iter().map(|tree| tree.signal(Signal::KILL)).sum();
        let leaders: Vec<u32> = trees.iter().map(|tree| tree.leader).collect();
        let strays = lineage::strays(&leaders);
        for number in &strays {
            if let Some(pid) = pid(*number) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        if living + strays.len() == 0 || Instant::now() >= deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether [`kill_everything`] was called.
pub(super) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

/// A name that no other tree on this machine has.
pub(super) fn fresh_id() -> String {
    let random = RandomState::new().hash_one(Instant::now());
    format!("{}-{random:016x}", std::process::id())
}

/// The value of [`TAG`] for a child.
pub(super) fn tag(id: &str) -> String {
    match std::env::var(TAG) {
        Ok(ours) if !ours.is_empty() => format!("{ours}/{id}"),
        _ => id.to_owned(),
    }
}

fn is_leader(number: u32) -> bool {
    lock(&LIVE).iter().any(|tree| tree.leader == number)
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
