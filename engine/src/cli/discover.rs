//! `mcptest discover`: a first suite from what a server says and does.

use super::client::{SAMPLED, Seen, ServerArgs, converse};
use super::{BAD_INPUT, FAILED, OK, Talk, screen};
use crate::discover::survey::{self, REVIEW};
use crate::discover::{Call, Item, Kind, Survey, Tried, write};
use crate::mcp::connection::Witness;
use crate::reporter::text::count;
use crate::source::Json;
use crate::suite::environment::Environment;
use crate::suite::parse;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// What lies at least between an answer and its repetition.
const SECOND: Duration = Duration::from_millis(1100);

#[derive(Debug, Args)]
pub(super) struct DiscoverArgs {
    /// The file to write; - for stdout [default: the server's name, .test.mcp.yml]
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
    /// Expect what the server answers now, as far as it answers the same twice
    #[arg(long)]
    capture: bool,
    /// Which tools are called to see what they answer; the others are written as skipped
    #[arg(long, value_enum, default_value_t = Which::ReadOnly, value_name = "WHICH")]
    call: Which,
    /// Answer what the server asks: forms with their defaults, no roots, a text for sampling
    #[arg(long)]
    answer: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Those that say that they change nothing
    ReadOnly,
    /// Every one
    All,
    /// None
    None,
}

pub(super) fn discover(args: &DiscoverArgs, talk: &Talk) -> u8 {
    let chosen = match args.server.choose(talk) {
        Ok(chosen) => chosen,
        Err(code) => return code,
    };
    if let Some(file) = args.output.as_deref().filter(|file| taken(file, args.force)) {
        return refuse(file);
    }
    let seen = Seen::new(talk.verbose, args.answer, chosen.redactor);
    let (server, written) = (chosen.server, chosen.written);
    let environment = Environment::of_process();
    converse(&server, seen, args.server.timeout, async |conversation| {
        let call = match args.call {
            Which::ReadOnly => Call::ReadOnly,
            Which::All => Call::All,
            Which::None => Call::None,
        };
        let options = conversation.survey_options(call);
        let introduction = conversation.introduction.clone();
        let begun = Instant::now();
        let (connection, seen) = (&mut conversation.connection, &mut conversation.seen);
        let mut survey = survey::survey(connection, introduction, &options, seen).await?;
        if args.capture {
            // Times of day are mostly told to the second.
            tokio::time::sleep(SECOND.saturating_sub(begun.elapsed())).await;
            conversation.open_again(&server).await?;
            let options = conversation.survey_options(call);
            survey::again(&mut conversation.connection, &mut survey, &options, &mut conversation.seen).await;
        }
        let file = args.output.clone().unwrap_or_else(|| file_name(&survey, &server.name));
        if taken(&file, args.force) {
            return Ok(refuse(&file));
        }
        survey.unlisted.iter().for_each(|(_, why)| conversation.seen.note(why.clone()));
        let command = args.server.run_command(&file, written.as_ref());
        let frame = write::Frame {
            command: &command,
            server: written.clone(),
            respond: args.answer.then(|| json!({"sampling": SAMPLED, "elicitation": "accept", "roots": {"roots": []}})),
            capture: args.capture,
            redactor: &conversation.seen.redactor,
            environment: &environment,
        };
        let text = write::suite(&survey, &frame);
        let code = put(&file, &text, args.force);
        if code == OK && file != "-" && !talk.quiet {
            screen::tell(&summary(&file, &survey));
            screen::tell(&args.server.unwritten(written.as_ref()));
            screen::tell(&format!("next: {command}\n"));
        }
        Ok(code)
    })
}

/// Whether a file is there that must not be written over.
fn taken(file: &str, force: bool) -> bool {
    file != "-" && !force && Path::new(file).exists()
}

fn refuse(file: &str) -> u8 {
    screen::tell(&format!(
        "error: `{file}` is there already\nhint: choose another name with `--output FILE`, or write over it with `--force`\n"
    ));
    BAD_INPUT
}

/// Writes the suite.
fn put(file: &str, text: &str, force: bool) -> u8 {
    let problems = parse::parse_text(text);
    if problems.has_errors() {
        screen::tell(&problems.render(false));
        screen::tell("error: the suite that was written is not valid: this is a bug in mcptest, please report it\n");
        return FAILED;
    }
    if file == "-" {
        return screen::print_data(text);
    }
    // Not even a file that appeared meanwhile is written over.
    let mut options = std::fs::OpenOptions::new();
    let options = if force { options.create(true).truncate(true) } else { options.create_new(true) };
    let written = options.write(true).open(file).and_then(|mut to| to.write_all(text.as_bytes()));
    if let Err(error) = written {
        screen::tell(&format!("error: `{file}` cannot be written: {error}\n"));
        return FAILED;
    }
    OK
}

/// What is in it.
fn summary(file: &str, survey: &Survey) -> String {
    let of = |kind: Kind, word: &str| {
        let found = survey.items.iter().filter(|item| item.kind == kind).count();
        (found > 0).then(|| count(found, word))
    };
    let kinds =
        [(Kind::Tool, "tool"), (Kind::Resource, "resource"), (Kind::Template, "template"), (Kind::Prompt, "prompt")];
    let found: Vec<String> = kinds.iter().filter_map(|(kind, word)| of(*kind, word)).collect();
    let found = if found.is_empty() { "nothing to test".to_owned() } else { found.join(", ") };
    let mut text = format!("wrote `{file}`: {found}\n");
    let review = |item: &&Item| matches!(&item.tried, Tried::Not(why) if why == REVIEW);
    let waiting = survey.items.iter().filter(review).count();
    if waiting > 0 {
        let (tools, are) = (count(waiting, "tool"), if waiting == 1 { "is" } else { "are" });
        text.push_str(&format!(
            "{tools} may change something and {are} skipped: look at `args`, then remove `skip` (or use `--call all`)\n"
        ));
    }
    text
}

/// A file's name from the server's.
fn file_name(survey: &Survey, fallback: &str) -> String {
    let name = survey.server_info.as_ref().and_then(|info| info.get("name")).and_then(Json::as_str);
    let name = name.unwrap_or(fallback);
    let name = name.rsplit('/').next().unwrap_or(name);
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().take(60).map(safe).collect();
    let name = name.trim_matches('-');
    format!("{}.test.mcp.yml", if name.is_empty() { "server" } else { name })
}
