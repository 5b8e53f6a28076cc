//! `mcptest run`.

use super::load::{Loaded, Meanwhile, load_while};
use super::{BAD_INPUT, FAILED, NO_TESTS, OK, RunArgs, SuiteArgs, Talk};
use super::{outputs, screen};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::collector::Collector;
use crate::event::redact::Redactor;
use crate::mcp::cassette::{Cassette, Deck, Redact, Reel, Tape};
use crate::mcp::transport::http::endpoint::shown_url;
use crate::plan::Plan;
use crate::reporter;
use crate::run::{self, Early, Options};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn run(mut args: RunArgs, talk: &Talk) -> u8 {
    // A cassette of one server needs nobody to say which; what is wrong with it is told once the suites are known.
    let played = args.replay.as_ref().and_then(|path| Cassette::load(path).ok());
    args.suites.startup = args.startup_timeout;
    args.suites.played = args.replay.is_some();
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
    let replaced = outputs::check(&args, &loaded);
    if replaced.has_errors() {
        screen::tell_problems(&replaced, talk);
        return BAD_INPUT;
    }
    let nothing = if args.pass_with_no_tests { OK } else { NO_TESTS };
    if loaded.plan.tests == 0 {
        loaded.tell_nothing(if args.pass_with_no_tests { "note" } else { "error" });
        // The reports say so too; a cassette that is there stays as it is.
        (args.record, args.replay) = (None, None);
    }
    let again = again(&args, &loaded.redactor());
    let options = reporter::Options {
        again: &again,
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
            screen::tell_problems(&Diagnostics::from(vec![*problem]), talk);
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
        nothing,
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

/// What has to be said beside the files to run them again as they were run.
fn again(args: &RunArgs, redactor: &Redactor) -> Vec<String> {
    let SuiteArgs { config, env_file, var, lenient, url, command, extensions, .. } = &args.suites;
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    let milliseconds = |time: &Duration| format!("{}ms", time.as_millis());
    let mut words = Vec::new();
    let mut say = |option: &str, values: Vec<String>| {
        values.into_iter().for_each(|value| words.extend([option.to_owned(), redactor.text(&value).into_owned()]));
    };
    say("--config", config.iter().map(path).collect());
    say("--url", url.iter().map(|url| shown_url(url)).collect());
    say("--env-file", env_file.iter().map(path).collect());
    say("--var", var.clone());
    say("--startup-timeout", args.startup_timeout.iter().map(milliseconds).collect());
    say("--timeout", args.timeout.iter().map(milliseconds).collect());
    say("--matcher", extensions.matcher.clone());
    say("--plugin", extensions.plugin.clone());
    say("--transform", extensions.transform.clone());
    say("--allow", extensions.allow.clone());
    words.extend(lenient.then(|| "--lenient".to_owned()));
    if !command.is_empty() {
        words.push("--".to_owned());
        words.extend(command.iter().map(|word| redactor.text(word).into_owned()));
    }
    words
}
