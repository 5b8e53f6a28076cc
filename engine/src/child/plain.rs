//! A process that is spoken to without a runtime: by whoever holds its pipes, on any thread.

use super::{Exit, PAUSES, Prepared, Spawn, SpawnError, guard, prepare, program, raze, tree};
use rustix::fs::OFlags;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A running process with everything it started; dropping it kills them all.
#[derive(Debug)]
pub struct Plain {
    process: std::process::Child,
    exit: Option<Exit>,
    tree: Arc<tree::Tree>,
    gone: bool,
}

/// The engine's ends of a process's standard streams, none of which blocks.
#[derive(Debug)]
pub struct Ends {
    /// To the process.
    pub stdin: PipeWriter,
    /// From the process.
    pub stdout: PipeReader,
    /// From the process.
    pub stderr: PipeReader,
}

impl Plain {
    /// Starts a process in a group of its own.
    pub fn spawn(spawn: &Spawn) -> Result<(Plain, Ends), SpawnError> {
        super::become_subreaper();
        let Prepared { mut command, program, stdin, stdout, stderr, id } = prepare(spawn)?;
        let failed = |error: io::Error| program::explain(spawn, &program, error);
        for end in [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()] {
            let flags = rustix::fs::fcntl_getfl(end).map_err(|error| failed(error.into()))?;
            rustix::fs::fcntl_setfl(end, flags | OFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
        }
        guard::expect(&id);
        let process = command.spawn().inspect_err(|_| guard::forget(&id)).map_err(failed)?;
        let tree = tree::Tree::register(process.id(), id);
        let plain = Plain { process, exit: None, tree, gone: false };
        if tree::is_ending() {
            return Err(SpawnError::Ending { program: spawn.program.clone() });
        }
        Ok((plain, Ends { stdin, stdout, stderr }))
    }

    /// The exit status, if the process has ended.
    pub fn try_exit(&mut self) -> Option<Exit> {
        if self.exit.is_none() {
            let exit = match self.process.try_wait() {
                Ok(None) => return None,
                Ok(Some(status)) => status.into(),
                Err(_) => Exit::default(),
            };
            self.tree.leader_reaped();
            self.exit = Some(exit);
        }
        self.exit
    }

    /// Waits for the process to end by itself; `None` when it doesn't in time.
    pub fn wait(&mut self, most: Duration) -> Option<Exit> {
        let deadline = Instant::now() + most;
        let mut pause = PAUSES.0;
        loop {
            if let Some(exit) = self.try_exit() {
                return Some(exit);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Ends the whole tree (SIGKILL), and gives the status of the process itself.
    pub fn kill(&mut self) -> Exit {
        if !self.gone {
            let tree = self.tree.clone();
            self.gone = raze(&tree, || self.try_exit().is_some());
        }
        self.exit.unwrap_or_default()
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        self.kill();
        self.tree.forget();
    }
}
