//! `expect.files`: what a server left below `${tmp}`, read without leaving that folder and without waiting for anyone.
//!
//! The server chose what lies there: links that lead out are refused, and a pipe or a device is never read.

use crate::source::Json;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::io::{self, Read};
use std::path::Path;

/// The largest file that is judged: more than any expectation written by hand speaks of.
const MOST: u64 = 16 * 1024 * 1024;

/// A file's text, a folder's sorted names, or `None` where there is nothing; the error says why it cannot be judged.
pub(super) fn read_below(folder: &Path, path: &str) -> Result<Option<Json>, String> {
    let inside = folder.canonicalize().map_err(|error| error.to_string())?;
    let path = Path::new(path);
    // `${tmp}/a.txt` is as good as `a.txt`.
    let path = path.strip_prefix(folder).or_else(|_| path.strip_prefix(&inside)).unwrap_or(path);
    let root = Dir::open_ambient_dir(&inside, ambient_authority()).map_err(|error| error.to_string())?;
    match read(&root, if path == Path::new("") { Path::new(".") } else { path }) {
        Err(error) if is_nothing(&error) => Ok(None),
        // An attempt to leave is no error of the system's.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() => {
            Err("it lies outside of `${tmp}`".to_owned())
        }
        read => read.map(Some).map_err(|error| error.to_string()),
    }
}

fn read(root: &Dir, path: &Path) -> io::Result<Json> {
    if root.metadata(path)?.is_dir() {
        let names = root.read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<io::Result<Vec<String>>>()?;
        names.sort();
        return Ok(names.into());
    }
    // A pipe without a writer would be waited for, for ever.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = root.open_with(path, &options)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is neither a file nor a folder"));
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other(format!("it holds {} bytes, more than {MOST}", about.len())));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned().into())
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_folders_and_nothing() {
        let tmp = tempfile::tempdir().unwrap();
        fs::create_dir(tmp.path().join("notes")).unwrap();
        fs::write(tmp.path().join("notes/b"), "second").unwrap();
        fs::write(tmp.path().join("notes/a"), b"\xff").unwrap();
        symlink("b", tmp.path().join("notes/link")).unwrap();
        let read = |path: &str| read_below(tmp.path(), path);
        assert_eq!(read("notes/b"), Ok(Some("second".into())));
        assert_eq!(read("notes/link"), Ok(Some("second".into())));
        assert_eq!(read("notes/a"), Ok(Some("\u{fffd}".into())));
        assert_eq!(read("notes/../notes/b"), Ok(Some("second".into())));
        assert_eq!(read(tmp.path().join("notes/b").to_str().unwrap()), Ok(Some("second".into())));
        assert_eq!(read("notes"), Ok(Some(vec!["a", "b", "link"].into())));
        assert_eq!(read("none"), Ok(None));
        assert_eq!(read("notes/b/below"), Ok(None));
    }

    #[test]
    fn nothing_leads_out() {
        let tmp = tempfile::tempdir().unwrap();
        symlink("/etc/passwd", tmp.path().join("out")).unwrap();
        symlink("../..", tmp.path().join("up")).unwrap();
        for path in ["out", "up", "up/etc", "../x", "/etc/passwd"] {
            assert_eq!(read_below(tmp.path(), path), Err("it lies outside of `${tmp}`".to_owned()), "{path}");
        }
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let tmp = tempfile::tempdir().unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, tmp.path().join("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let told = read_below(tmp.path(), "pipe").unwrap_err();
        assert!(told.contains("neither a file nor a folder"), "{told}");
    }

    #[test]
    fn a_huge_file_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        fs::File::create(tmp.path().join("huge")).unwrap().set_len(MOST + 1).unwrap();
        assert!(read_below(tmp.path(), "huge").unwrap_err().contains("more than"));
    }
}
