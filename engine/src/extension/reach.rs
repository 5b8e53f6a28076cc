//! Which extensions hold where: those of the config and the command line for the run, those of `imports` for their file.

use super::library::Library;
use super::{Live, Registry, Role};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use crate::suite::Import;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The extensions of a run, and which of them hold where.
#[derive(Debug, Default)]
pub struct Reach {
    registry: Registry,
    base: PathBuf,
    /// What the command line names.
    named: [Vec<String>; 2],
    matchers: Library,
    transforms: Option<Vec<Option<Arc<Live>>>>,
}

impl Reach {
    /// Begins to load what holds for the run: the config's extensions, and what the command line names, relative to
    /// `base`.
    pub fn begin(mut registry: Registry, matchers: &[String], transforms: &[String], base: &Path) -> Reach {
        registry.begin_configured();
        matchers.iter().chain(transforms).for_each(|file| registry.begin_named(file, base, None));
        let named = [matchers.to_vec(), transforms.to_vec()];
        Reach { registry, base: base.to_owned(), named, matchers: Library::default(), transforms: None }
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
    pub fn library(&mut self, source: &Arc<Source>, imports: &[Import], diagnostics: &mut Diagnostics) -> Arc<Library> {
        let mut library = self.matchers.clone();
        for import in imports {
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

    /// Whether any transform holds for the run.
    pub fn transforms_all(&self) -> bool {
        !self.named[1].is_empty()
    }

    /// Every extension that was loaded.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Live>> {
        self.registry.all()
    }

    /// Takes the problems of loading, and what is worth telling.
    pub fn finish(&mut self, diagnostics: &mut Diagnostics) -> Vec<String> {
        diagnostics.list.append(&mut self.registry.problems.list);
        let mut notices = std::mem::take(&mut self.registry.notices);
        notices.extend(self.registry.unused_grants());
        notices
    }
}

fn folder(source: &Source) -> PathBuf {
    source.path.parent().map(Path::to_owned).unwrap_or_default()
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
