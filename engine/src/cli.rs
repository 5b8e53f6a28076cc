//! The command line: one file per subcommand, and the only place that turns a problem into an exit code.

mod cache;
mod call;
mod check;
mod client;
mod completions;
mod conformance;
mod discover;
mod exec;
#[cfg(feature = "wasm")]
mod extension;
mod files;
mod list;
mod load;
mod outputs;
mod run;
mod schema;
mod screen;

use crate::child::{guard, kill_everything};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Everything passed.
const OK: u8 = 0;
/// A test failed or faulted.
const FAILED: u8 = 1;
/// Bad invocation, config or suite.
const BAD_INPUT: u8 = 2;
/// A server could not be started or initialised.
const SERVER: u8 = 3;
/// An extension could not be loaded.
const EXTENSION: u8 = 4;
/// No test was selected.
const NO_TESTS: u8 = 7;
/// A signal came.
const INTERRUPTED: u8 = 130;

const EXIT_CODES: &str = "\
Exit codes:
  0    all tests passed
  1    a test failed or faulted
  2    bad invocation, config or suite
  3    a server could not be started or initialised
  4    an extension could not be loaded
  7    no test was selected (0 with --pass-with-no-tests)
  130  interrupted";

/// Test MCP servers: suites in YAML, a verdict to trust, failures to fix from the report alone.
#[derive(Debug, Parser)]
#[command(name = "mcptest", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    talk: Talk,
}

