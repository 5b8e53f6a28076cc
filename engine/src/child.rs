//! Processes: spawned in a group of their own, ended with everything they started.
//!
//! A [`Child`] stands for the whole tree under it. The tree is its process group, and also whatever left the group:
//! descendants are found through the parent links while these hold, and orphans through a variable that every child's
//! environment carries (on Linux, where the engine [adopts orphans](become_subreaper)). Ending a child, or dropping it,
//! leaves nothing behind.

mod exit;
mod grace;
pub mod guard;
mod lineage;
mod plain;
pub mod program;
mod tree;

pub use exit::Exit;
pub use grace::Grace;
pub use plain::{Ends, Plain};
pub use program::SpawnError;
pub use tree::{become_subreaper, kill_everything};

use rustix::process::Signal;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::unix::pipe::{Receiver, Sender};
use tree::Tree;

/// How long a killed process may take to disappear: only one stuck in the kernel needs more than a moment.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// The first and the longest pause between two looks at a tree that is on its way out.
const PAUSES: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(20));
/// How many looks in a row must find nothing: a list of children that changes while it is read may lack one.
const QUIET: usize = 2;

/// A process to start.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// A name to look up on `PATH`, or a path, relative to `cwd`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// Whether it also gets the engine's environment.
    pub inherit_env: bool,
}

/// The engine's ends of a child's standard streams, none of which blocks.
#[derive(Debug)]
pub struct Pipes {
    /// To the child.
    pub stdin: Sender,
    /// From the child.
    pub stdout: Receiver,
    /// From the child.
    pub stderr: Receiver,
}

/// A running process with everything it started; dropping it kills them all.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    exit: Option<Exit>,
    /// What was last done to end it while it lived: `itself`, `eof`, `term` or `kill`.
    by: &'static str,
    tree: Arc<Tree>,
    gone: bool,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shutdown {
    /// The status of the process itself.
    pub exit: Exit,
    /// What it took: `eof`, `term` or `kill`; `itself` when nobody had asked it to.
    pub by: &'static str,
    /// From the first word of the shutdown to the exit.
    pub took: Duration,
}

impl Child {
    /// Starts a process in a group of its own. Needs a tokio runtime, which the child stays tied to.
    pub fn spawn(spawn: &Spawn) -> Result<(Child, Pipes), SpawnError> {
        let Prepared { command, program, stdin, stdout, stderr, id } = prepare(spawn)?;
        let failed = |error: io::Error| program::explain(spawn, &program, error);
        let pipes = Pipes {
            stdin: Sender::from_owned_fd(stdin.into()).map_err(failed)?,
            stdout: Receiver::from_owned_fd(stdout.into()).map_err(failed)?,
            stderr: Receiver::from_owned_fd(stderr.into()).map_err(failed)?,
        };
        guard::expect(&id);
        let process =
            tokio::process::Command::from(command).spawn().inspect_err(|_| guard::forget(&id)).map_err(failed)?;
        let leader = process.id().ok_or_else(|| failed(io::Error::other("it has no process id")))?;
        let child = Child { process, exit: None, by: "itself", tree: Tree::register(leader, id), gone: false };
        if tree::is_ending() {
            return Err(SpawnError::Ending { program: spawn.program.clone() });
        }
        Ok((child, pipes))
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.tree.leader
    }

