//! From what was declared to a component that has described itself: which host it needs, and whether its code is there.

use super::cache::Cache;
use super::component::{Component, Notes};
use super::host::Host;
use crate::extension::Declared;
use crate::extension::fault::{Code, Fault};
use std::sync::{Arc, Mutex, PoisonError};

/// Loads components, several at once if need be.
#[derive(Debug)]
pub struct Loader {
    cache: Option<Cache>,
    hosts: Mutex<Vec<(Kind, Arc<Host>)>>,
}

/// What tells one host from another: a stack belongs to the engine, so each size has an engine of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    /// Whether guests may use the component model's own concurrency.
    concurrent: bool,
    stack: usize,
}

impl Loader {
    /// A loader that keeps compiled code between runs, when `cache` says so and there is a folder for it.
    pub fn new(cache: bool, variable: &dyn Fn(&str) -> Option<String>, notes: &mut Notes) -> Loader {
        let folder = cache.then(|| Cache::place(variable)).flatten();
        let cache = folder.and_then(|folder| match Cache::open(&folder) {
            Ok(cache) => Some(cache),
            Err(why) => {
                notes.notices.push(format!("compiled extensions are not kept: {why}"));
                None
            }
        });
        Loader { cache, hosts: Mutex::default() }
    }

    /// Loads what was declared and lets it describe itself; nothing is granted yet.
    pub fn describe(&self, declared: &Declared, notes: &mut Notes) -> Result<Component, Fault> {
        let plain = self.host(false, declared)?;
        // Compiled code that is there tells which kind of host it is for, without reading the component again.
        if let Some(cache) = &self.cache
            && let Some(digest) = cache.remembered(&declared.path)
            && !cache.has(&plain.engine, &digest)
        {
            let concurrent = self.host(true, declared)?;
            if cache.has(&concurrent.engine, &digest) {
                return Component::describe(&concurrent, declared, notes);
            }
        }
        match Component::describe(&plain, declared, notes) {
            Err(fault) if fault.code == Code::RuntimeNotSupported => {
                Component::describe(&self.host(true, declared)?, declared, notes)
            }
            described => described,
        }
    }

    /// The host of a component, made when the first one needs it.
    fn host(&self, concurrent: bool, declared: &Declared) -> Result<Arc<Host>, Fault> {
        let kind = Kind { concurrent, stack: declared.limits.stack };
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, host)) = hosts.iter().find(|(known, _)| *known == kind) {
            return Ok(host.clone());
        }
        let host = Host::new(kind.stack, self.cache.clone(), concurrent).map_err(|why| {
            let name: Arc<str> = declared.shown.clone().into();
            Fault::new(Code::RuntimeNotSupported, &name, format!("no WebAssembly can run here: {why}"))
        })?;
        hosts.push((kind, host.clone()));
        Ok(host)
    }
}
