//! From declared extensions to live ones; the one place that knows which backend is behind which.

mod grants;
mod plugins;

use super::capability::Grant;
use super::declared::Backend;
use super::fault::Fault;
use super::pending::Pending;
use super::wasm::{Component, Loader, Notes};
use super::{Declared, Extension, Role, spec};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::ExtensionUsed;
use crate::matcher;
use crate::source::{Source, Span};
use crate::suite::environment::Environment;
use grants::Taker;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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
    loader: Option<Arc<Loader>>,
    pending: Vec<Pending>,
    known: Vec<Known>,
    /// Grants of the command line that were taken, by their number.
    used_grants: Vec<(usize, Taker)>,
    /// What plugins are given and no report shows.
    secrets: Vec<String>,
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
    timeout: Duration,
    live: Option<Arc<Live>>,
}

impl Known {
    fn is(&self, declared: &Declared, id: Option<&str>, path: &Path) -> bool {
        self.path == path
            && self.id.as_deref() == id
            && self.backend == declared.backend
            && self.timeout == declared.timeout
    }
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
        let mut live = |declared: Declared| match declared.id.is_none() && self.is_taken(&declared) {
            true => None,
            false => self.live(declared),
        };
        declared.into_iter().map(&mut live).collect()
    }

    /// The extension that somebody names, by its key in the config or by its file.
    pub fn named(
        &mut self,
        reference: &str,
        base: &Path,
        place: Option<(Arc<Source>, Span)>,
        role: Role,
    ) -> Option<Arc<Live>> {
        let named = self.known.iter().filter_map(|known| known.live.as_ref()).find(|live| &*live.id == reference);
        let live = match named.cloned() {
            Some(live) => live,
            None => {
                let declared = self.meant(reference, base, place.clone());
                self.live(declared)?
            }
        };
        if !live.extension.manifest().is(role) {
            let roles: Vec<&str> = live.extension.manifest().roles.iter().map(|role| role.name()).collect();
            let problem = Diagnostic::error(format!("extension `{}` is no {}", live.id, role.name())).by_extension();
            self.problems.push(placed(problem, place).hint(format!("it is a {}", roles.join(" and a "))));
            return None;
        }
        Some(live)
    }

    fn meant(&self, reference: &str, base: &Path, place: Option<(Arc<Source>, Span)>) -> Declared {
        let path = base.join(reference);
        let is_meant =
            |declared: &&Declared| declared.id.as_deref() == Some(reference) || is_same_file(&declared.path, &path);
        match self.options.declared.iter().find(is_meant) {
            Some(declared) => declared.clone(),
            None => match spec::at(&path) {
                Some(file) => Declared { place, ..Declared::spec(file, reference) },
                None => Declared { place, ..Declared::bare(path, reference) },
            },
        }
    }

    /// An extension that somebody declares in place: known by its id from now on.
    pub fn declare(&mut self, declared: Declared) -> Option<Arc<Live>> {
        if self.is_taken(&declared) {
            return None;
        }
        let live = self.live(declared.clone())?;
        self.options.declared.push(declared);
        Some(live)
    }

    /// Whether another extension that was declared has its id, which is a problem then.
    fn is_taken(&mut self, declared: &Declared) -> bool {
        let Ok(Declared { id: Some(id), path, .. }) = self.resolve(declared.clone()) else { return false };
        let others = self.options.declared.iter().filter_map(|other| self.resolve(other.clone()).ok());
        let mut others = others.filter(|other| other.id.as_ref() == Some(&id) && !is_same_file(&other.path, &path));
        if others.next().is_none() {
            return false;
        }
        let problem = Diagnostic::error(format!("there are two extensions called `{id}`"));
        self.problems.push(placed(problem, declared.place.clone()).hint("rename one"));
        true
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

    /// Whether an extension was declared under this id.
    pub fn has(&self, id: &str) -> bool {
        let is = |known: &Known| known.live.as_ref().is_some_and(|live| &*live.id == id);
        self.options.declared.iter().any(|declared| declared.id.as_deref() == Some(id)) || self.known.iter().any(is)
    }

    /// What plugins are given and no report shows: secrets of services, and granted variables.
    pub fn secrets(&self) -> Vec<String> {
        let granted = self.all().flat_map(|live| &live.grants).filter_map(|grant| match grant {
            Grant::Env(name) => self.options.environment.get(name).map(str::to_owned),
            _ => None,
        });
        self.secrets.iter().cloned().chain(granted).collect()
    }

    /// Every extension that was loaded.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Live>> {
        self.known.iter().filter_map(|known| known.live.as_ref())
    }

    /// What a declared extension runs on: a `plugin.toml` is read.
    pub fn resolve(&self, declared: Declared) -> Result<Declared, Fault> {
        match declared.backend {
            Backend::Spec(_) => spec::read(&declared, self.options.environment.is_ci()),
            _ => Ok(declared),
        }
    }

    fn live(&mut self, declared: Declared) -> Option<Arc<Live>> {
        let place = declared.place.clone();
        let declared = match self.resolve(declared) {
            Ok(declared) => declared,
            Err(fault) => {
                self.problems.push(placed(diagnostic(&fault), place));
                return None;
            }
        };
        let (id, path) = key(&declared);
        if let Some(known) = self.known.iter().find(|known| known.is(&declared, id.as_deref(), &path)) {
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
        self.known.push(Known { id, path, backend: declared.backend, timeout: declared.timeout, live: live.clone() });
        live
    }

    /// Loads a component far enough to say what it is; nothing is granted.
    pub fn inspect(&mut self, declared: &Declared) -> Result<Component, Fault> {
        let mut notes = Notes::default();
        let component = self.loader(&mut notes).describe(declared, &mut notes);
        self.notices.append(&mut notes.notices);
        component
    }

    /// Begins to load extensions of the config on threads of their own; [`Registry::named`] and
    /// [`Registry::configured`] then wait for what has begun.
    pub fn begin_configured(&mut self) {
        self.options.declared.clone().into_iter().for_each(|declared| self.begin(declared));
    }

    /// Begins to load the extension that somebody names.
    pub fn begin_named(&mut self, reference: &str, base: &Path, place: Option<(Arc<Source>, Span)>) {
        let declared = self.meant(reference, base, place);
        self.begin(declared);
    }

    /// Whether something that has begun has to be compiled, which takes a while.
    pub fn compiles(&mut self) -> bool {
        self.pending.iter_mut().any(Pending::compiles)
    }

    fn begin(&mut self, declared: Declared) {
        if declared.backend != Backend::Component {
            return;
        }
        let (id, path) = key(&declared);
        let known = self.known.iter().any(|known| known.is(&declared, id.as_deref(), &path));
        if known || self.pending.iter().any(|pending| pending.path == path && pending.id == id) {
            return;
        }
        let mut notes = Notes::default();
        let loader = self.loader(&mut notes);
        self.notices.append(&mut notes.notices);
        self.pending.extend(Pending::begin(loader, declared, id, path));
    }

    fn load(&mut self, declared: &Declared, notes: &mut Notes) -> Result<Live, Fault> {
        if declared.backend != Backend::Component {
            return self.plugin(declared, notes);
        }
        let (id, path) = key(declared);
        let begun = self.pending.iter().position(|pending| pending.path == path && pending.id == id);
        let mut component = match begun.map(|at| self.pending.remove(at)) {
            Some(pending) => pending.finish(notes)?,
            None => self.loader(notes).describe(declared, notes)?,
        };
        let own_id = component.manifest().id.clone();
        let granted = self.granted(declared, &own_id)?;
        let environment = &self.options.environment;
        component.grant(&granted, &|name| environment.get(name).map(str::to_owned), notes)?;
        Ok(Live {
            id: component.name().clone(),
            grants: component.grants().to_vec(),
            shown: declared.shown.clone(),
            extension: Arc::new(component),
        })
    }

    /// What loads components, made when the first one is named.
    fn loader(&mut self, notes: &mut Notes) -> Arc<Loader> {
        let Options { cache, environment, .. } = &self.options;
        let make = || Arc::new(Loader::new(*cache, &|name| environment.get(name).map(str::to_owned), notes));
        self.loader.get_or_insert_with(make).clone()
    }
}

/// What tells one extension from another: the same file may stand under several keys, with other grants.
fn key(declared: &Declared) -> (Option<String>, PathBuf) {
    (declared.id.clone(), declared.path.canonicalize().unwrap_or_else(|_| declared.path.clone()))
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
