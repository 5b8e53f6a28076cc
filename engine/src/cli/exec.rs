//! `mcptest exec --connection-server`: the coprocess of an SDK.

use super::load::{Loaded, Settings, load, load_settings};
use super::{BAD_INPUT, ExtensionArgs, FAILED, OK, SuiteArgs, Talk, screen};
use crate::cache;
use crate::config;
use crate::coprocess::{self, Direct, Options, Planned, Played};
use crate::diagnostic::Diagnostics;
use crate::extension::Reach;
use crate::run;
use crate::suite::server::Server;
use clap::Args;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    /// Speak the coprocess protocol, as SDKs do
    #[arg(long, required = true)]
    connection_server: bool,
    /// The server under test, split into words as a shell does, without a shell [default: that of the config]
    #[arg(long, value_name = "COMMAND")]
    server_command: Option<String>,
    /// The URL of the server under test, over Streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with = "server_command")]
    server_url: Option<String>,
    /// How long a call may take when nothing else says: 500ms, 30s, 2m
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    timeout: Option<Duration>,
    /// The config file [default: the one nearest to a suite, up to the working directory]
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
    let command = match args.server_command.as_deref().map(split).transpose() {
        Ok(command) => command.unwrap_or_default(),
        Err(why) => {
            screen::tell(&format!("error: `--server-command`: {why}\n"));
            return BAD_INPUT;
        }
    };
    let timeout = args.timeout;
    let quiet = talk.quiet;
    let (told, reaches) = (Cell::new(talk.quiet), RefCell::default());
    let given = Rc::new(Given { args, command, told, reaches });
    let served = coprocess::serve(Options {
        server: {
            let given = given.clone();
            Box::new(move |played| given.server(played))
        },
        planner: {
            let given = given.clone();
            Box::new(move |path, played| given.plan(path, played, quiet))
        },
        cache: cache::folder(&|name| std::env::var(name).ok()).map(|root| coprocess::calls_folder(&root)),
        timeout,
    });
    given.reaches.borrow().iter().for_each(|reach| Loaded::close(reach, talk));
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

/// What the command line gave.
struct Given {
    args: ExecArgs,
    command: Vec<String>,
    /// Whether the warnings of the config were told, or nobody wants them.
    told: Cell<bool>,
    /// What the plans use, until the end: a plugin is a process.
    reaches: RefCell<Vec<Reach>>,
}

impl Given {
    /// The server of direct calls: that of the command line, or the one that the config names.
    fn server(&self, played: Option<&Played>) -> Result<Direct, String> {
        let cwd = std::env::current_dir().map_err(|error| format!("there is no working directory: {error}"))?;
        let given = match &self.args.server_url {
            Some(url) => Some(Arc::new(Server::from_url(url, cwd))),
            None => (!self.command.is_empty()).then(|| Arc::new(Server::from_command(&self.command, cwd))),
        };
        if let Some(server) = given.clone().filter(|_| self.args.env_file.is_empty()) {
            return Ok(Direct { server, environment: Vec::new(), secrets: Vec::new() });
        }
        let settings = load_settings(&self.suites(Vec::new(), self.args.config.clone(), played));
        let settings = settings.map_err(|problems| problems.render(false).trim_end().to_owned())?;
        let Settings { config, added: environment, secrets, warnings } = settings;
        if !self.told.replace(true) {
            screen::tell(&warnings.render(false));
        }
        let sole = if let [sole] = config.servers.as_slice() { Some(sole) } else { None };
        let played = played.and_then(|played| played.server.as_ref());
        let stand_in = |name: &String| {
            let named = config.servers.iter().find(|server| **server.key() == **name).cloned();
            named.unwrap_or_else(|| Arc::new(Server::from_command(std::slice::from_ref(name), PathBuf::from("."))))
        };
        let defined = || config.server.as_ref().or(sole).cloned();
        let server = given.or_else(defined).or_else(|| played.map(stand_in));
        let none =
            "there is no server to call: pass `--server-command` or `--server-url`, or a config that names exactly one";
        server.map(|server| Direct { server, environment, secrets }).ok_or_else(|| none.to_owned())
    }

    /// Reads config and suites of a path, as `mcptest run` does.
    fn plan(&self, path: &str, played: Option<&Played>, quiet: bool) -> Result<Planned, Diagnostics> {
        let config = self.args.config.clone().or_else(|| nearest_config(Path::new(path)));
        let loaded = load(&self.suites(vec![path.to_owned()], config, played), Vec::new());
        if loaded.diagnostics.has_errors() {
            loaded.reach.close();
            return Err(loaded.diagnostics);
        }
        let warnings = if quiet { String::new() } else { loaded.diagnostics.render(false) };
        let secrets = loaded.secrets();
        let options = run::Options {
            jobs: 1,
            max_fail: None,
            timeout: self.args.timeout,
            frames: false,
            logs: false,
            extensions: loaded.reach.all().cloned().collect(),
            environment: loaded.added,
            reel: None,
            nothing: 0,
        };
        self.reaches.borrow_mut().push(loaded.reach);
        Ok(Planned { plan: loaded.plan, secrets, options, warnings })
    }

    fn suites(&self, paths: Vec<String>, config: Option<PathBuf>, played: Option<&Played>) -> SuiteArgs {
        let ExecArgs { var, env_file, lenient, extensions, .. } = &self.args;
        SuiteArgs {
            paths,
            config,
            filter: Vec::new(),
            tag: Vec::new(),
            skip_tag: Vec::new(),
            shuffle: false,
            seed: None,
            var: var.clone(),
            env_file: env_file.clone(),
            extensions: extensions.clone(),
            lenient: *lenient,
            url: None,
            command: self.command.clone(),
            stand_in: played.and_then(|played| played.server.clone()),
            played: played.is_some(),
            startup: None,
        }
    }
}

/// The config nearest to a suite: beside it, or in a folder above it, up to the working directory. A suite that lies
/// elsewhere is looked for above all the same; the working directory comes last.
fn nearest_config(path: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let path = path.canonicalize().ok()?;
    let folder = if path.is_dir() { path.as_path() } else { path.parent()? };
    for folder in folder.ancestors() {
        if folder == here {
            break;
        }
        let found = config::file::NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file());
        if found.is_some() {
            return found;
        }
    }
    None
}
