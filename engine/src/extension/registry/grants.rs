//! Who gets what the config and the command line grant.

use super::{Registry, key};
use crate::extension::capability::Grant;
use crate::extension::declared::{Backend, Declared, Launch};
use crate::extension::fault::{Code, Fault};
use std::path::PathBuf;
use std::sync::Arc;

/// Who took a grant: a file, how it is started where arguments say what it is, and whether it chose its name itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taker {
    path: PathBuf,
    launch: Option<Launch>,
    is_chosen: bool,
}

impl Registry {
    /// Grants of the command line that no loaded extension took.
    pub fn unused_grants(&self) -> Vec<String> {
        let unused = self
            .options
            .allow
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.used_grants.iter().any(|(used, _)| used == at));
        unused.map(|(_, (id, grant))| format!("`--allow {id}={grant}`: no extension `{id}` was loaded")).collect()
    }

    /// What the config and the command line grant. A component, a `plugin.toml` and a suite's import choose their own id,
    /// so a grant goes by the key that the user gave, and where there is none, to one file only: nobody gets anything by
    /// taking another's name.
    pub(super) fn granted(&mut self, declared: &Declared, own_id: &str) -> Result<Vec<Grant>, Fault> {
        let id = declared.id.as_deref().unwrap_or(own_id);
        let is_chosen = declared.named_itself || (declared.id.is_none() && declared.backend == Backend::Component);
        let launch = declared.backend.launch().filter(|launch| launch.argv.len() > 1).cloned();
        let taker = Taker { path: key(declared).1, launch, is_chosen };
        let has_key = |other: &Declared| other.id.as_deref() == Some(id);
        let (mut granted, mut taken) = (declared.allow.clone(), Vec::new());
        for (at, (to, grant)) in self.options.allow.iter().enumerate() {
            if to != id || (is_chosen && self.options.declared.iter().any(has_key)) {
                continue;
            }
            let is_other = |other: &Taker| *other != taker && (is_chosen || other.is_chosen);
            if self.used_grants.iter().any(|(used, by)| *used == at && is_other(by)) {
                let name: Arc<str> = id.into();
                let message = format!("`{}` is called `{id}`, and so is another extension", declared.shown);
                let section = declared.section();
                return Err(Fault::new(Code::CapabilityNotAllowed, &name, message).hint(format!(
                    "`--allow {id}={grant}` belongs to one: give it a key of its own in the config's `{section}`"
                )));
            }
            granted.push(grant.clone());
            taken.push(at);
        }
        self.used_grants.extend(taken.into_iter().map(|at| (at, taker.clone())));
        Ok(granted)
    }
}
