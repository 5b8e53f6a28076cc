//! A small process beside the engine that ends its servers when the engine itself is killed.
//!
//! SIGKILL leaves the engine no time for anything. The guard is this same program, in a group of its own, with nothing but
//! a pipe from the engine: which trees there are, and which are gone. When the pipe closes, the engine is gone, however
//! it ended; what is left of its trees is asked to end, and then made to.
//!
//! ```text
//! ? 0 4700-9f03…       a tree is about to be started
//! + 4711 4700-9f03…    it was: its leader and its id
//! - 4711 4700-9f03…    it is gone
//! ```

use super::lineage;
use super::tree::{self, Tree};
use rustix::process::Signal;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The first and only argument of the guard.
const COMMAND: &str = "guard-processes";
/// How long a tree has to end by itself, for its input has ended too; and then again after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// How long killed processes may take to disappear.
const LAST_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);
/// How long a process that was being started may take to show whose it is.
const STARTING: Duration = Duration::from_millis(100);

static ARMED: AtomicBool = AtomicBool::new(false);
static NUMBER: AtomicU32 = AtomicU32::new(0);
static GUARD: Mutex<Option<Child>> = Mutex::new(None);

/// Whether this process is the guard: asked before the command line is read, which takes longer.
pub fn is_called() -> bool {
    std::env::args_os().nth(1).is_some_and(|first| first == COMMAND)
}

/// From now on the first tree brings a guard along.
pub fn arm() {
    ARMED.store(true, Ordering::Relaxed);
}

/// Ends the guard: there is nothing left to watch.
pub fn dismiss() {
    let guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(mut guard) = guard {
        drop(guard.stdin.take());
        let _ = guard.wait();
    }
}

/// The guard's process id; 0 when there is none.
pub(super) fn number() -> u32 {
    NUMBER.load(Ordering::Relaxed)
}

/// A tree is about to be started: the guard knows its id before there is a process of it.
pub(super) fn expect(id: &str) {
    tell('?', 0, id);
}

/// The tree was started.
pub(super) fn watch_over(leader: u32, id: &str) {
    tell('+', leader, id);
}

/// The tree is gone, or was never started.
pub(super) fn forget(id: &str) {
    tell('-', 0, id);
}

fn tell(sign: char, leader: u32, id: &str) {
    if !ARMED.load(Ordering::Relaxed) {
        return;
    }
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.is_none() && sign == '?' {
        *guard = start();
    }
    if let Some(stdin) = guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
        // A guard that is gone cannot be helped: the engine's own ways of ending its servers are left.
        let _ = stdin.write_all(format!("{sign} {leader} {id}\n").as_bytes());
    }
}

fn start() -> Option<Child> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg(COMMAND).process_group(0).current_dir("/");
    let guard = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    NUMBER.store(guard.id(), Ordering::Relaxed);
    Some(guard)
}

/// What the guard does, from its start to its end.
pub fn watch() {
    let mut watched: Vec<Watched> = Vec::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut words = line.split(' ');
        let (Some(sign), Some(Ok(leader)), Some(id)) = (words.next(), words.next().map(str::parse), words.next())
        else {
            continue;
        };
        watched.retain(|watched| {
            let other = !watched.tree.is(id);
            if !other {
                watched.tree.forget();
            }
            other
        });
        if sign != "-" {
            let tree = Tree::register(leader, id.to_owned());
            watched.push(Watched { tree, started: lineage::state(leader).map(|state| state.started) });
        }
    }
    end(&watched);
}

/// A tree of the engine's.
struct Watched {
    tree: Arc<Tree>,
    /// When the leader was started: the same number may mean another process by now.
    started: Option<u64>,
}

fn end(watched: &[Watched]) {
    let begun = Instant::now();
    for Watched { tree, started } in watched {
        if started.is_none() || lineage::state(tree.leader).map(|state| state.started) != *started {
            tree.leader_reaped();
        }
    }
    let starting = watched.iter().any(|watched| watched.tree.leader == 0);
    let living = || watched.iter().map(|watched| watched.tree.living()).sum::<usize>();
    for (signal, patience) in [(None, GRACE), (Some(Signal::TERM), GRACE), (Some(Signal::KILL), LAST_WAIT)] {
        let deadline = Instant::now() + patience;
        if let Some(signal) = signal {
            for Watched { tree, .. } in watched {
                tree.signal(signal);
            }
        }
        while Instant::now() < deadline {
            if living() == 0 && !(starting && begun.elapsed() < STARTING) {
                return;
            }
            if signal == Some(Signal::KILL) {
                // What was started while it was being killed, too.
                tree::kill_everything();
            }
            std::thread::sleep(PAUSE);
        }
    }
}
