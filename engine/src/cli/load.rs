//! From arguments to a plan: environment, config, suites, selection. Every problem of all of them in one go.

use super::{BAD_INPUT, EXTENSION, ExtensionArgs, SuiteArgs, Talk, files, screen};
use crate::config::{self, Config};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::redact::Redactor;
use crate::extension::library::Library;
use crate::extension::reach::Named;
use crate::extension::{Grant, Live, Reach, Registry, registry};
use crate::mcp::transport::http::endpoint::{parse_url, shown_url};
use crate::plan::select::{Filter, Pattern};
use crate::plan::{self, Inputs, Plan};
use crate::reporter::{self, visible::visible};
use crate::run::Watch;
use crate::source::{Json, Kind, Node, Span};
use crate::suite::environment::Environment;
use crate::suite::server::Server;
use crate::suite::{Setting, Suite};
use crate::transform::{self, Draft};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What the arguments came to.
pub(super) struct Loaded {
    pub(super) config: Config,
    pub(super) plan: Plan,
    pub(super) diagnostics: Diagnostics,
    /// What `--env-file` adds to what servers inherit.
    pub(super) added: Vec<(String, String)>,
    pub(super) environment: Environment,
    /// Paths and globs that no file matches.
    pub(super) missing: Vec<String>,
    pub(super) reach: Reach,
    /// What is to be reported, as `--reporter` takes it.
    pub(super) reporters: Vec<String>,
    /// The reporters among them that are extensions, by name.
    pub(super) reporting: HashMap<String, Arc<Live>>,
    notices: Vec<String>,
}

/// Loads everything.
pub(super) fn load(args: &SuiteArgs, reporters: Vec<String>) -> Loaded {
    load_while(args, reporters, None)
}

/// What can be done while extensions are compiled, with the plan as far as it is known, and what `--env-file` adds. Its
/// checks are of no use yet.
pub(super) type Meanwhile<'a> = &'a mut dyn FnMut(&Plan, &[(String, String)]);

/// Loads everything; `meanwhile` is called when extensions have to be compiled, and nothing is wrong so far.
pub(super) fn load_while(args: &SuiteArgs, reporters: Vec<String>, meanwhile: Option<Meanwhile<'_>>) -> Loaded {
    let mut diagnostics = Diagnostics::default();
    let process = Environment::of_process();
    let added = env_files(&args.env_file, &process, &mut diagnostics);
    let environment = process.or(added.iter().cloned());
    let working_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let (lenient, startup, played) = (args.lenient, args.startup, args.played);
    let mut setting = Setting { lenient, working_dir, startup, played, ..Setting::default() };
    setting.environment = environment.clone();
    let mut config = load_config(args, &setting, &mut diagnostics);
    config.broken = diagnostics.has_errors();
    setting.lenient |= config.lenient;
    let mut reach = extensions(args, &config, &setting, &mut diagnostics);
    let reporters = if reporters.is_empty() { config.reporters.clone() } else { reporters };
    let by_extension = extension_reporters(&reporters, &reach);
    by_extension.iter().for_each(|name| reach.begin_reporter(name, &setting.working_dir));
    let mut missing = Vec::new();
    let found = files::find(&args.paths, &mut diagnostics, &mut missing);
    if !found.is_empty() {
        let nothing = |path: &String| Diagnostic::warning(format!("no suite matches `{path}`"));
        missing.iter().for_each(|path| diagnostics.push(nothing(path)));
    }
    let mut problems = Diagnostics::default();
    let mut drafts = Vec::with_capacity(found.len());
    for path in found {
        match crate::source::load(&path, &path.to_string_lossy()) {
            Ok(source) => drafts.extend(transform::begin(&source, &setting, &mut reach, &mut problems)),
            Err(problem) => problems.push(problem),
        }
    }
    let filter = filter(args, &mut problems);
    let vars = vars(&args.var, &mut problems);
    // A config that cannot be read is one problem, not one more for every suite that misses its server.
    let from_command =
        |argv: &[String]| Arc::new(Server::from_command(argv, setting.working_dir.clone()).started_within(startup));
    let command = match &args.url {
        Some(url) => Some(Arc::new(from_url(url, &setting, &mut diagnostics))),
        None if !args.command.is_empty() || config.broken => Some(from_command(&args.command)),
        None if config.server.is_none() && config.servers.is_empty() => {
            args.stand_in.as_ref().map(|name| from_command(std::slice::from_ref(name)))
        }
        None => None,
    };
    let shuffle = args.shuffle.then(|| args.seed.unwrap_or_else(random_seed));
    let inputs = |suites| Inputs {
        config: &config,
        suites,
        command: command.clone(),
        vars: vars.clone(),
        environment: environment.clone(),
        filter: &filter,
        shuffle,
        lenient: setting.lenient,
    };
    if let Some(meanwhile) = meanwhile
        && !diagnostics.has_errors()
        && !problems.has_errors()
        && reach.compiles()
        && let Some(suites) = known_so_far(&drafts)
    {
        let mut problems = Diagnostics::default();
        let plan = plan::make(inputs(suites), &mut problems);
        if !problems.has_errors() && plan.tests > 0 {
            meanwhile(&plan, &added);
        }
    }
    reach.settle(&mut diagnostics);
    let reporting = by_extension
        .into_iter()
        .filter_map(|name| Some((name.clone(), reach.reporter(&name, &setting.working_dir)?)))
        .collect();
    diagnostics.list.append(&mut problems.list);
    let mut suites = Vec::with_capacity(drafts.len());
    // A transform may be a plugin, which a signal must not leave behind.
    let waiting = drafts.iter().any(|draft| matches!(draft, Draft::Waiting { .. }));
    let watch = waiting.then(Watch::for_the_end);
    for draft in drafts {
        if let Some(suite) = draft.finish(&setting, &mut reach, &mut diagnostics) {
            let library = reach.library(&suite.source, &suite.imports, &mut diagnostics);
            suites.push((suite, library));
        }
    }
    drop(watch);
    let plan = plan::make(inputs(suites), &mut diagnostics);
    let notices = reach.finish(&mut diagnostics);
    Loaded { config, plan, diagnostics, added, environment, missing, reach, notices, reporters, reporting }
}

