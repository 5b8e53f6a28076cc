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
use std::path::Path;
use std::sync::Arc;

/// A program whose file cannot name a matcher: a command line where a file should be, a folder, or just the wrong name.
fn unnamed(name: &Arc<str>, declared: &Declared, matcher: &str) -> Fault {
    let shown = &declared.shown;
    let fault = |why: String| Fault::new(Code::LaunchFailed, name, format!("plugin `{shown}`: {why}"));
    match shown.split_once(' ') {
        Some((program, rest)) if !declared.path.exists() => {
            let file = rest.split(' ').next().unwrap_or_default();
            let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
            fault("there is no file of that name".to_owned())
                .hint(format!("a file is named, and no command line: make `{file}` executable, and name it alone"))
                .hint(format!(
                    "or, in a suite: `imports: {{ subprocess_matchers: {{ {stem}: {{ command: [{program}, {file}] }} }} }}`"
                ))
        }
        _ if declared.path.is_dir() => fault("it is a folder without a `plugin.toml`".to_owned())
            .hint("name the program itself, or describe it in a `plugin.toml`"),
        _ => fault(format!("{} cannot name a matcher", naming::quoted(matcher)))
            .hint("a name is a letter, then letters, digits, `-` and `_`: rename the file"),
    }
}

impl Registry {
    /// A plugin, which is started when it is called.
    pub(super) fn plugin(&mut self, declared: &Declared, notes: &mut Notes) -> Result<Live, Fault> {
        let name: Arc<str> = declared.id.clone().unwrap_or_else(|| declared.shown.clone()).into();
        let granted = self.granted(declared, &name)?;
        let plugin = match &declared.backend {
            Backend::Component | Backend::Spec(_) => unreachable!("neither is a plugin"),
            Backend::Bare { matcher, .. } if !naming::is_plugin_matcher(matcher) => {
                return Err(unnamed(&name, declared, matcher));
            }
            Backend::Bare { .. } if declared.path.is_dir() => return Err(unnamed(&name, declared, "")),
            Backend::Bare { launch, matcher, method } => {
                // That is a fault of the call; but where nothing calls it, because its name is wrong too, nobody would say so.
                if launch.argv.first().is_some_and(|file| file.contains('/')) && !declared.path.exists() {
                    notes.notices.push(format!("plugin `{name}`: there is no file `{}`", declared.shown));
                }
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
            let secret = match self.options.environment.get(variable) {
                None => return Err(failed(format!("the environment variable `{variable}` is not set"))),
                Some("") => return Err(failed(format!("the environment variable `{variable}` is empty"))),
                Some(secret) => secret.to_owned(),
            };
            let is_bearer = header.eq_ignore_ascii_case("authorization");
            let value = if is_bearer { format!("Bearer {secret}") } else { secret.clone() };
            let (header, value) = parse_header(header, &value).map_err(|why| match parse_header(header, "") {
                Err(_) => failed(format!("`auth_header`: {why}")),
                Ok(_) => failed(format!("{why}; it is in the environment variable `{variable}`")),
            })?;
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
