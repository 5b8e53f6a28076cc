//! From declared extensions to live ones; the one place that knows which backend is behind which.

use super::capability::Grant;
use super::declared::{Backend, Launch};
use super::fault::{Code, Fault};
use super::naming;
use super::plugin::Plugin;
use super::process::{self, Process, Speech};
use super::wasm::{Cache, Component, Host, Limits, Notes};
use super::{Declared, Extension, Role};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::ExtensionUsed;
use crate::matcher;
use crate::source::{Source, Span};
use crate::suite::environment::Environment;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the run says about its extensions.
#[derive(Debug, Default)]
pub struct Options {
    /// `extensions` of the config.
    pub declared: Vec<Declared>,
    /// `--allow ID=GRANT`.
    pub allow: Vec<(String, Grant)>,
    /// Whether compiled code is kept between runs.
    pub cache: bool,
    /// Where the cache and granted variables come from.
    pub environment: Environment,
}

/// The extensions of a run.
#[derive(Debug, Default)]
pub struct Registry {
    options: Options,
    /// Without the component model's own concurrency, and with it.
    hosts: [Option<Arc<Host>>; 2],
    known: Vec<Known>,
    used_grants: Vec<usize>,
    /// Extensions that could not be loaded.
    pub problems: Diagnostics,
    /// Worth telling, and no problem.
    pub notices: Vec<String>,
}

#[derive(Debug)]
struct Known {
    id: Option<String>,
    path: PathBuf,
    backend: Backend,
    live: Option<Arc<Live>>,
}

/// A live extension.
#[derive(Debug)]
pub struct Live {
    /// How reports and grants call it: its key in the config, or what it calls itself.
    pub id: Arc<str>,
    /// The extension.
    pub extension: Arc<dyn Extension>,
    /// What it may do beyond computing.
    pub grants: Vec<Grant>,
    /// Its file.
    pub shown: String,
}

impl Live {
    /// What the header of a run says about it.
    pub fn used(&self) -> ExtensionUsed {
        let manifest = self.extension.manifest();
        ExtensionUsed {
            id: self.id.clone(),
            version: manifest.version.clone(),
            file: self.shown.clone(),
            roles: manifest.roles.iter().map(|role| role.name()).collect(),
            matchers: manifest.matchers.iter().map(|info| format!("${}", info.name)).collect(),
            replaces: self.replaces(),
            grants: self.grants.iter().map(Grant::to_string).collect(),
        }
    }

    /// The built-in matchers that it replaces, with their `$`.
    pub fn replaces(&self) -> Vec<String> {
        let names = self.extension.manifest().matchers.iter().map(|info| &info.name);
        names.filter(|name| matcher::replaces_built_in(name)).map(|name| format!("${name}")).collect()
    }
}

impl Registry {
    /// A registry with nothing loaded yet.
    pub fn new(options: Options) -> Registry {
        Registry { options, ..Registry::default() }
    }

    /// Every extension of the config, alive; those that cannot be loaded are problems.
    pub fn configured(&mut self) -> Vec<Option<Arc<Live>>> {
        let declared = self.options.declared.clone();
        declared.into_iter().map(|declared| self.live(declared)).collect()
    }

    /// The extension that somebody names, by its key in the config or by its file.
    pub fn named(
        &mut self,
        reference: &str,
        base: &Path,
        place: Option<(Arc<Source>, Span)>,
        role: Role,
    ) -> Option<Arc<Live>> {
        let path = base.join(reference);
        let is_meant =
            |declared: &&Declared| declared.id.as_deref() == Some(reference) || is_same_file(&declared.path, &path);
        let declared = match self.options.declared.iter().find(is_meant) {
            Some(declared) => declared.clone(),
            None => Declared { place: place.clone(), ..Declared::bare(path, reference) },
        };
        let live = self.live(declared)?;
        if !live.extension.manifest().is(role) {
            let roles: Vec<&str> = live.extension.manifest().roles.iter().map(|role| role.name()).collect();
            let problem = Diagnostic::error(format!("extension `{}` is no {}", live.id, role.name())).by_extension();
            self.problems.push(placed(problem, place).hint(format!("it is a {}", roles.join(" and a "))));
            return None;
        }
        Some(live)
    }

