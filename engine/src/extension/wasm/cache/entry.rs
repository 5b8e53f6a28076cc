//! One piece of compiled code: kept, checked, loaded.

use super::{Cache, Identity, MOST, compiler, hex};
use sha2::{Digest, Sha256};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wasmtime::Engine;
use wasmtime::component::Component;

/// How often a use is noted, for the eviction.
const NOTE_USE: Duration = Duration::from_secs(24 * 60 * 60);

impl Cache {
    /// The compiled code of a component: `Ok(None)` when there is none, `Err` with the reason when it cannot be trusted.
    pub(in super::super) fn load(&self, engine: &Engine, digest: &str) -> Result<Option<Component>, String> {
        let path = self.entry(engine, digest);
        let about = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            about => about.map_err(|error| error.to_string())?,
        };
        if !about.is_file() {
            return Err("it is no file".to_owned());
        }
        if about.uid() != rustix::process::geteuid().as_raw() || about.mode() & 0o022 != 0 {
            return Err("somebody else can write it".to_owned());
        }
        self.check(&path, &about)?;
        execute(engine, &path).map(Some).map_err(|error| error.root_cause().to_string())
    }

    /// Whether there is compiled code of a component; it may still turn out to be of no use.
    pub(in super::super) fn has(&self, engine: &Engine, digest: &str) -> bool {
        self.entry(engine, digest).exists()
    }

    /// Keeps compiled code, and makes room for it.
    pub(in super::super) fn store(&self, engine: &Engine, digest: &str, code: &[u8]) -> io::Result<()> {
        let path = self.entry(engine, digest);
        let _ = fs::remove_file(path.with_extension("seal"));
        self.write(&path, code)?;
        self.write(&path.with_extension("seal"), hex(&Sha256::digest(code)).as_bytes())?;
        self.evict(MOST);
        Ok(())
    }

    fn entry(&self, engine: &Engine, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}-{}.cwasm", compiler(engine)))
    }

    /// Whether the file is what this host wrote.
    fn check(&self, path: &Path, about: &Metadata) -> Result<(), String> {
        let seal_path = path.with_extension("seal");
        let seal = fs::read_to_string(&seal_path).map_err(|_| "its seal is missing".to_owned())?;
        let (digest, checked_as) = seal.trim().split_once(' ').unwrap_or((seal.trim(), ""));
        let identity = Identity::of(about).to_string();
        if checked_as == identity {
            self.note_use(&seal_path);
            return Ok(());
        }
        let code = fs::read(path).map_err(|error| error.to_string())?;
        if hex(&Sha256::digest(&code)) != digest {
            return Err("it is not what was written".to_owned());
        }
        if Identity::is_settled(about) {
            let _ = self.write(&seal_path, format!("{digest} {identity}\n").as_bytes());
        }
        Ok(())
    }

    fn note_use(&self, seal: &Path) {
        let modified = fs::metadata(seal).and_then(|about| about.modified());
        let old = modified.is_ok_and(|then| then.elapsed().is_ok_and(|age| age > NOTE_USE));
        if old && let Ok(seal) = fs::File::options().append(true).open(seal) {
            let _ = seal.set_modified(SystemTime::now());
        }
    }
}

/// Maps compiled code into memory.
#[expect(
    unsafe_code,
    reason = "compiled code cannot be verified: that it was written by this host, and by nobody since, was checked just before, in a folder that only this user can write"
)]
fn execute(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    // SAFETY: `Cache::open` made sure that no one else can write the folder, and `Cache::load` that the file is ours and
    // has the digest that was sealed when `Engine::precompile_component` made it.
    unsafe { Component::deserialize_file(engine, path) }
}
