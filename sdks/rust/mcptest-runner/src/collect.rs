//! Suite files as the tests of a `harness = false` target.
//!
//! ```text
//! test tools::adds two numbers ... ok
//! test mcptest::lanes::agents  ... ignored (…; run `mcptest run demo.test.mcp.yml`)
//! ```

use crate::lanes::native_name;
use crate::{Error, Options, Outcome, Planned, Session, Status};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The exit code of `cargo test` when tests failed.
const NOT_PLANNED: u8 = 101;

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

    /// Runs the tests as the command line says, and gives the exit code: the body of `main`. They run one after the other,
    /// in the order of their files, whatever `--test-threads` says.
    ///
    /// A file that cannot be planned ends it before any test, as code that does not compile would: no filter may hide it.
    pub fn main(self) -> ExitCode {
        let mut arguments = Arguments::from_args();
        // Tests of a file may build on each other, and threads take them in no order.
        arguments.test_threads = Some(1);
        let (mut trials, mut sessions, mut broken) = (Vec::new(), Vec::new(), false);
        for file in &self.files {
            match self.collect(file, &arguments) {
                Ok((tests, session)) => {
                    trials.extend(tests);
                    sessions.push((file, session));
                }
                Err(error) => {
                    eprintln!("error: no test of `{}` can run\n{}\n", file.display(), reason(&error));
                    broken = true;
                }
            }
        }
        if broken {
            return ExitCode::from(NOT_PLANNED);
        }
        let code = libtest_mimic::run(&arguments, trials).exit_code();
        for (file, session) in sessions {
            // Warnings about a suite, and what failed in taking down, which nobody else would show.
            let said = session.end();
            if !said.trim().is_empty() {
                eprintln!("mcptest says of `{}`:\n{}", file.display(), said.trim_end());
            }
        }
        code
    }

    /// The tests of one file, and their session.
    fn collect(&self, file: &Path, arguments: &Arguments) -> Result<(Vec<Trial>, Arc<Session>), Error> {
        let session = self.options.clone().open()?;
        let tests = session.plan(file)?;
        let session = Arc::new(session);
        Ok((tests.into_iter().map(|test| trial(test, session.clone(), arguments)).collect(), session))
    }
}

/// What the binary says of a suite speaks for itself, without the method that was called.
fn reason(error: &Error) -> String {
    match error {
        Error::Rpc { message, .. } => message.clone(),
        error => error.to_string(),
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
    let outcome = outcome.map_err(|error| Failed::from(error.to_string()))?;
    match outcome.status {
        Status::Passed => Ok(Completion::Completed),
        Status::Skipped => Ok(Completion::ignored_with(outcome.reason.unwrap_or_default())),
        Status::Failed | Status::Faulted => Err(Failed::from(outcome.text.unwrap_or_default())),
    }
}
