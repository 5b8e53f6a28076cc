//! `mcptest exec --connection-server`: the coprocess of an SDK.

use super::{BAD_INPUT, ExtensionArgs, FAILED, OK, Talk, screen};
use crate::coprocess::{self, Options};
use crate::suite::server::Server;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    /// Speak the coprocess protocol, as SDKs do
    #[arg(long, required = true)]
    connection_server: bool,
    /// The server under test, split into words as a shell does, without a shell
    #[arg(long, value_name = "COMMAND")]
    server_command: Option<String>,
    /// How long a call may take when nothing else says: 500ms, 30s, 2m
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    timeout: Option<Duration>,
    /// The config file [default: the one nearest to a suite, or that of the working directory]
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
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
}

pub(super) fn exec(args: ExecArgs, talk: &Talk) -> u8 {
    let argv = match args.server_command.as_deref().map(split).transpose() {
        Ok(argv) => argv,
        Err(why) => {
            screen::tell(&format!("error: `--server-command`: {why}\n"));
            return BAD_INPUT;
        }
    };
    let _ = talk;
    let served = coprocess::serve(Options {
        server: Box::new(move || direct(argv.as_deref())),
        environment: Vec::new(),
        timeout: args.timeout,
    });
    match served {
        Ok(()) => OK,
        Err(error) => {
            screen::tell(&format!("error: the coprocess could not begin: {error}\n"));
            FAILED
        }
    }
}

/// The words of a command, as a POSIX shell splits them.
fn split(command: &str) -> Result<Vec<String>, String> {
    let words = shlex::split(command).ok_or("a quote or a backslash in it has no end")?;
    if words.is_empty() { Err("it is empty".into()) } else { Ok(words) }
}

/// The server of direct calls.
fn direct(argv: Option<&[String]>) -> Result<Arc<Server>, String> {
    let cwd = std::env::current_dir().map_err(|error| format!("there is no working directory: {error}"))?;
    let argv = argv.ok_or("there is no server to call: pass `--server-command`, or a config that names one")?;
    Ok(Arc::new(Server::from_command(argv, cwd)))
}
