//! Reports that an extension writes: it sees every event and returns text, and the host puts the text where it belongs.
//!
//! The main output is what the user named, or stdout. Named outputs are files; their names come from the extension, so they
//! lie in a folder of its own and cannot leave it, and none is called like what a later run would read.
//!
//! ```text
//! --reporter html=out/report.html     out/report.html, out/report.html.files/NAME
//! --reporter html=site/               site/NAME
//! ```

use super::Reporter;
use super::open::is_input;
use super::visible::{is_invisible, visible};
use crate::event::Event;
use crate::extension::naming::quoted;
use crate::extension::{Live, Output, log};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// How many files one reporter may write.
const MOST_FILES: usize = 10_000;

/// A reporter that is an extension.
pub struct Extension {
    name: String,
    live: Arc<Live>,
    /// `None` where a folder was named.
    output: Option<Box<dyn Write + Send>>,
    /// An open folder, and the way from it to where named outputs lie; `None` when the main output is stdout.
    files: Option<(Dir, PathBuf)>,
    written: HashSet<PathBuf>,
    verbose: bool,
}

impl Extension {
    /// A reporter called `name` that writes to `output`; `file` is where that leads, or a folder for named outputs alone.
    pub fn new(
        name: impl Into<String>,
        live: Arc<Live>,
        output: Option<Box<dyn Write + Send>>,
        file: Option<&Path>,
        verbose: bool,
    ) -> io::Result<Extension> {
        let files = match (file, &output) {
            (None, _) => None,
            (Some(folder), None) => Some((Dir::open_ambient_dir(folder, ambient_authority())?, PathBuf::new())),
            (Some(file), Some(_)) => {
                let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let mut own = file.file_name().unwrap_or_default().to_owned();
                own.push(".files");
                Some((Dir::open_ambient_dir(folder, ambient_authority())?, own.into()))
            }
        };
        Ok(Extension { name: name.into(), live, output, files, written: HashSet::new(), verbose })
    }

    fn write(&mut self, outputs: Vec<Output>) -> io::Result<()> {
        for Output { name, text } in outputs {
            match (name, &mut self.output) {
                (Some(name), _) => self.write_file(&name, &text)?,
                (None, Some(output)) => output.write_all(text.as_bytes())?,
                (None, None) if text.is_empty() => {}
                (None, None) => {
                    return Err(io::Error::other("it writes text without a name: give it a file, and no folder"));
                }
            }
        }
        Ok(())
    }

    fn write_file(&mut self, name: &str, text: &str) -> io::Result<()> {
        let Some((folder, way)) = &self.files else {
            return Err(io::Error::other(format!(
                "it writes a file `{name}`, and has no folder: give it one with `{}=FILE`",
                self.name
            )));
        };
        let wrong = |why: &str| io::Error::other(format!("{} {why}", quoted(name)));
        let path = plain(name).ok_or_else(|| wrong("does not name a file below its folder"))?;
        if is_read(&path) {
            return Err(wrong("is the name of a suite, a config or a hidden file, and of no report"));
        }
        let path = way.join(path);
        let first = self.written.insert(path.clone());
        if self.written.len() > MOST_FILES {
            return Err(io::Error::other(format!("it writes more than {MOST_FILES} files")));
        }
        let mut options = OpenOptions::new();
        options.create(true);
        if first {
            options.write(true).truncate(true)
        } else {
            options.append(true)
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let opened = parent.map_or(Ok(()), |parent| folder.create_dir_all(parent));
        let file = opened.and_then(|()| folder.open_with(&path, &options));
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| wrong(&format!("cannot be written: {error}")))
    }

    /// What it said goes to stderr: stdout may be its report.
    fn pass_on(&self) {
        for said in log::take() {
            if self.verbose || said.level >= log::Level::Warn {
                let _ = writeln!(io::stderr(), "{} ({}): {}", said.by, said.level.name(), visible(&said.text));
            }
        }
    }

    fn failed(&self, fault: &crate::extension::Fault) -> io::Error {
        let hints: String = fault.all_hints().iter().map(|hint| format!("\nhint: {hint}")).collect();
        io::Error::other(format!("{} ({}){hints}", fault.message, fault.code.name()))
    }
}

/// A relative path that only goes down, and can be read where it is shown.
fn plain(name: &str) -> Option<PathBuf> {
    if name.contains(is_invisible) {
        return None;
    }
    let mut path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!path.as_os_str().is_empty() && !name.ends_with('/')).then_some(path)
}

/// Whether a later run, or many another program, would take a file of this name for more than a report.
fn is_read(path: &Path) -> bool {
    path.iter().any(|part| part.to_string_lossy().starts_with('.')) || is_input(path)
}

impl Reporter for Extension {
    fn name(&self) -> &str {
        &self.name
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let text = serde_json::to_string(event)?;
        let observed = self.live.extension.observe(&text);
        self.pass_on();
        let outputs = observed.map_err(|fault| self.failed(&fault))?;
        self.write(outputs)
    }

    fn finish(&mut self) -> io::Result<()> {
        let finished = self.live.extension.finish();
        self.pass_on();
        let outputs = finished.map_err(|fault| self.failed(&fault))?;
        self.write(outputs)?;
        self.output.as_mut().map_or(Ok(()), |output| output.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::{is_read, plain};
    use std::path::Path;

    #[test]
    fn no_report_is_read_by_a_later_run() {
        for bad in [
            "mcptest.yml",
            "MCPTEST.yaml",
            "a/aegis.config.json",
            "plugin.toml",
            "a.test.mcp.yml",
            ".envrc",
            "a/.git/b",
            "..a",
        ] {
            assert!(is_read(Path::new(bad)), "{bad}");
        }
        for good in ["index.html", "a/mcptest.yml.html", "suite.test.mcp.yml.html", "a.b"] {
            assert!(!is_read(Path::new(good)), "{good}");
        }
    }

    #[test]
    fn names_only_go_down() {
        for good in ["a", "a/b.html", "./a", "a//b", "..a"] {
            assert!(plain(good).is_some(), "{good}");
        }
        for bad in
            ["", ".", "..", "../a", "a/../../b", "/etc/passwd", "a/", "a/..", "a\0b", "a\u{1b}[2J", "a\nb", "a\u{202e}"]
        {
            assert!(plain(bad).is_none(), "{bad}");
        }
    }
}
