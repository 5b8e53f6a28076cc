//! `${tmp}` and `${port}`: a folder and a port of its own for every process of a server.

use super::Server;
use crate::mcp::fault::{Code, Fault};
use std::cell::OnceCell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::rc::Rc;
use tempfile::TempDir;

/// The folder behind `${tmp}`; dropping it removes it.
#[derive(Debug)]
pub struct Tmp {
    folder: TempDir,
    text: Rc<str>,
    port: OnceCell<Option<u16>>,
}

impl Tmp {
    /// A fresh folder that holds what the server's `fixture` holds.
    pub fn new(server: &Server) -> Result<Tmp, Fault> {
        let problem = |what: &str, error: io::Error| Fault::new(Code::StartFailed, format!("{what}: {error}"));
        let folder = fresh_folder().map_err(|error| {
            problem("cannot make a temporary directory", error).hint("`TMPDIR` in the environment says where")
        })?;
        if let Some(fixture) = &server.fixture {
            copy_fixture(fixture, folder.path())
                .map_err(|error| problem(&format!("cannot copy the fixture `{}`", fixture.display()), error))?;
        }
        let text = folder.path().to_string_lossy().into();
        Ok(Tmp { folder, text, port: OnceCell::new() })
    }

    /// The value of `${tmp}`.
    pub fn text(&self) -> &Rc<str> {
        &self.text
    }

    /// The value of `${port}`: one that nobody listened on when it was first asked for.
    pub fn port(&self) -> Option<u16> {
        let free = || TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).ok();
        *self.port.get_or_init(|| free().map(|address| address.port()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A folder whose name survives servers that fold paths to lower case.
fn fresh_folder() -> io::Result<TempDir> {
    loop {
        let name = format!("mcptest-{:010x}", RandomState::new().build_hasher().finish() >> 24);
        match tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
}

fn copy_fixture(from: &Path, to: &Path) -> io::Result<()> {
    if to.canonicalize()?.starts_with(from.canonicalize()?) {
        return Err(io::Error::other(format!("`${{tmp}}` lies inside of it, in `{}`", to.display())));
    }
    copy_folder(from, to)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            std::fs::create_dir(&target)?;
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), &target)?;
        } else {
            // To open a pipe that nobody writes to would take for ever.
            let name = entry.path();
            let name = name.strip_prefix(from).unwrap_or(&name).display();
            return Err(io::Error::other(format!("`{name}` is a pipe, a socket or a device")));
        }
    }
    Ok(())
}
