//! Suite files as the tests of a `harness = false` target.
//!
//! ```text
//! test tools::adds two numbers ... ok
//! test mcptest::lanes::agents  ... ignored (…; run `mcptest run demo.test.mcp.yml`)
//! ```

use crate::lanes::native_name;
use crate::{Error, Options, Outcome, Planned, Session, Status};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Suite files whose tests `cargo test` runs.
#[derive(Debug, Clone)]
pub struct Suites {
    files: Vec<PathBuf>,
    options: Options,
}

impl Suites {
    /// The tests of these files.
    pub fn new<I: IntoIterator<Item = P>, P: Into<PathBuf>>(files: I) -> Suites {
        Suites { files: files.into_iter().map(Into::into).collect(), options: Options::default() }
    }

    /// How the binary is started for each file.
    pub fn options(mut self, options: Options) -> Suites {
        self.options = options;
        self
    }

    /// Runs the tests as the command line says, and gives the exit code: the body of `main`.
    pub fn main(self) -> ExitCode {
        let arguments = Arguments::from_args();
        let trials = self.files.iter().flat_map(|file| self.collect(file.clone(), &arguments)).collect();
        libtest_mimic::run(&arguments, trials).exit_code()
    }

    /// The tests of one file; a file that cannot be planned is one test that fails and says why.
    fn collect(&self, file: PathBuf, arguments: &Arguments) -> Vec<Trial> {
        let opened = self.options.clone().open().and_then(|session| Ok((session.plan(&file)?, session)));
        match opened {
            Ok((tests, session)) => {
                let session = Arc::new(session);
                tests.into_iter().map(|test| trial(test, session.clone(), arguments)).collect()
            }
            Err(error) => vec![Trial::test(file.display().to_string(), move || Err(failed(&error)))],
        }
    }
}

fn trial(test: Planned, session: Arc<Session>, arguments: &Arguments) -> Trial {
    let name = native_name(&test);
    let Some(reason) = test.skip else {
        return Trial::ignorable_test(name, move || judge(session.run_test(&test.id)));
    };
    // The reason is only printed for a test that says it while it runs, and `--ignored` only takes tests with the flag.
    let asked = arguments.ignored || arguments.include_ignored;
    let tell = move || {
        if asked {
            println!("{reason}");
        }
        Ok(Completion::ignored_with(reason))
    };
    Trial::ignorable_test(name, tell).with_ignored_flag(asked)
}

fn judge(outcome: Result<Outcome, Error>) -> Result<Completion, Failed> {
    let outcome = outcome.map_err(|error| failed(&error))?;
    match outcome.status {
        Status::Passed => Ok(Completion::Completed),
        Status::Skipped => Ok(Completion::ignored_with(outcome.reason.unwrap_or_default())),
        Status::Failed | Status::Faulted => Err(Failed::from(outcome.text.unwrap_or_default())),
    }
}

fn failed(error: &Error) -> Failed {
    Failed::from(error.to_string())
}
