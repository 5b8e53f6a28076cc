//! From `--reporter NAME[=FILE]` to reporters with their outputs opened.

use super::Reporter;
use super::extension::Extension;
use super::human::{Human, Look};
use super::json::Json;
use super::junit::Junit;
use super::ndjson::Ndjson;
use crate::config;
use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::extension::{Live, spec};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

const NAMES: [&str; 4] = ["human", "json", "junit", "ndjson"];
/// The width of the human report in a file.
const FILE_WIDTH: usize = 100;

/// What reporters need to know about where and how they write.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// What is said beside the files to run them again.
    pub again: &'a [String],
    /// What stdout can do.
    pub stdout: Screen,
    /// What stderr can do.
    pub stderr: Screen,
    /// Only failures and the summary.
    pub quiet: bool,
    /// Steps, logs and sessions too.
    pub verbose: bool,
    /// Every frame.
    pub show_frames: bool,
}

/// What an output can do.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Colours.
    pub color: bool,
    /// Columns.
    pub width: usize,
    /// A line that moves.
    pub live: bool,
}

/// The names that `--reporter` knows.
pub fn names() -> &'static [&'static str] {
    &NAMES
}

/// Opens everything that `--reporter` asks for, and `human` beside it where stdout is free. Every problem is reported,
/// and no reporter is of use if there is one.
pub fn open<S: AsRef<str>>(specs: &[S], options: &Options<'_>) -> Result<Vec<Box<dyn Reporter>>, Diagnostics> {
    open_with(specs, options, &Extensions::new())
}

/// Reporters that are extensions, by the name that asks for them.
pub(crate) type Extensions = HashMap<String, Arc<Live>>;

/// Like [`open`], where names may also be those of extensions.
pub fn open_with<S: AsRef<str>>(
    specs: &[S],
    options: &Options<'_>,
    extensions: &Extensions,
) -> Result<Vec<Box<dyn Reporter>>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let specs: Vec<Spec<'_>> = specs.iter().map(|spec| Spec::parse(spec.as_ref())).collect();
    let takes_stdout = |spec: &&Spec<'_>| {
        spec.file.is_none()
            && spec.name != "human"
            && (NAMES.contains(&spec.name) || extensions.contains_key(spec.name))
    };
    let on_stdout: Vec<&Spec<'_>> = specs.iter().filter(takes_stdout).collect();
    if let [first, second, ..] = on_stdout[..] {
        let message = format!("reporters `{}` and `{}` both write to stdout", first.name, second.name);
        problems.push(Diagnostic::error(message).hint(format!("give one of them a file: `{}=FILE`", second.name)));
    }
    for (index, spec) in specs.iter().enumerate() {
        if spec.file.is_some() && specs[..index].iter().any(|other| other.file == spec.file) {
            let message = format!("two reporters write to `{}`", spec.file.unwrap_or_default());
            problems.push(Diagnostic::error(message));
        }
    }
    let mut reporters = Vec::new();
    if on_stdout.is_empty() && !specs.iter().any(|spec| spec.name == "human") {
        reporters.push(human("human", Box::new(io::stdout()), options.stdout, options));
    }
    for spec in &specs {
        let stdout_is_taken = !on_stdout.is_empty();
        match spec.create(options, stdout_is_taken, extensions) {
            Ok(reporter) => reporters.push(reporter),
            Err(problem) => problems.push(*problem),
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(reporters) }
}

/// Opens one reporter, `NAME[=FILE]`; without a file it writes to stdout.
pub fn create(spec: &str, options: &Options<'_>) -> Result<Box<dyn Reporter>, Box<Diagnostic>> {
    Spec::parse(spec).create(options, false, &Extensions::new())
}

/// Whether a run would read a file of this name: a suite, a config, the description of a plugin.
pub(crate) fn is_input(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    config::file::NAMES.contains(&name.as_str())
        || name == spec::FILE
        || [".test.mcp.yml", ".test.mcp.yaml"].iter().any(|end| name.ends_with(end))
}

struct Spec<'a> {
    text: &'a str,
    name: &'a str,
    file: Option<&'a str>,
}

