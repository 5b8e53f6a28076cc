//! `mcptest run`.

use super::load::{Loaded, load_while};
use super::screen;
use super::{BAD_INPUT, FAILED, NO_TESTS, OK, RunArgs, Talk};
use crate::event::collector::Collector;
use crate::plan::Plan;
use crate::reporter;
use crate::run::{self, Early, Options};

pub(super) fn run(args: RunArgs, talk: &Talk) -> u8 {
    let jobs = args.jobs.into();
    let mut early = None;
    let mut start = |plan: &Plan, environment: &[(String, String)]| early = Early::start(plan, jobs, environment);
    let loaded = load_while(&args.suites, reporters(&args), Some(&mut start));
    if let Some(code) = loaded.tell(talk) {
        return code;
    }
    if loaded.plan.tests == 0 {
        return no_tests(&loaded, args.pass_with_no_tests);
    }
    let options = reporter::Options {
        stdout: screen::stdout(talk),
        stderr: screen::stderr(talk),
        quiet: talk.quiet,
        verbose: talk.verbose,
        show_frames: args.show_frames,
    };
    let reporters = match reporter::open_with(&loaded.reporters, &options, &loaded.reporting) {
        Ok(reporters) => reporters,
        Err(problems) => {
            screen::tell_problems(&problems, talk);
            return BAD_INPUT;
        }
    };
    let collector = Collector::new(reporters, loaded.redactor());
    let options = Options {
        jobs,
        max_fail: if args.fail_fast { Some(1) } else { args.max_fail.map(|most| most as usize) },
        timeout: args.timeout,
        frames: args.show_frames || collector.wants_frames(),
        logs: talk.verbose,
        extensions: loaded.reach.all().map(|live| live.used()).collect(),
        environment: loaded.added,
    };
    let ran = run::run(loaded.plan, options, collector, early);
    Loaded::close(&loaded.reach, talk);
    match ran {
        Ok((finished, code)) => {
            for error in &finished.errors {
                screen::tell(&format!("error: {error}\n"));
            }
            if finished.errors.is_empty() || code == 130 { code } else { BAD_INPUT }
        }
        Err(error) => {
            screen::tell(&format!("error: the run could not begin: {error}\n"));
            FAILED
        }
    }
}

fn reporters(args: &RunArgs) -> Vec<String> {
    let mut specs = args.reporter.clone();
    specs.extend(args.json.then(|| "json".to_owned()));
    specs.extend(args.junit.as_ref().map(|file| format!("junit={file}")));
    specs
}

fn no_tests(loaded: &Loaded, pass: bool) -> u8 {
    let hint = match loaded.missing.as_slice() {
        [] => "the filters leave nothing; `mcptest list` without them shows what there is".to_owned(),
        missing => format!("no file matches `{}`", missing.join("`, `")),
    };
    screen::tell(&format!("error: no test was selected\nhint: {hint}\n"));
    if pass { OK } else { NO_TESTS }
}
