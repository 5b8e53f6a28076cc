//! Which extensions hold where: those of the config and the command line for the run, those of `imports` for their file.

use super::declared::PLUGIN_TIMEOUT;
use super::library::Library;
use super::{Backend, Declared, Launch, Live, Registry, Role, spec};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use crate::suite::{Command, Import, Imports, Program};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The extensions of a run, and which of them hold where.
#[derive(Debug, Default)]
pub struct Reach {
    registry: Registry,
    base: PathBuf,
    /// The matchers and the transforms that the command line names, and its plugins.
    named: [Vec<String>; 2],
    plugins: Vec<Option<Arc<Live>>>,
    matchers: Library,
    transforms: Option<Vec<Option<Arc<Live>>>>,
}

/// What the command line names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Named<'a> {
    /// `--matcher`.
    pub matchers: &'a [String],
    /// `--plugin`.
    pub plugins: &'a [String],
    /// `--transform`.
    pub transforms: &'a [String],
}

impl Reach {
    /// Begins to load what holds for the run: the config's extensions, and what the command line names, relative to
    /// `base`.
    pub fn begin(mut registry: Registry, Named { matchers, plugins, transforms }: Named<'_>, base: &Path) -> Reach {
        let plugins = plugins.iter().map(|file| registry.declare(plugin(file, base))).collect();
        registry.begin_configured();
        matchers.iter().chain(transforms).for_each(|file| registry.begin_named(file, base, None));
        let named = [matchers.to_vec(), transforms.to_vec()];
        Reach { registry, base: base.to_owned(), named, plugins, ..Reach::default() }
    }

    /// Begins to load what a file imports.
    pub fn begin_imports(&mut self, source: &Arc<Source>, imports: &[Import]) {
        for import in imports {
            self.registry.begin_named(&import.reference, &folder(source), Some((source.clone(), import.span)));
        }
    }

    /// Begins to load what writes a report.
    pub fn begin_reporter(&mut self, file: &str, base: &Path) {
        self.registry.begin_named(file, base, None);
    }

    /// Whether something that has begun has to be compiled, which takes a while.
    pub fn compiles(&mut self) -> bool {
        self.registry.compiles()
    }

    /// Waits for what holds for the run.
    pub fn settle(&mut self, diagnostics: &mut Diagnostics) {
        let mut all = self.registry.configured();
        all.append(&mut self.plugins);
        let (registry, base) = (&mut self.registry, &self.base);
        all.extend(self.named[0].iter().map(|file| registry.named(file, base, None, Role::Matcher)));
        for live in all {
            add(&mut self.matchers, live, None, diagnostics);
        }
        self.settle_transforms();
    }

    fn settle_transforms(&mut self) -> &[Option<Arc<Live>>] {
        let (registry, base, named) = (&mut self.registry, &self.base, &self.named[1]);
        self.transforms
            .get_or_insert_with(|| named.iter().map(|file| registry.named(file, base, None, Role::Transform)).collect())
    }

    /// The matchers of a file: the run's, and its own.
    pub fn library(&mut self, source: &Arc<Source>, imports: &Imports, diagnostics: &mut Diagnostics) -> Arc<Library> {
        let mut library = self.matchers.clone();
        for program in &imports.programs {
            let place = (source.clone(), program.span);
            let live = self.registry.unnamed(imported(program, &folder(source), place.clone()));
            add(&mut library, live, Some(place), diagnostics);
        }
        for import in &imports.matchers {
            let place = Some((source.clone(), import.span));
            let live = self.registry.named(&import.reference, &folder(source), place.clone(), Role::Matcher);
            add(&mut library, live, place, diagnostics);
        }
        Arc::new(library)
    }

    /// The transforms of a file in the order they are applied: its own, then the run's. `None` stands for one that could
    /// not be loaded.
    pub fn transforms(&mut self, source: &Arc<Source>, imports: &[Import]) -> Vec<Option<Arc<Live>>> {
        let mut transforms: Vec<Option<Arc<Live>>> = Vec::new();
        for import in imports {
            let place = Some((source.clone(), import.span));
            transforms.push(self.registry.named(&import.reference, &folder(source), place, Role::Transform));
        }
        transforms.extend_from_slice(self.settle_transforms());
        transforms
    }

    /// The extension that writes a report.
    pub fn reporter(&mut self, file: &str, base: &Path) -> Option<Arc<Live>> {
        self.registry.named(file, base, None, Role::Reporter)
    }

    /// What extensions are given and no report shows.
    pub fn secrets(&self) -> Vec<String> {
        self.registry.secrets()
    }

    /// Whether an extension can be named by this id.
    pub fn has(&self, id: &str) -> bool {
        self.registry.has(id)
    }

    /// Whether any transform holds for the run.
    pub fn transforms_all(&self) -> bool {
        !self.named[1].is_empty()
    }

    /// Every extension that was loaded.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Live>> {
        self.registry.all()
    }

    /// Ends what lives outside of this process; gives what is worth telling.
    pub fn close(&self) -> Vec<String> {
        self.registry.close()
    }

    /// Takes the problems of loading, and what is worth telling.
    pub fn finish(&mut self, diagnostics: &mut Diagnostics) -> Vec<String> {
        diagnostics.list.append(&mut self.registry.problems.list);
        let mut notices = std::mem::take(&mut self.registry.notices);
        notices.extend(self.registry.unused_grants());
        notices
    }
}

/// The plugin that `--plugin` names: a program, a `plugin.toml`, or the folder of one.
fn plugin(file: &str, base: &Path) -> Declared {
    let path = base.join(file);
    match spec::at(&path) {
        Some(manifest) => Declared::spec(manifest, file),
        None => Declared::program(path, file, base.to_owned()),
    }
}

/// An entry of `imports.subprocess_matchers`.
fn imported(program: &Program, folder: &Path, place: (Arc<Source>, Span)) -> Declared {
    let Program { matcher, command, method, timeout, .. } = program;
    let mut declared = match command {
        Command::File(file) => Declared::program(folder.join(file), file, folder.to_owned()),
        Command::Argv(argv) => {
            let launch = Launch { argv: argv.clone(), folder: folder.to_owned(), env: Vec::new() };
            let path = folder.join(argv.first().map_or("", String::as_str));
            let backend = Backend::Bare { launch, matcher: String::new(), method: String::new() };
            Declared { backend, timeout: PLUGIN_TIMEOUT, ..Declared::bare(path, argv.join(" ")) }
        }
    };
    if let Backend::Bare { matcher: its, method: answers, .. } = &mut declared.backend {
        if let Some(name) = matcher {
            *its = name.clone();
            *answers = name.clone();
            declared.id = Some(name.clone());
        }
        if let Some(method) = method {
            *answers = method.clone();
        }
    }
    declared.named_itself = true;
    declared.timeout = timeout.unwrap_or(declared.timeout);
    declared.place = Some(place);
    declared
}

fn folder(source: &Source) -> PathBuf {
    let folder = source.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

fn add(
    library: &mut Library,
    live: Option<Arc<Live>>,
    place: Option<(Arc<Source>, Span)>,
    diagnostics: &mut Diagnostics,
) {
    let Some(live) = live else { return library.miss() };
    for clash in library.add(&live) {
        let message =
            format!("extensions `{}` and `{}` both offer a matcher `{}`", clash.first, clash.second, clash.name);
        let problem = Diagnostic::error(message).hint("leave one of them out, or import each in a file of its own");
        diagnostics.push(match &place {
            Some((source, span)) => problem.at(source, *span),
            None => problem,
        });
    }
}
