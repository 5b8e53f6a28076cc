//! `mcptest run`.

use super::load::{Loaded, Meanwhile, load_while};
use super::screen;
use super::{BAD_INPUT, FAILED, NO_TESTS, OK, RunArgs, Talk};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::collector::Collector;
use crate::mcp::cassette::{Cassette, Deck, Redact, Reel, Tape};
use crate::plan::Plan;
use crate::reporter;
use crate::run::{self, Early, Options};
use std::sync::Arc;

pub(super) fn run(mut args: RunArgs, talk: &Talk) -> u8 {
    // A cassette of one server needs nobody to say which; what is wrong with it is told once the suites are known.
    let played = args.replay.as_ref().and_then(|path| Cassette::load(path).ok());
    args.suites.stand_in = played.and_then(|cassette| cassette.sole_server().map(str::to_owned));
    let jobs = args.jobs.into();
    let mut early = None;
    let mut start = |plan: &Plan, environment: &[(String, String)]| early = Early::start(plan, jobs, environment);
    // A server that is recorded, or played, must not be started without the cassette.
    let live = args.record.is_none() && args.replay.is_none();
    let start: Option<Meanwhile<'_>> = if live { Some(&mut start) } else { None };
    let loaded = load_while(&args.suites, reporters(&args), start);
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
    let reel = match reel(&args, &loaded) {
        Ok(reel) => reel,
        Err(problem) => {
            screen::tell_problems(&Diagnostics { list: vec![*problem] }, talk);
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
        extensions: loaded.reach.all().cloned().collect(),
        environment: loaded.added,
        reel: reel.clone(),
    };
    let ran = run::run(loaded.plan, options, collector, early);
    Loaded::close(&loaded.reach, talk);
    let code = match ran {
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
    };
    match reel {
        Some(Reel::Record(tape)) => match tape.save() {
            Ok(_) => code,
            Err(error) => {
                screen::tell(&format!("error: the cassette could not be written: {error}\n"));
                if code == 130 { code } else { BAD_INPUT }
            }
        },
        _ => code,
    }
}

/// The cassette that is recorded or played; servers with a cassette of their own learn what is secret, too.
fn reel(args: &RunArgs, loaded: &Loaded) -> Result<Option<Reel>, Box<Diagnostic>> {
    let redactor = loaded.redactor();
    let redact: Redact = Arc::new(move |value, learnt| redactor.json_with(value, learnt));
    for case in loaded.plan.files.iter().flat_map(|file| &file.cases) {
        if let Some(deck) = &case.server.cassette {
            deck.hide(redact.clone());
        }
    }
    Ok(match (&args.record, &args.replay) {
        (Some(path), _) => Some(Reel::Record(Tape::new(path, redact).map_err(|error| {
            Box::new(Diagnostic::error(format!("the cassette `{}` cannot be written: {error}", path.display())))
        })?)),
        (None, Some(path)) => {
            let deck = Deck::new(path, Cassette::load(path)?);
            deck.hide(redact);
            Some(Reel::Replay(deck))
        }
        (None, None) => None,
    })
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