/// How the output looks.
#[derive(Debug, Clone, Args)]
struct Talk {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
    /// Show only failures and the summary
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Show steps, sessions and the servers' logs too
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// When the output is a terminal and NO_COLOR is not set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run suites against their servers
    Run(Box<RunArgs>),
    /// Serve a test framework in another language over stdin and stdout
    Exec(Box<exec::ExecArgs>),
    /// Validate config and suites without starting a server
    Check(SuiteArgs),
    /// Print the tests that would run
    List {
        #[command(flatten)]
        suites: SuiteArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Send one request to a server and print the result as JSON
    Call(Box<call::CallArgs>),
    /// Write a first suite from what a server has: its tools, resources and prompts
    Discover(Box<discover::DiscoverArgs>),
    /// Print the JSON Schema of suites, configs, events or coprocess frames, for editors and tools
    Schema {
        /// Of what
        #[arg(value_enum)]
        what: schema::What,
    },
    /// Inspect, check, measure and build extensions
    #[cfg(feature = "wasm")]
    Extension {
        #[command(subcommand)]
        command: extension::ExtensionCommand,
    },
    /// Keep house in the cache folder: compiled extensions, results of calls
    Cache {
        #[command(subcommand)]
        command: CacheCommand,
    },
    /// Print the completion script for a shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Be the client that the official conformance suite judges: use everything that the server at URL has
    #[command(hide = true)]
    ConformanceClient {
        /// Where the server listens
        #[arg(value_name = "URL")]
        url: String,
    },
    /// Be an MCP server on stdin and stdout, to try mcptest with nothing else installed
    DemoServer {
        /// Be one over Streamable HTTP instead, on PORT of this machine (any that is free without it), and print the URL
        #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
        http: Option<u16>,
    },
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Remove all compiled extensions, and the results of calls that SDKs asked to keep
    Clean,
}

/// Which suites and tests, and what they see.
#[derive(Debug, Args)]
struct SuiteArgs {
    /// Suite files, folders or globs [default: **/*.test.mcp.yml]
    #[arg(value_name = "FILE|FOLDER|GLOB")]
    paths: Vec<String>,
    /// The config file [default: mcptest.yml, mcptest.yaml, mcptest.json, conductor.config.json or aegis.config.json]
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only tests whose name or id contains this text, or matches this /regex/ (repeatable: any)
    #[arg(long, short, value_name = "TEXT|/REGEX/")]
    filter: Vec<String>,
    /// Only tests with this tag (repeatable: any)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// No test with this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    skip_tag: Vec<String>,
    /// Run files, and the tests in them, in a random order
    #[arg(long)]
    shuffle: bool,
    /// The seed of the random order; the report shows the one that was used
    #[arg(long, value_name = "N", requires = "shuffle")]
    seed: Option<u64>,
    /// Define a variable: NAME=TEXT, or NAME:=JSON for a typed value (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    var: Vec<String>,
    /// Read environment variables from a file of NAME=value lines (repeatable)
    #[arg(long, value_name = "FILE")]
    env_file: Vec<PathBuf>,
    #[command(flatten)]
    extensions: ExtensionArgs,
    /// Turn unknown keys and names into warnings
    #[arg(long)]
    lenient: bool,
    /// The URL of a running server to test, instead of the config's
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The server to test, when no config names one
    #[arg(last = true, value_name = "SERVER COMMAND")]
    command: Vec<String>,
    /// The server that stands in where none is defined: the one that a cassette plays.
    #[arg(skip)]
    stand_in: Option<String>,
    /// The servers are played, so that nothing may be missing that only a start needs.
    #[arg(skip)]
    played: bool,
    /// `--startup-timeout`, where servers are started.
    #[arg(skip)]
    startup: Option<Duration>,
}

/// Which extensions, and what they may do.
#[derive(Debug, Clone, Args)]
struct ExtensionArgs {
    /// Use the matchers of an extension, by file or by its key in the config (repeatable)
    #[arg(long, value_name = "FILE.wasm|ID")]
    matcher: Vec<String>,
    /// Use a plugin: a program that is a matcher, called as its file without the ending (repeatable)
    #[arg(long, value_name = "PATH")]
    plugin: Vec<String>,
    /// Rewrite every suite with an extension (repeatable: in this order)
    #[arg(long, value_name = "FILE.wasm|ID")]
    transform: Vec<String>,
    /// Grant one thing to one extension: fs.read:DIR, fs.write:DIR, env:NAME, clock, random, net:HOST:PORT (repeatable)
    #[arg(long, value_name = "ID=GRANT")]
    allow: Vec<String>,
    /// Compile extensions anew, and keep nothing of it
    #[arg(long)]
    no_cache: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    suites: SuiteArgs,
    /// Run so many files at once, each against a server of its own
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Stop at the first failure
    #[arg(long, conflicts_with = "max_fail")]
    fail_fast: bool,
    /// Stop after N failures
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_fail: Option<u32>,
    /// How long a step may take when it does not say: 500ms, 30s, 2m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// How long a server may take to start when its definition does not say [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    startup_timeout: Option<Duration>,
    /// Exit with 0 when no test was selected
    #[arg(long)]
    pass_with_no_tests: bool,
    /// Report as human, json, ndjson or junit, or with an extension, to stdout or into a file (repeatable)
    #[arg(long, short, value_name = "NAME|FILE.wasm[=FILE]")]
    reporter: Vec<String>,
    /// The same as --reporter json
    #[arg(long)]
    json: bool,
    /// The same as --reporter junit=FILE
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
    /// Show every line that crosses the pipe
    #[arg(long)]
    show_frames: bool,
    /// Record the conversation with the servers into a cassette
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Play a cassette in the place of the servers
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

/// Runs the command line to its exit code.
pub fn main() -> ExitCode {
    if guard::is_called() {
        guard::watch();
        return ExitCode::from(OK);
    }
    let Cli { command, talk } = Cli::try_parse().unwrap_or_else(|error| misread(error).exit());
    guard::arm();
    let code = match command {
        Command::Run(args) => run::run(*args, &talk),
        Command::Exec(args) => exec::exec(*args, &talk),
        Command::Check(suites) => check::check(&suites, &talk),
        Command::List { suites, json } => list::list(&suites, json, &talk),
        Command::Call(args) => call::call(&args, &talk),
        Command::Discover(args) => discover::discover(&args, &talk),
        Command::Schema { what } => schema::schema(what),
        #[cfg(feature = "wasm")]
        Command::Extension { command } => extension::run(command, &talk),
        Command::Cache { command: CacheCommand::Clean } => cache::clean(),
        Command::Completions { shell } => completions::completions(shell),
        Command::ConformanceClient { url } => conformance::conformance_client(&url, &talk),
        Command::DemoServer { http } => match (crate::demo::main(http), http) {
            (Ok(()), _) => OK,
            (Err(error), Some(port)) => {
                screen::tell(&format!("error: cannot serve port {port}: {error}\n"));
                FAILED
            }
            (Err(_), None) => FAILED,
        },
    };
    // Whoever hid from the tree that it belongs to was not ended with it.
    kill_everything();
    guard::dismiss();
    ExitCode::from(code)
}

/// A suite where a command should stand is meant to be run.
fn misread(mut error: clap::Error) -> clap::Error {
    let named = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => return error,
    };
    if named.ends_with(".yml") || named.ends_with(".yaml") || Path::new(&named).exists() {
        let tip = format!("to run suites, write `mcptest run {named}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn duration(text: &str) -> Result<Duration, String> {
    match text.parse::<u32>() {
        Ok(milliseconds) => Ok(Duration::from_millis(milliseconds.into())),
        Err(_) => crate::source::quantity::duration(text).map_err(|why| format!("it {why}")),
    }
}