/// The config alone, and what goes with it.
pub(super) struct Settings {
    pub(super) config: Config,
    /// What `--env-file` adds to what servers inherit.
    pub(super) added: Vec<(String, String)>,
    /// What the config calls secret.
    pub(super) secrets: Vec<String>,
    /// What is worth knowing.
    pub(super) warnings: Diagnostics,
}

/// Loads the config alone.
pub(super) fn load_settings(args: &SuiteArgs) -> Result<Settings, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let process = Environment::of_process();
    let added = env_files(&args.env_file, &process, &mut diagnostics);
    let environment = process.or(added.iter().cloned());
    let working_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let (lenient, played) = (args.lenient, args.played);
    let setting = Setting { lenient, working_dir, environment, played, ..Setting::default() };
    let config = load_config(args, &setting, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let secrets = config.secrets.iter().filter_map(|name| setting.environment.get(name).map(str::to_owned)).collect();
    Ok(Settings { config, added, secrets, warnings: diagnostics })
}

/// The suites without what extensions say; `None` when a transform has to say it first.
fn known_so_far(drafts: &[Draft]) -> Option<Vec<(Arc<Suite>, Arc<Library>)>> {
    let unknown = Arc::new(Library::unknown());
    let suite = |draft: &Draft| match draft {
        Draft::Suite(suite) => Some((suite.clone(), unknown.clone())),
        Draft::Waiting { .. } => None,
    };
    drafts.iter().map(suite).collect()
}

impl Loaded {
    /// Tells every problem and what else is worth knowing; gives the exit code when nothing can run.
    pub(super) fn tell(&self, talk: &Talk) -> Option<u8> {
        screen::tell_problems(&self.diagnostics, talk);
        for notice in self.notices.iter().filter(|_| !talk.quiet) {
            screen::tell(&format!("note: {}\n", visible(notice)));
        }
        let code = if self.diagnostics.is_by_extensions() { EXTENSION } else { BAD_INPUT };
        self.diagnostics.has_errors().then_some(code)
    }

    /// Tells that no test is selected, and why.
    pub(super) fn tell_nothing(&self, word: &str) {
        let hint = match self.missing.as_slice() {
            [] => "the filters leave nothing; `mcptest list` without them shows what there is".to_owned(),
            missing => format!("no file matches `{}`", missing.join("`, `")),
        };
        screen::tell(&format!("{word}: no test was selected\nhint: {hint}\n"));
    }

    /// Ends the plugins, and tells what is worth knowing about how they ended.
    pub(super) fn close(reach: &Reach, talk: &Talk) {
        let all: Vec<Arc<Live>> = reach.all().cloned().collect();
        let watch =
            (!all.is_empty()).then(|| Watch::begin(move || all.iter().for_each(|live| live.extension.interrupt())));
        for notice in reach.close().iter().filter(|_| !talk.quiet) {
            screen::tell(&format!("note: {}\n", visible(notice)));
        }
        drop(watch);
    }

    /// Hides what the config calls secret, and what servers got from the environment.
    pub(super) fn redactor(&self) -> Redactor {
        Redactor::new(self.secrets())
    }

    /// What the config calls secret, and what servers got from the environment.
    pub(super) fn secrets(&self) -> Vec<String> {
        let named = self.config.secrets.iter().filter_map(|name| self.environment.get(name).map(str::to_owned));
        let cases = self.plan.files.iter().flat_map(|file| &file.cases);
        let passed_on = cases.flat_map(|case| case.server.secrets.iter().cloned());
        let mut secrets: Vec<String> = named.chain(passed_on).chain(self.reach.secrets()).collect();
        secrets.sort();
        secrets.dedup();
        secrets
    }
}

