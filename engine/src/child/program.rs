//! From the program a user names to the file that is run, and to a reason when it cannot be.

use super::Spawn;
use rustix::fs::Access;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What to do about a script whose interpreter is looked for with a carriage return in its name.
pub const WINDOWS_SHEBANG: &str = "its first line ends in a Windows line end, which is taken for a part of the interpreter's name: save it with Unix line ends";

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The working directory does not exist, or is none.
    #[error("the working directory `{}` {}", cwd.display(), if *exists { "is not a directory" } else { "does not exist" })]
    Cwd {
        /// As given.
        cwd: PathBuf,
        /// Whether something else stands there.
        exists: bool,
    },
    /// No such program.
    #[error("no program `{program}` {}", if *on_path { "on `PATH`" } else { "at that path" })]
    NotFound {
        /// As given.
        program: String,
        /// Whether it was looked up by name.
        on_path: bool,
        /// Whether a file of that name lies in the working directory.
        in_cwd: bool,
        /// Where paths are taken against.
        cwd: PathBuf,
    },
    /// The file is there, but may not be run.
    #[error("`{}` is {}", path.display(), if *directory { "a directory, not a program" } else { "not executable" })]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// Whether it is a directory.
        directory: bool,
    },
    /// The file is there, but what its first line names is not.
    #[error("the interpreter of `{}` does not exist: its first line is `{first_line}`", path.display())]
    Interpreter {
        /// The file.
        path: PathBuf,
        /// `#!…`
        first_line: String,
    },
    /// The file is neither a program of this machine nor a script with a first line.
    #[error("`{}` is not a program that this machine can run", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The run is being ended.
    #[error("`{program}` was not started: the run is ending")]
    Ending {
        /// As given.
        program: String,
    },
    /// The system refuses.
    #[error("`{program}` could not be started: {error}")]
    Io {
        /// As given.
        program: String,
        /// Why.
        error: io::Error,
    },
}

impl SpawnError {
    /// What to do next.
    pub fn hints(&self) -> Vec<String> {
        match self {
            SpawnError::Cwd { .. } => vec!["`cwd` is taken against the folder of the config file".into()],
            SpawnError::NotFound { program, in_cwd: true, .. } => match interpreter_for(program) {
                Some(interpreter) => vec![format!("run it with its interpreter: `{interpreter} {program}`")],
                None => vec![format!("the working directory has one: write `./{program}`")],
            },
            SpawnError::NotFound { on_path: true, .. } => vec!["is it installed, and on `PATH`?".into()],
            SpawnError::NotFound { cwd, .. } => {
                vec![format!("a relative path is taken against the working directory, `{}`", cwd.display())]
            }
            SpawnError::NotExecutable { directory: false, path } => {
                let name = path.display().to_string();
                let mut hints = vec![format!("make it executable: `chmod +x {name}`")];
                hints.extend(interpreter_for(&name).map(|interpreter| format!("or run it with `{interpreter}`")));
                hints
            }
            SpawnError::Format { path } => match interpreter_for(&path.display().to_string()) {
                Some(interpreter) => vec![format!("run it with `{interpreter}`, or give it a first line `#!…`")],
                None => vec!["a script needs a first line `#!…`".into()],
            },
            SpawnError::Interpreter { path, .. } if has_windows_shebang(path) => vec![WINDOWS_SHEBANG.into()],
            SpawnError::NotExecutable { .. }
            | SpawnError::Interpreter { .. }
            | SpawnError::Ending { .. }
            | SpawnError::Io { .. } => Vec::new(),
        }
    }
}

/// The file that `spawn` runs: taken against its working directory, or looked up on the `PATH` it will have.
pub(super) fn resolve(spawn: &Spawn) -> Result<PathBuf, SpawnError> {
    let cwd = std::path::absolute(&spawn.cwd).unwrap_or_else(|_| spawn.cwd.clone());
    if !cwd.is_dir() {
        return Err(SpawnError::Cwd { exists: cwd.exists(), cwd: spawn.cwd.clone() });
    }
    let program = &spawn.program;
    let on_path = !program.contains('/');
    let candidates: Vec<PathBuf> = if on_path && !program.is_empty() {
        let path = spawn.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.into());
        let path = path.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        std::env::split_paths(&path).map(|folder| cwd.join(folder).join(program)).collect()
    } else {
        vec![cwd.join(program)]
    };
    if let Some(found) = candidates.iter().find(|path| path.is_file() && may_run(path)) {
        return Ok(found.clone());
    }
    let blocked = candidates.into_iter().find(|path| path.is_file() || (!on_path && path.is_dir()));
    match blocked {
        Some(path) if !program.is_empty() => Err(SpawnError::NotExecutable { directory: path.is_dir(), path }),
        _ => Err(SpawnError::NotFound {
            program: program.clone(),
            on_path,
            in_cwd: on_path && cwd.join(program).is_file(),
            cwd,
        }),
    }
}

/// What the system's refusal to run `path` means.
pub(super) fn explain(spawn: &Spawn, path: &Path, error: io::Error) -> SpawnError {
    let noexec = rustix::io::Errno::NOEXEC.raw_os_error();
    match error.kind() {
        io::ErrorKind::NotFound if path.is_file() => {
            SpawnError::Interpreter { path: path.into(), first_line: first_line(path) }
        }
        _ if error.raw_os_error() == Some(noexec) => SpawnError::Format { path: path.into() },
        _ => SpawnError::Io { program: spawn.program.clone(), error },
    }
}

fn may_run(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// Whether the first line of a script ends in a carriage return.
pub fn has_windows_shebang(path: &Path) -> bool {
    let head = head(path);
    head.starts_with(b"#!") && head.split(|byte| *byte == b'\n').next().is_some_and(|line| line.ends_with(b"\r"))
}

fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    // An interpreter line longer than this is cut by the kernel too.
    let _ = File::open(path).and_then(|file| file.take(256).read_to_end(&mut head));
    head
}

fn first_line(path: &Path) -> String {
    String::from_utf8_lossy(&head(path)).lines().next().unwrap_or_default().to_owned()
}

fn interpreter_for(program: &str) -> Option<&'static str> {
    match Path::new(program).extension()?.to_str()? {
        "js" | "mjs" | "cjs" => Some("node"),
        "py" => Some("python3"),
        "sh" => Some("sh"),
        "rb" => Some("ruby"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
