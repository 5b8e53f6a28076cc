//! Descendants and orphans, from `/proc`.
//!
//! ```text
//! /proc/412/task/412/children   413 415
//! /proc/413/stat                413 (a (b) c) S 412 412 …      state, parent, group, …, start
//! /proc/413/environ             PATH=…\0MCPTEST_SESSION=400-9f…\0
//! ```

use super::{Member, State};
use crate::child::guard;
use crate::child::tree::TAG;
use std::fs;
use std::io::ErrorKind;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Whether members can be enumerated.
pub(in crate::child) const KNOWN: bool = true;

/// How often, and how far apart, to look at a process that shows no environment: becoming another program takes less.
const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

/// The children that this process already had when it became the parent of orphans: not ours to end.
static INHERITED: OnceLock<Vec<u32>> = OnceLock::new();
static ADOPTING: Mutex<()> = Mutex::new(());

/// Makes this process the parent of every orphan below it.
pub(in crate::child) fn adopt_orphans() {
    let _one_at_a_time = ADOPTING.lock().unwrap_or_else(PoisonError::into_inner);
    if INHERITED.get().is_none() && rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok() {
        INHERITED.get_or_init(|| children(std::process::id()));
    }
}

/// Whether orphans come to this process.
pub(in crate::child) fn adopts() -> bool {
    INHERITED.get().is_some()
}

/// The members of the tree `id`: everything below `leader`, and below the orphans that carry the id.
pub(in crate::child) fn members(leader: Option<u32>, group: u32, id: &str) -> Vec<Member> {
    let ours = std::process::id();
    let orphans = if adopts() { children(ours) } else { everyone() };
    let known = [ours, group, guard::number()];
    let mut roots: Vec<u32> = orphans.into_iter().filter(|pid| !known.contains(pid)).collect();
    roots.retain(|pid| belongs(*pid, group, id));
    roots.extend(leader);
    descend(roots)
}

/// Children of this process that it neither started as a tree nor had before: orphans that hid where they come from.
pub(in crate::child) fn strays(leaders: &[u32]) -> Vec<u32> {
    let Some(inherited) = INHERITED.get() else { return Vec::new() };
    let mut strays = children(std::process::id());
    strays.retain(|pid| !leaders.contains(pid) && !inherited.contains(pid) && *pid != guard::number());
    descend(strays).into_iter().filter(|member| !member.ended).map(|member| member.pid).collect()
}

/// What `/proc` says of a process; nothing if there is none of that number.
pub(in crate::child) fn state(pid: u32) -> Option<State> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may itself hold spaces and parentheses.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X" | "x");
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    // The group is the fifth field, the start the twenty-second.
    Some(State { ended, parent, group, started: fields.nth(16)?.parse().ok()? })
}

fn descend(mut pending: Vec<u32>) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    while let Some(pid) = pending.pop() {
        if members.iter().any(|member| member.pid == pid) {
            continue;
        }
        if let Some(state) = state(pid) {
            members.push(Member { pid, group: state.group, ended: state.ended });
            pending.extend(children(pid));
        }
    }
    members
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_ascii_whitespace().flat_map(str::parse).collect::<Vec<u32>>()).collect()
}

fn everyone() -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether an orphan is of the tree `id`. One that is ending, or is just becoming another program, shows no environment:
/// the group tells then, or a second look.
fn belongs(pid: u32, group: u32, id: &str) -> bool {
    let looks = if adopts() { LOOKS } else { 1 };
    for look in 1..=looks {
        let environ = fs::read(format!("/proc/{pid}/environ"));
        if let Ok(environ) = environ.as_ref()
            && !environ.is_empty()
        {
            return carries(environ, id);
        }
        let hidden = environ.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
        match state(pid) {
            Some(state) if state.group == group && state.parent == std::process::id() => return true,
            Some(state) if !state.ended && !hidden && look < looks => std::thread::sleep(BETWEEN_LOOKS),
            _ => return false,
        }
    }
    false
}

fn carries(environ: &[u8], id: &str) -> bool {
    environ.split(|byte| *byte == 0).any(|variable| {
        let value = variable.strip_prefix(TAG.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        value.is_some_and(|path| path.split(|byte| *byte == b'/').any(|part| part == id.as_bytes()))
    })
}