/// The server that `--url` names.
pub(super) fn from_url(url: &str, setting: &Setting, diagnostics: &mut Diagnostics) -> Server {
    if let Err(why) = parse_url(url) {
        let problem = Diagnostic::error(format!("`--url {}`: {why}", shown_url(url)));
        diagnostics.push(problem.hint("for example `--url http://127.0.0.1:8080/mcp`"));
    }
    Server::from_url(url, setting.working_dir.clone()).started_within(setting.startup)
}

/// What holds for the run, on its way.
fn extensions(args: &SuiteArgs, config: &Config, setting: &Setting, diagnostics: &mut Diagnostics) -> Reach {
    let ExtensionArgs { matcher, plugin, transform, allow, no_cache } = &args.extensions;
    let mut granted = Vec::new();
    for text in allow {
        let grant = match text.split_once('=') {
            Some((id, grant)) if !id.is_empty() => Grant::parse(grant, &setting.working_dir).map(|grant| (id, grant)),
            _ => Err("it is not `ID=GRANT`".to_owned()),
        };
        match grant {
            Ok((id, grant)) => granted.push((id.to_owned(), grant)),
            Err(why) => diagnostics.push(Diagnostic::error(format!("`--allow {text}`: {why}"))),
        }
    }
    let registry = Registry::new(registry::Options {
        declared: config.extensions.clone(),
        allow: granted,
        cache: !no_cache,
        environment: setting.environment.clone(),
    });
    let named = Named { matchers: matcher, plugins: plugin, transforms: transform };
    Reach::begin(registry, named, &setting.working_dir)
}

/// The reporters that are extensions: files that end in `.wasm`, and ids of the config.
fn extension_reporters(specs: &[String], reach: &Reach) -> Vec<String> {
    let names = specs.iter().map(|spec| spec.split_once('=').map_or(spec.as_str(), |(name, _)| name));
    let is_extension = |name: &str, reach: &Reach| {
        !reporter::names().contains(&name) && (name.ends_with(".wasm") || name.ends_with(".toml") || reach.has(name))
    };
    names.filter(|name| is_extension(name, reach)).map(str::to_owned).collect()
}

fn load_config(args: &SuiteArgs, setting: &Setting, diagnostics: &mut Diagnostics) -> Config {
    let path = match &args.config {
        Some(path) => Some(path.clone()),
        None => config::file::discover(&setting.working_dir, diagnostics),
    };
    path.and_then(|path| config::file::load(&path, setting, diagnostics)).unwrap_or_default()
}

/// The variables of the env files that the process does not set itself.
fn env_files(paths: &[PathBuf], process: &Environment, diagnostics: &mut Diagnostics) -> Vec<(String, String)> {
    let mut added = Vec::new();
    for path in paths {
        let shown = path.to_string_lossy();
        match crate::source::load(path, &shown) {
            Err(problem) => diagnostics.push(problem),
            Ok(source) => match config::env_file::parse(&source.text) {
                Ok(variables) => added.extend(variables.into_iter().filter(|(name, _)| process.get(name).is_none())),
                Err((line, message)) => {
                    let start = source.text.lines().take(line - 1).map(|line| line.len() + 1).sum::<usize>();
                    let span = Span::new(start, start + source.line(line as u32).len());
                    diagnostics.push(Diagnostic::error(message).at(&source, span));
                }
            },
        }
    }
    added
}

fn filter(args: &SuiteArgs, diagnostics: &mut Diagnostics) -> Filter {
    let mut names = Vec::new();
    for text in &args.filter {
        match Pattern::parse(text) {
            Ok(pattern) => names.push(pattern),
            Err(error) => diagnostics.push(Diagnostic::error(format!("`--filter {text}` is not a regex: {error}"))),
        }
    }
    Filter { names, tags: args.tag.clone(), skip_tags: args.skip_tag.clone() }
}

fn vars(texts: &[String], diagnostics: &mut Diagnostics) -> Vec<(String, Node)> {
    let mut vars = Vec::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=') else {
            diagnostics.push(Diagnostic::error(format!("`--var {text}` is not `NAME=VALUE`")));
            continue;
        };
        let (name, kind) = match name.strip_suffix(':') {
            None => (name, Kind::String(value.to_owned())),
            Some(name) => match serde_json::from_str::<Json>(value) {
                Ok(value) => (name, Kind::Literal(value)),
                Err(error) => {
                    diagnostics.push(Diagnostic::error(format!("`--var {text}`: the value is not JSON: {error}")));
                    continue;
                }
            },
        };
        vars.retain(|(known, _)| known != name);
        vars.push((name.to_owned(), Node::new(kind, Span::default())));
    }
    vars
}

fn random_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(32)
}