    /// The exit status, if the process has ended.
    pub fn try_exit(&mut self) -> Option<Exit> {
        if self.exit.is_none() {
            match self.process.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => self.ended(status.into()),
                Err(_) => self.ended(Exit::default()),
            }
        }
        self.exit
    }

    /// Awaits the end of the process itself. Can be dropped and called again.
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let exit = self.process.wait().await.map(Exit::from).unwrap_or_default();
        self.ended(exit);
        exit
    }

    /// To be called before stdin is closed, so that an exit which follows is put down to that.
    pub fn stdin_closes(&mut self) {
        self.ending_by("eof");
    }

    /// Asks the whole tree to end (SIGTERM).
    pub fn terminate(&mut self) {
        self.ending_by("term");
        self.tree.signal(Signal::TERM);
    }

    /// Ends the whole tree (SIGKILL).
    pub fn kill(&mut self) {
        self.ending_by("kill");
        self.tree.signal(Signal::KILL);
    }

    /// Ends the whole tree step by step, once its stdin is [closed](Child::stdin_closes): waits, sends SIGTERM,
    /// waits, sends SIGKILL. What outlives the process itself goes the same way.
    pub async fn shutdown(&mut self, grace: Grace) -> Shutdown {
        let begun = Instant::now();
        let exit = self.end_leader(grace).await;
        let took = begun.elapsed();
        self.end_rest(grace.term).await;
        Shutdown { exit, by: self.by, took }
    }

    async fn end_leader(&mut self, grace: Grace) -> Exit {
        if let Ok(exit) = tokio::time::timeout(grace.stdin, self.wait()).await {
            return exit;
        }
        self.terminate();
        if let Ok(exit) = tokio::time::timeout(grace.term, self.wait()).await {
            return exit;
        }
        self.kill();
        tokio::time::timeout(LAST_WAIT, self.wait()).await.unwrap_or_default()
    }

    fn ending_by(&mut self, by: &'static str) {
        if self.try_exit().is_none() {
            self.by = by;
        }
    }

    async fn end_rest(&mut self, grace: Duration) {
        if matches!(self.by, "eof" | "itself") {
            self.tree.signal(Signal::TERM);
        }
        let mut signal = (self.by == "kill").then_some(Signal::KILL);
        let mut deadline = Instant::now() + if signal.is_some() { LAST_WAIT } else { grace };
        let (mut pause, mut quiet) = (PAUSES.0, 0);
        loop {
            let living = signal.map_or_else(|| self.tree.living(), |signal| self.tree.signal(signal));
            quiet = if living + self.tree.reap() == 0 { quiet + 1 } else { 0 };
            if quiet == QUIET {
                break;
            }
            if Instant::now() >= deadline {
                if signal.is_some() {
                    break;
                }
                signal = Some(Signal::KILL);
                deadline = Instant::now() + LAST_WAIT;
            }
            if quiet == 0 {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSES.1);
            }
        }
        self.gone = self.exit.is_some();
    }

    fn ended(&mut self, exit: Exit) {
        self.tree.leader_reaped();
        self.exit = Some(exit);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.gone {
            let tree = self.tree.clone();
            self.gone = raze(&tree, || self.try_exit().is_some());
        }
        self.tree.forget();
    }
}

/// A command that is ready to run, and the engine's ends of its pipes.
struct Prepared {
    command: Command,
    program: PathBuf,
    stdin: PipeWriter,
    stdout: PipeReader,
    stderr: PipeReader,
    id: String,
}

fn prepare(spawn: &Spawn) -> Result<Prepared, SpawnError> {
    let program = program::resolve(spawn)?;
    let failed = |error: io::Error| program::explain(spawn, &program, error);
    let (stdin_theirs, stdin) = io::pipe().map_err(failed)?;
    let (stdout, stdout_theirs) = io::pipe().map_err(failed)?;
    let (stderr, stderr_theirs) = io::pipe().map_err(failed)?;
    let id = tree::fresh_id();
    let mut command = Command::new(&program);
    if !spawn.inherit_env {
        command.env_clear();
    }
    command
        .arg0(&spawn.program)
        .args(&spawn.args)
        .current_dir(&spawn.cwd)
        .envs(spawn.env.iter().map(|(name, value)| (name, value)))
        .env(tree::TAG, tree::tag(&id))
        .stdin(stdin_theirs)
        .stdout(stdout_theirs)
        .stderr(stderr_theirs)
        .process_group(0);
    Ok(Prepared { command, program, stdin, stdout, stderr, id })
}

/// Kills a tree until nothing of it is left, or the last wait is over; says whether nothing is left.
fn raze(tree: &Tree, mut ended: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + LAST_WAIT;
    let (mut pause, mut quiet) = (PAUSES.0, 0);
    while Instant::now() < deadline {
        let living = tree.signal(Signal::KILL);
        let ended = ended();
        quiet = if living + tree.reap() == 0 { quiet + 1 } else { 0 };
        if ended && quiet >= QUIET {
            return true;
        }
        if !ended || quiet == 0 {
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