    /// An extension that somebody declares in place: known by its id from now on.
    pub fn declare(&mut self, declared: Declared) -> Option<Arc<Live>> {
        self.options.declared.push(declared.clone());
        self.live(declared)
    }

    /// An extension that holds in one place, and cannot be named elsewhere.
    pub fn unnamed(&mut self, declared: Declared) -> Option<Arc<Live>> {
        self.live(declared)
    }

    /// Ends what lives outside of this process, all at once; gives what is worth telling.
    pub fn close(&self) -> Vec<String> {
        let all: Vec<&Arc<Live>> = self.all().collect();
        std::thread::scope(|scope| {
            let closing: Vec<_> = all.iter().map(|live| scope.spawn(|| live.extension.close())).collect();
            closing.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        })
    }

    /// Every extension that was loaded.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Live>> {
        self.known.iter().filter_map(|known| known.live.as_ref())
    }

    /// Grants of the command line that no loaded extension took.
    pub fn unused_grants(&self) -> Vec<String> {
        let unused = self.options.allow.iter().enumerate().filter(|(at, _)| !self.used_grants.contains(at));
        unused.map(|(_, (id, grant))| format!("`--allow {id}={grant}`: no extension `{id}` was loaded")).collect()
    }

    fn live(&mut self, declared: Declared) -> Option<Arc<Live>> {
        let path = declared.path.canonicalize().unwrap_or_else(|_| declared.path.clone());
        if let Some(known) = self
            .known
            .iter()
            .find(|known| known.path == path && known.id == declared.id && known.backend == declared.backend)
        {
            return known.live.clone();
        }
        let mut notes = Notes::default();
        let loaded = self.load(&declared, &mut notes);
        self.notices.append(&mut notes.notices);
        let live = match loaded {
            Ok(live) => Some(Arc::new(live)),
            Err(fault) => {
                self.problems.push(placed(diagnostic(&fault), declared.place.clone()));
                None
            }
        };
        self.known.push(Known { id: declared.id, path, backend: declared.backend, live: live.clone() });
        live
    }

    /// Loads a component far enough to say what it is; nothing is granted.
    pub fn inspect(&mut self, declared: &Declared) -> Result<Component, Fault> {
        let mut notes = Notes::default();
        let component = self.describe(declared, &mut notes);
        self.notices.append(&mut notes.notices);
        component
    }

    fn describe(&mut self, declared: &Declared, notes: &mut Notes) -> Result<Component, Fault> {
        let plain = self.host(false, declared, notes)?;
        match Component::describe(&plain, declared, notes) {
            Err(fault) if fault.code == Code::RuntimeNotSupported => {
                Component::describe(&self.host(true, declared, notes)?, declared, notes)
            }
            described => described,
        }
    }

    fn load(&mut self, declared: &Declared, notes: &mut Notes) -> Result<Live, Fault> {
        if declared.backend != Backend::Component {
            return self.plugin(declared, notes);
        }
        let mut component = self.describe(declared, notes)?;
        let own_id = component.manifest().id.clone();
        let granted = self.granted(declared, &own_id);
        let Options { environment, .. } = &self.options;
        component.grant(&granted, &|name| environment.get(name).map(str::to_owned), notes)?;
        Ok(Live {
            id: component.name().clone(),
            grants: component.grants().to_vec(),
            shown: declared.shown.clone(),
            extension: Arc::new(component),
        })
    }

    /// What the config and the command line grant.
    fn granted(&mut self, declared: &Declared, own_id: &str) -> Vec<Grant> {
        let mut granted = declared.allow.clone();
        for (at, (id, grant)) in self.options.allow.iter().enumerate() {
            if declared.id.as_ref() == Some(id) || own_id == id {
                granted.push(grant.clone());
                self.used_grants.push(at);
            }
        }
        granted
    }

    /// A plugin, which is started when it is called.
    fn plugin(&mut self, declared: &Declared, notes: &mut Notes) -> Result<Live, Fault> {
        let name: Arc<str> = declared.id.clone().unwrap_or_else(|| declared.shown.clone()).into();
        let granted = self.granted(declared, &name);
        let plugin = match &declared.backend {
            Backend::Component => unreachable!("a component is no plugin"),
            Backend::Bare { matcher, .. } if !naming::is_plugin_matcher(matcher) => {
                let message = format!("plugin `{}`: {} cannot name a matcher", declared.shown, naming::quoted(matcher));
                return Err(Fault::new(Code::LaunchFailed, &name, message)
                    .hint("a name is a letter, then letters, digits, `-` and `_`: rename the file"));
            }
            Backend::Bare { launch, matcher, method } => {
                let mute = granted.iter().filter(|grant| !matches!(grant, Grant::Env(_)));
                notes.notices.extend(mute.map(|grant| {
                    format!("plugin `{name}` has no handshake, so that `{grant}` is neither told to it nor held")
                }));
                let wire = self.process(&name, declared, launch, &granted, Speech::Bare(method.clone()));
                Plugin::new(name.clone(), String::new(), std::slice::from_ref(matcher), wire)
            }
            Backend::Bound { launch, tools } => {
                let speech = Speech::Bound { tools: tools.clone(), granted: granted.clone() };
                let wire = self.process(&name, declared, launch, &granted, speech);
                Plugin::new(name.clone(), String::new(), tools, wire)
            }
        };
        Ok(Live { id: name, extension: Arc::new(plugin), grants: granted, shown: declared.shown.clone() })
    }

    fn process(
        &self,
        name: &Arc<str>,
        declared: &Declared,
        launch: &Launch,
        granted: &[Grant],
        speech: Speech,
    ) -> Box<Process> {
        let variables = granted.iter().filter_map(|grant| match grant {
            Grant::Env(name) => Some(name.as_str()),
            _ => None,
        });
        let seen = process::ENVIRONMENT.into_iter().chain(variables);
        let env = seen.filter_map(|name| Some((name.to_owned(), self.options.environment.get(name)?.to_owned())));
        Box::new(Process::new(name.clone(), launch.clone(), env.collect(), speech, declared.timeout))
    }

    /// The WASM host, made when the first component is loaded that needs it.
    fn host(&mut self, concurrent: bool, declared: &Declared, notes: &mut Notes) -> Result<Arc<Host>, Fault> {
        if let Some(host) = &self.hosts[usize::from(concurrent)] {
            return Ok(host.clone());
        }
        let Options { declared: all, cache, environment, .. } = &self.options;
        let stack = all.iter().map(|declared| declared.limits.stack).fold(Limits::STACK, usize::max);
        let variable = |name: &str| environment.get(name).map(str::to_owned);
        let cache = match cache.then(|| Cache::place(&variable)).flatten().map(|folder| Cache::open(&folder)) {
            Some(Ok(cache)) => Some(cache),
            Some(Err(why)) => {
                notes.notices.push(format!("compiled extensions are not kept: {why}"));
                None
            }
            None => None,
        };
        let host = Host::new(stack, cache, concurrent).map_err(|why| {
            let name: Arc<str> = declared.shown.clone().into();
            Fault::new(Code::RuntimeNotSupported, &name, format!("no WebAssembly can run here: {why}"))
        })?;
        self.hosts[usize::from(concurrent)] = Some(host.clone());
        Ok(host)
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// A fault before the run, as a problem with the next action.
fn diagnostic(fault: &Fault) -> Diagnostic {
    let problem = Diagnostic::error(format!("{} ({})", fault.message, fault.code.name())).by_extension();
    fault.all_hints().into_iter().fold(problem, Diagnostic::hint)
}

fn placed(problem: Diagnostic, place: Option<(Arc<Source>, Span)>) -> Diagnostic {
    match place {
        Some((source, span)) => problem.at(&source, span),
        None => problem,
    }
}
