//! Declared plugins to live ones; nothing is started here.

use super::{Live, Registry};
use crate::child::Spawn;
use crate::extension::capability::Grant;
use crate::extension::declared::{Backend, Declared, Launch, Service};
use crate::extension::fault::{Code, Fault};
use crate::extension::mcp::{Server, Way};
use crate::extension::naming;
use crate::extension::plugin::Plugin;
use crate::extension::process::{self, Process, Speech};
use crate::extension::wasm::Notes;
use crate::mcp::transport::http::endpoint::{Endpoint, parse_header, parse_url};
use crate::mcp::transport::http::tls::Tls;
use std::sync::Arc;

impl Registry {
    /// A plugin, which is started when it is called.
    pub(super) fn plugin(&mut self, declared: &Declared, notes: &mut Notes) -> Result<Live, Fault> {
        let name: Arc<str> = declared.id.clone().unwrap_or_else(|| declared.shown.clone()).into();
        let granted = self.granted(declared, &name);
        let plugin = match &declared.backend {
            Backend::Component | Backend::Spec => unreachable!("neither is a plugin"),
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
                Plugin::new(name.clone(), declared.version.clone(), tools, wire)
            }
            Backend::Server { launch, startup, tools } => {
                let env = self.seen(&granted).into_iter().chain(launch.env.iter().cloned());
                let spawn = Spawn {
                    program: launch.argv.first().cloned().unwrap_or_default(),
                    args: launch.argv.get(1..).unwrap_or_default().to_vec(),
                    cwd: launch.folder.clone(),
                    env: env.collect(),
                    inherit_env: false,
                };
                let way = Way::Stdio { spawn, startup: *startup };
                let wire = Box::new(Server::new(name.clone(), way, declared.timeout));
                Plugin::new(name.clone(), declared.version.clone(), tools, wire)
            }
            Backend::Service(service) => {
                let endpoint = self.endpoint(&name, service)?;
                let wire = Box::new(Server::new(name.clone(), Way::Http(Box::new(endpoint)), declared.timeout));
                Plugin::new(name.clone(), declared.version.clone(), &service.tools, wire)
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

    /// Where a service is, with the secret that it wants to see.
    fn endpoint(&mut self, name: &Arc<str>, service: &Service) -> Result<Endpoint, Fault> {
        let failed = |why: String| Fault::new(Code::LaunchFailed, name, format!("plugin `{name}`: {why}"));
        let url = parse_url(&service.url).map_err(|why| failed(format!("`url`: {why}")))?;
        let mut endpoint = Endpoint::new(url);
        endpoint.tls = Tls { ca_bundle: service.ca_bundle.clone(), verify: service.verify };
        if let Some((header, variable)) = &service.header {
            let secret = self.options.environment.get(variable).map(str::to_owned);
            let secret = secret.ok_or_else(|| failed(format!("the environment variable `{variable}` is not set")))?;
            let is_bearer = header.eq_ignore_ascii_case("authorization");
            let value = if is_bearer { format!("Bearer {secret}") } else { secret.clone() };
            let (header, value) = parse_header(header, &value).map_err(failed)?;
            endpoint.headers.insert(header, value);
            self.secrets.push(secret);
        }
        Ok(endpoint)
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
