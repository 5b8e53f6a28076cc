//! Declared plugins to live ones; nothing is started here.

use super::{Live, Registry};
use crate::extension::capability::Grant;
use crate::extension::declared::{Backend, Declared, Launch};
use crate::extension::fault::{Code, Fault};
use crate::extension::naming;
use crate::extension::plugin::Plugin;
use crate::extension::process::{self, Process, Speech};
use crate::extension::wasm::Notes;
use std::sync::Arc;

impl Registry {
    /// A plugin, which is started when it is called.
    pub(super) fn plugin(&mut self, declared: &Declared, notes: &mut Notes) -> Result<Live, Fault> {
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
        let env = self.seen(granted);
        Box::new(Process::new(name.clone(), launch.clone(), env, speech, declared.timeout))
    }

    /// What a plugin sees of the environment.
    fn seen(&self, granted: &[Grant]) -> Vec<(String, String)> {
        let variables = granted.iter().filter_map(|grant| match grant {
            Grant::Env(name) => Some(name.as_str()),
            _ => None,
        });
        let seen = process::ENVIRONMENT.into_iter().chain(variables);
        seen.filter_map(|name| Some((name.to_owned(), self.options.environment.get(name)?.to_owned()))).collect()
    }
}