impl<'a> Spec<'a> {
    fn parse(text: &'a str) -> Spec<'a> {
        match text.split_once('=') {
            Some((name, "-")) => Spec { text: name, name, file: None },
            Some((name, file)) => Spec { text, name, file: Some(file) },
            None => Spec { text, name: text, file: None },
        }
    }

    fn create(
        &self,
        options: &Options<'_>,
        stdout_is_taken: bool,
        extensions: &Extensions,
    ) -> Result<Box<dyn Reporter>, Box<Diagnostic>> {
        let extension = extensions.get(self.name);
        if extension.is_none() && !NAMES.contains(&self.name) {
            return Err(Box::new(unknown(self.name)));
        }
        let plain = Screen { color: false, width: FILE_WIDTH, live: false };
        if let (Some(live), Some(folder)) = (extension, self.file.filter(|file| file.ends_with('/'))) {
            return self.of_folder(live, folder, options);
        }
        let (output, screen): (Box<dyn Write + Send>, Screen) = match self.file {
            Some(file) => (Box::new(create_file(file)?), plain),
            None if stdout_is_taken && self.name == "human" => (Box::new(io::stderr()), options.stderr),
            None => (Box::new(io::stdout()), options.stdout),
        };
        if let Some(live) = extension {
            return self.extension(live, Some(output), options);
        }
        Ok(match self.name {
            "human" => human(self.text, output, screen, options),
            "json" => Box::new(Json::new(self.text, output)),
            "junit" => Box::new(Junit::new(self.text, output)),
            _ => Box::new(Ndjson::new(self.text, output, options.show_frames)),
        })
    }

    /// An extension that writes files into a folder, and nothing else.
    fn of_folder(
        &self,
        live: &Arc<Live>,
        folder: &str,
        options: &Options<'_>,
    ) -> Result<Box<dyn Reporter>, Box<Diagnostic>> {
        let made = fs::create_dir_all(folder);
        made.map_err(|error| Box::new(Diagnostic::error(format!("the folder `{folder}` cannot be made: {error}"))))?;
        self.extension(live, None, options)
    }

    fn extension(
        &self,
        live: &Arc<Live>,
        output: Option<Box<dyn Write + Send>>,
        options: &Options<'_>,
    ) -> Result<Box<dyn Reporter>, Box<Diagnostic>> {
        let reporter = Extension::new(self.text, live.clone(), output, self.file.map(Path::new), options.verbose);
        let problem = |error| Box::new(Diagnostic::error(format!("`{}`: {error}", self.text)));
        reporter.map(|reporter| Box::new(reporter) as Box<dyn Reporter>).map_err(problem)
    }
}

fn human(name: &str, output: Box<dyn Write + Send>, screen: Screen, options: &Options<'_>) -> Box<dyn Reporter> {
    let Screen { color, width, live } = screen;
    let Options { quiet, verbose, show_frames, again, .. } = *options;
    let human = Human::new(name, output, Look { color, width, live, quiet, verbose, show_frames });
    Box::new(human.run_with(again.to_vec()))
}

fn unknown(name: &str) -> Diagnostic {
    let problem = Diagnostic::error(format!("there is no reporter named `{name}`"));
    let problem = match did_you_mean(name, NAMES) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    };
    problem.hint(format!("known reporters: {}", NAMES.map(|name| format!("`{name}`")).join(", ")))
}

fn create_file(file: &str) -> Result<File, Box<Diagnostic>> {
    if file.is_empty() {
        return Err(Box::new(Diagnostic::error("`--reporter NAME=FILE` has no file after the `=`")));
    }
    let path = Path::new(file);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| File::create(path))
        .map_err(|error| Box::new(Diagnostic::error(format!("the report `{file}` cannot be written: {error}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen { color: false, width: 80, live: false };
    const OPTIONS: Options<'_> =
        Options { again: &[], stdout: SCREEN, stderr: SCREEN, quiet: false, verbose: false, show_frames: false };

    fn names_of(specs: &[&str]) -> Vec<String> {
        let reporters = open(specs, &OPTIONS).unwrap_or_else(|problems| panic!("{problems:?}"));
        reporters.iter().map(|reporter| reporter.name().to_owned()).collect()
    }

    fn problems(specs: &[&str]) -> Vec<String> {
        let problems = open(specs, &OPTIONS).err().expect("a problem");
        problems.list.into_iter().map(|problem| [vec![problem.message], problem.hints].concat().join(" / ")).collect()
    }

    #[test]
    fn human_keeps_stdout_until_another_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/er/report.xml");
        let spec = format!("junit={}", file.display());
        assert_eq!(names_of(&[]), ["human"]);
        assert_eq!(names_of(&["json"]), ["json"]);
        assert_eq!(names_of(&["json=-"]), ["json"]);
        assert_eq!(names_of(&["human", "ndjson"]), ["human", "ndjson"]);
        assert_eq!(names_of(&[&spec]), ["human", &*spec]);
        assert!(file.is_file(), "its folders are made");
    }

    #[test]
    fn every_problem_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().display();
        let specs =
            [format!("json={taken}"), "jnuit".to_owned(), "ndjson".to_owned(), "mocha=".to_owned(), "json".to_owned()];
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        let known = "known reporters: `human`, `json`, `junit`, `ndjson`";
        assert_eq!(
            problems(&specs),
            [
                "reporters `ndjson` and `json` both write to stdout / give one of them a file: `json=FILE`".to_owned(),
                format!("the report `{taken}` cannot be written: Is a directory (os error 21)"),
                format!("there is no reporter named `jnuit` / did you mean `junit`? / {known}"),
                format!("there is no reporter named `mocha` / {known}"),
            ]
        );
        assert_eq!(problems(&["json="]), ["`--reporter NAME=FILE` has no file after the `=`"]);
        let same = folder.path().join("one").display().to_string();
        let same = [format!("json={same}"), format!("junit={same}")];
        assert_eq!(problems(&[&same[0], &same[1]]), [format!("two reporters write to `{}`", &same[0][5..])]);
    }
}
