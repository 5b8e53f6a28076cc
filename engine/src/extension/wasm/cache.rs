//! Compiled code, kept between runs in a folder that only its user can write.
//!
//! ```text
//! CACHE/extensions/              mode 0700
//!   3f…a9-1c2d….cwasm            compiled code: digest of the component, then of the compiler and its settings
//!   3f…a9-1c2d….seal             the digest of that file, and the identity it was last checked under
//!   77…01.seen                   the digest of a component, by path and identity, so that it is not read again
//! ```
//!
//! Compiled code is executed as it is, so a file is loaded only when nobody else could have written it and it is what
//! this host wrote: its digest stands beside it. Hashing tens of megabytes at every start would cost more than loading
//! them, so a file that was checked once is trusted while its [`Identity`] stays the same; whoever writes, truncates or
//! swaps it changes that. Everything else is compiled again, with a notice.

mod entry;
mod identity;

use crate::cache::{self, Cleaned, sweep};
use identity::Identity;
use sha2::{Digest, Sha256};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wasmtime::Engine;

/// Bytes of compiled code that are kept: some dozens of Rust extensions, or a dozen with a language runtime inside.
const MOST: u64 = 512 * 1024 * 1024;

/// The folder of compiled code.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Where compiled code is kept.
    pub fn place(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        Some(cache::folder(variable)?.join("extensions"))
    }

    /// Opens the folder and makes it when it is missing; the error says why it cannot be trusted.
    pub fn open(folder: &Path) -> Result<Cache, String> {
        if !folder.exists() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| format!("`{}` cannot be made: {error}", folder.display()))?;
        }
        let folder = folder.canonicalize().map_err(|error| format!("`{}`: {error}", folder.display()))?;
        let owner = rustix::process::geteuid().as_raw();
        for (depth, ancestor) in folder.ancestors().enumerate() {
            let about = fs::symlink_metadata(ancestor).map_err(|error| format!("`{}`: {error}", ancestor.display()))?;
            let mine = about.uid() == owner || (depth > 0 && about.uid() == 0);
            // A sticky folder such as /tmp lets others add, not replace.
            let writable = about.mode() & 0o022 != 0 && (depth == 0 || about.mode() & 0o1000 == 0);
            if !mine || writable {
                return Err(format!("somebody else can write `{}`", ancestor.display()));
            }
        }
        Ok(Cache { folder })
    }

    /// Removes everything that was kept.
    pub fn clean(folder: &Path) -> io::Result<Cleaned> {
        sweep(folder, is_ours)
    }

    /// Removes what was used least recently until the rest fits.
    fn evict(&self, most: u64) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == "cwasm")
                && let Ok(about) = fs::metadata(&path)
            {
                let used = fs::metadata(path.with_extension("seal")).and_then(|seal| seal.modified());
                kept.push((used.unwrap_or(SystemTime::UNIX_EPOCH), about.len(), path));
            }
        }
        kept.sort();
        let mut total: u64 = kept.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in kept {
            if total <= most {
                break;
            }
            let _ = fs::remove_file(path.with_extension("seal"));
            if fs::remove_file(&path).is_ok() {
                total -= size;
            }
        }
    }

    /// The digest of a component on disk, from memory when the file is the one that was read then.
    pub(super) fn remembered(&self, path: &Path) -> Option<String> {
        let identity = Identity::of(&fs::metadata(path).ok()?);
        let seen = fs::read_to_string(self.seen(path)?).ok()?;
        let (known, digest) = seen.trim().split_once(' ')?;
        (known == identity.to_string() && digest.len() == 64).then(|| digest.to_owned())
    }

    /// Keeps the digest of a component that was just read.
    pub(super) fn remember(&self, path: &Path, digest: &str) {
        let Ok(about) = fs::metadata(path) else { return };
        if Identity::is_settled(&about)
            && let Some(seen) = self.seen(path)
        {
            let _ = self.write(&seen, format!("{} {digest}\n", Identity::of(&about)).as_bytes());
        }
    }

    fn seen(&self, path: &Path) -> Option<PathBuf> {
        let path = path.canonicalize().ok()?;
        let name = hex(&Sha256::digest(path.as_os_str().as_encoded_bytes()));
        Some(self.folder.join(name).with_extension("seen"))
    }

    /// Writes a file in one go: it is there as a whole, or not at all.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        io::Write::write_all(&mut file, bytes)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn is_ours(path: &Path) -> bool {
    let known =
        path.extension().is_some_and(|extension| ["cwasm", "seal", "seen"].iter().any(|ours| extension == *ours));
    known || path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".new-"))
}

/// The digest of the compiler and its settings: code of another one is another file.
fn compiler(engine: &Engine) -> String {
    struct Digesting(Sha256);
    impl Hasher for Digesting {
        fn finish(&self) -> u64 {
            0
        }

        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
    }
    let mut hasher = Digesting(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hex(&hasher.0.finalize()[..8])
}

/// Bytes as lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_others_can_write_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("deep/extensions");
        assert!(Cache::open(&folder).is_ok());
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Cache::open(&folder).unwrap_err().contains("somebody else can write"));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(root.path().join("deep"), fs::Permissions::from_mode(0o770)).unwrap();
        assert!(Cache::open(&folder).is_err(), "whoever can write the folder above can swap this one");
    }

    #[test]
    fn cleaning_takes_what_is_ours() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Cache::clean(&root.path().join("none")).unwrap(), Cleaned::default());
        for name in ["a.cwasm", "a.seal", "b.seen", ".new-x", "notes.txt"] {
            fs::write(root.path().join(name), "1234").unwrap();
        }
        assert_eq!(Cache::clean(root.path()).unwrap(), Cleaned { files: 4, bytes: 16 });
        assert!(root.path().join("notes.txt").exists());
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(&root.path().join("x")).unwrap();
        for (age, name) in ["new", "old", "middle"].into_iter().zip([1, 3, 2]).map(|(name, age)| (age, name)) {
            let code = cache.folder.join(name).with_extension("cwasm");
            fs::write(&code, [0; 10]).unwrap();
            let seal = fs::File::create(code.with_extension("seal")).unwrap();
            seal.set_modified(SystemTime::now() - std::time::Duration::from_secs(age * 1000)).unwrap();
        }
        cache.evict(15);
        let left: Vec<_> = fs::read_dir(&cache.folder).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(cache.folder.join("new.cwasm").exists());
    }
}
