//! Files to sources: bytes read once, a byte order mark taken off, UTF-8 checked.

use super::Source;
use crate::diagnostic::Diagnostic;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

/// The largest file that is read: far above any suite, and within the 32-bit offsets of spans.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Reads a text file; `shown` is how messages call it.
pub fn load(path: &Path, shown: &str) -> Result<Arc<Source>, Diagnostic> {
    let bytes = read(path, shown)?;
    let bytes = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(shown, path, text)),
        Err(error) => Err(not_utf8(shown, error.as_bytes(), error.utf8_error().valid_up_to())),
    }
}

fn read(path: &Path, shown: &str) -> Result<Vec<u8>, Diagnostic> {
    let cannot = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => absent(path, shown),
        ErrorKind::PermissionDenied => Diagnostic::error(format!("`{shown}` may not be read: permission denied")),
        _ => Diagnostic::error(format!("`{shown}` cannot be read: {error}")),
    };
    let file = std::fs::File::open(path).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    if metadata.is_dir() {
        return Err(Diagnostic::error(format!("`{shown}` is a folder, and a file is needed")));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(MAX_FILE) as usize + 1);
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_FILE {
        let limit = MAX_FILE / (1024 * 1024);
        return Err(
            Diagnostic::error(format!("`{shown}` is larger than {limit} MiB")).hint("split it into several files")
        );
    }
    Ok(bytes)
}

fn absent(path: &Path, shown: &str) -> Diagnostic {
    if let Ok(target) = std::fs::read_link(path) {
        return Diagnostic::error(format!("`{shown}` is a link to `{}`, which does not exist", target.display()));
    }
    Diagnostic::error(format!("`{shown}` does not exist")).hint(match nearest(path) {
        Some(name) => format!("did you mean `{name}`, in the same folder?"),
        None => "check the spelling, and the folder the command runs in".to_owned(),
    })
}

/// The file that a misspelt name may have meant.
fn nearest(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .take(1000)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let name = path.file_name()?.to_str()?;
    crate::diagnostic::did_you_mean(name, names.iter().map(String::as_str)).map(str::to_owned)
}

fn not_utf8(shown: &str, bytes: &[u8], at: usize) -> Diagnostic {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let hint = match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "it looks like UTF-16; save the file as UTF-8",
        _ => "save the file as UTF-8; bytes that are no text can be sent with `raw: {base64: …}`",
    };
    Diagnostic::error(format!(
        "`{shown}` is not UTF-8: byte 0x{:02X} at line {line}, column {column} (offset {at})",
        bytes[at]
    ))
    .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_bytes(bytes: &[u8]) -> Result<Arc<Source>, Diagnostic> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.yml");
        std::fs::write(&path, bytes).expect("a file");
        load(&path, "a.yml")
    }

    #[test]
    fn a_byte_order_mark_is_taken_off() {
        assert_eq!(load_bytes(b"\xEF\xBB\xBFa: 1").expect("a source").text, "a: 1");
    }

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_place() {
        let error = load_bytes("ok: 1\nä: \"".as_bytes().iter().copied().chain([0xFF]).collect::<Vec<_>>().as_slice());
        assert_eq!(
            error.expect_err("no text").message,
            "`a.yml` is not UTF-8: byte 0xFF at line 2, column 5 (offset 11)"
        );
        let utf16 = load_bytes(b"\xFF\xFEa\0").expect_err("no text");
        assert!(utf16.hints[0].contains("UTF-16"), "{utf16:?}");
    }

    #[test]
    fn missing_files_and_folders_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("suite.yml"), "").expect("a file");
        let missing = load(&folder.path().join("siute.yml"), "siute.yml").expect_err("missing");
        assert_eq!(missing.message, "`siute.yml` does not exist");
        assert_eq!(missing.hints, ["did you mean `suite.yml`, in the same folder?"]);
        let directory = load(folder.path(), "here").expect_err("a folder");
        assert_eq!(directory.message, "`here` is a folder, and a file is needed");
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("big.yml");
        std::fs::File::create(&path).and_then(|file| file.set_len(MAX_FILE + 1)).expect("a sparse file");
        assert_eq!(load(&path, "big.yml").expect_err("too big").message, "`big.yml` is larger than 64 MiB");
    }
}
