//! A small process beside the engine that ends its servers when the engine itself is killed.
//!
//! SIGKILL leaves the engine no time for anything. The guard is this same program, in a group of its own, with nothing but
//! a pipe from the engine: which trees there are, and which are gone. When the pipe closes, the engine is gone, however
//! it ended; what is left of its trees is asked to end, and then made to.
//!
//! ```text
//! + 4711 4700-9f03…    a tree: its leader and its id
//! - 4711 4700-9f03…    it is gone
//! ```

use super::tree::{self, Tree};
use rustix::process::Signal;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The hidden subcommand that is the guard.
pub const COMMAND: &str = "guard-processes";
/// How long a tree has to end by itself, for its input has ended too; and then again after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// How long killed processes may take to disappear.
const LAST_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

static ARMED: AtomicBool = AtomicBool::new(false);
static NUMBER: AtomicU32 = AtomicU32::new(0);
static GUARD: Mutex<Option<Child>> = Mutex::new(None);

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

/// Tells the guard of a tree, or that it is gone.
pub(super) fn tell(sign: char, leader: u32, id: &str) {
    if !ARMED.load(Ordering::Relaxed) {
        return;
    }
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.is_none() && sign == '+' {
        *guard = start();
    }
    if let Some(stdin) = guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
        // A guard that is gone cannot be helped: the engine's own ways of ending its servers are left.
        let _ = stdin.write_all(format!("{sign} {leader} {id}\n").as_bytes());
    }
}

fn start() -> Option<Child> {
    let program = std::env::current_exe().ok()?;
    let mut command = Command::new(program);
    command.arg(COMMAND).process_group(0).current_dir("/");
    let guard = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    NUMBER.store(guard.id(), Ordering::Relaxed);
    Some(guard)
}

/// What the guard does, from its start to its end.
pub fn watch() {
    let mut trees: Vec<Arc<Tree>> = Vec::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut words = line.split(' ');
        let (Some(sign), Some(Ok(leader)), Some(id)) = (words.next(), words.next().map(str::parse), words.next())
        else {
            continue;
        };
        match sign {
            "+" => trees.push(Tree::register(leader, id.to_owned())),
            _ => trees.retain(|tree| !tree.is(id)),
        }
    }
    let living = || trees.iter().map(|tree| tree.living()).sum::<usize>();
    for (signal, patience) in [(None, GRACE), (Some(Signal::TERM), GRACE), (Some(Signal::KILL), LAST_WAIT)] {
        let deadline = Instant::now() + patience;
        if let Some(signal) = signal {
            for tree in &trees {
                tree.signal(signal);
            }
        }
        while Instant::now() < deadline {
            if living() == 0 {
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
