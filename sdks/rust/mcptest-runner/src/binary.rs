//! Finding the `mcptest` binary: `MCPTEST_BIN`, then PATH.

use crate::Error;
use std::path::{Path, PathBuf};

/// The variable that names the binary.
const VARIABLE: &str = "MCPTEST_BIN";

/// The binary to start, or an error that names both places. A relative path is taken against this process's folder,
/// wherever the binary is started.
pub(crate) fn find(given: Option<&Path>) -> Result<PathBuf, Error> {
    let found = named(given)?;
    Ok(if found.components().count() > 1 { std::path::absolute(&found).unwrap_or(found) } else { found })
}

fn named(given: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(path) = given {
        return Ok(path.to_path_buf());
    }
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from) {
        return if is_program(&path) { Ok(path) } else { Err(missing(&path)) };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("mcptest{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|path| is_program(path)).ok_or_else(|| {
        Error::BinaryNotFound(format!(
            "cannot find the mcptest binary: `{VARIABLE}` is not set, and PATH has no `mcptest`\n\
             hint: install mcptest, or set {VARIABLE} to the binary"
        ))
    })
}

fn missing(path: &Path) -> Error {
    Error::BinaryNotFound(format!(
        "cannot find the mcptest binary: `{VARIABLE}` is `{}`, which is no program\n\
         hint: set {VARIABLE} to the binary, or unset it to take the `mcptest` on PATH",
        path.display()
    ))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
