//! `plugin.toml`: a plugin that says which runtimes it has; the host takes the first that it supports.
//!
//! ```toml
//! [plugin]
//! id = "near"
//! version = "1.0.0"
//! kind = "matcher"
//! runtime = ["in_process", "mcp_stdio"]
//! entry_point = "near.wasm"
//!
//! [plugin.mcp_stdio]
//! command = ["python3", "server.py"]
//! ```

use super::declared::{Backend, Declared, Launch, PLUGIN_TIMEOUT, Service, TIMEOUT};
use super::fault::{Code, Fault};
use super::naming::quoted;
use super::plugin::{self, words};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The name of the file.
pub const FILE: &str = "plugin.toml";
/// The runtimes there are.
pub const RUNTIMES: [&str; 4] = ["in_process", "subprocess", "mcp_stdio", "mcp_http"];
/// How long the handshake of an MCP server may take.
const STARTUP_SECONDS: u64 = 30;
/// How long a request over HTTP may take.
const HTTP_SECONDS: u64 = 60;
/// The longest time that can be given: a day.
const MOST_SECONDS: i64 = 24 * 60 * 60;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    plugin: Spec,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    id: String,
    version: String,
    kind: Words,
    runtime: Words,
    entry_point: Option<String>,
    tools: Option<Vec<String>>,
    subprocess: Option<Program>,
    mcp_stdio: Option<Program>,
    mcp_http: Option<Http>,
}

/// A word, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "it is a text or a list of texts")]
enum Words {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    command: Vec<String>,
    working_dir: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    startup_timeout_sec: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Http {
    url: String,
    auth_header: Option<String>,
    auth_secret_env: Option<String>,
    timeout_sec: Option<i64>,
    tls_ca_bundle: Option<String>,
    tls_verify: Option<bool>,
}

impl Words {
    fn list(&self) -> &[String] {
        match self {
            Words::One(word) => std::slice::from_ref(word),
            Words::Many(words) => words,
        }
    }
}

/// The manifest that a path names: the file itself, or the folder that holds it.
pub fn at(path: &Path) -> Option<PathBuf> {
    if path.extension().is_some_and(|end| end == "toml") {
        return Some(path.to_owned());
    }
    Some(path.join(FILE)).filter(|file| file.is_file())
}

/// Reads the manifest of a declared plugin, and takes the first runtime that it lists and the host has.
pub(super) fn read(declared: &Declared, is_ci: bool) -> Result<Declared, Fault> {
    let name: Arc<str> = declared.id.as_deref().unwrap_or(&declared.shown).into();
    let shown = match declared.path.ends_with(FILE) && !declared.shown.ends_with(".toml") {
        true => Path::new(&declared.shown).join(FILE).display().to_string(),
        false => declared.shown.clone(),
    };
    let text = std::fs::read_to_string(&declared.path)
        .map_err(|error| Fault::new(Code::LaunchFailed, &name, format!("`{shown}` cannot be read: {error}")))?;
    let bad =
        |why: String| Fault::new(Code::HandshakeFailed, &name, format!("the manifest `{shown}` has a mistake: {why}"));
    let Document { plugin: spec } =
        toml::from_str(&text).map_err(|error| bad(words::ours(error.to_string().trim())))?;
    let folder = declared.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let tools = spec.check().map_err(&bad)?;
    let mut backend = spec.backend(tools, &folder, is_ci).map_err(|problem| match problem {
        Problem::Mistake(why) => bad(why),
        Problem::Unsupported(why) => Fault::new(Code::RuntimeNotSupported, &name, format!("plugin `{name}` {why}"))
            .hint(format!("this mcptest has `{}`", RUNTIMES.join("`, `"))),
    })?;
    let path = match &backend {
        Backend::Component => folder.join(spec.entry_point.as_deref().unwrap_or_default()),
        _ => declared.path.clone(),
    };
    let usual = match &backend {
        Backend::Component => TIMEOUT,
        Backend::Service(service) => service.timeout,
        _ => PLUGIN_TIMEOUT,
    };
    let given = if let Backend::Spec(given) = declared.backend { given } else { None };
    let timeout = given.unwrap_or(usual);
    if let Backend::Service(service) = &mut backend {
        service.timeout = timeout;
    }
    Ok(Declared {
        named_itself: declared.id.is_none(),
        id: declared.id.clone().or(Some(spec.id)),
        version: spec.version,
        path,
        backend,
        timeout,
        ..declared.clone()
    })
}

enum Problem {
    Mistake(String),
    Unsupported(String),
}

impl Spec {
    /// The rules that hold for every runtime; gives the tools.
    fn check(&self) -> Result<Vec<String>, String> {
        for (field, value) in [("id", &self.id), ("version", &self.version)] {
            if value.is_empty() || value.trim() != value {
                return Err(format!("`{field}` is {}", quoted(value)));
            }
        }
        let mut tools = Vec::new();
        for kind in self.kind.list() {
            let usual: &[&str] = match kind.as_str() {
                "matcher" => &[self.id.as_str()],
                "reporter" => &[plugin::OBSERVE, plugin::FINISH],
                "transform" => &[plugin::TRANSFORM],
                other => {
                    return Err(format!("`kind` is {}; it is `matcher`, `reporter` or `transform`", quoted(other)));
                }
            };
            tools.extend(usual.iter().map(|tool| (*tool).to_owned()));
        }
        if self.kind.list().is_empty() || self.runtime.list().is_empty() {
            return Err("`kind` and `runtime` name at least one each".to_owned());
        }
        for (key, words) in [("kind", self.kind.list()), ("runtime", self.runtime.list())] {
            if let Some(word) =
                words.iter().enumerate().find_map(|(at, word)| words[..at].contains(word).then_some(word))
            {
                return Err(format!("`{key}` has {} twice", quoted(word)));
            }
        }
        match &self.tools {
            Some(tools) => self.chosen(tools),
            None => named(&tools).map(|()| tools),
        }
    }

    /// The tools that are written: each once, and of a kind that is written too.
    fn chosen(&self, tools: &[String]) -> Result<Vec<String>, String> {
        named(tools)?;
        for (at, tool) in tools.iter().enumerate() {
            if tools[..at].contains(tool) {
                return Err(format!("`tools` has {} twice", quoted(tool)));
            }
            let kind = kind_of(tool);
            if !self.kind.list().iter().any(|written| written == kind) {
                return Err(format!("{} is a tool of a {kind}, which `kind` does not say", quoted(tool)));
            }
        }
        match self.kind.list().iter().find(|kind| !tools.iter().any(|tool| kind_of(tool) == *kind)) {
            Some(kind) => Err(format!("`kind` says {kind}, and `tools` has none of one")),
            None => Ok(tools.to_vec()),
        }
    }

    /// Whether the host can run it on this: in its own process it runs components, and no modules of a language.
    fn is_supported(&self, runtime: &str) -> bool {
        match runtime {
            "in_process" => self.entry_point.as_ref().is_some_and(|file| file.ends_with(".wasm")),
            other => RUNTIMES.contains(&other),
        }
    }

    /// Why none of its runtimes can be taken.
    fn unsupported(&self) -> Problem {
        let listed = self.runtime.list();
        match &self.entry_point {
            None if listed.iter().any(|runtime| runtime == "in_process") => {
                Problem::Mistake("`runtime = \"in_process\"` needs `entry_point`".to_owned())
            }
            Some(file) if listed.iter().any(|runtime| runtime == "in_process") => Problem::Unsupported(format!(
                "runs on `{}` with the `entry_point` {}, which is no `.wasm` file",
                listed.join("`, `"),
                quoted(file)
            )),
            _ => Problem::Unsupported(format!("runs on `{}`", listed.join("`, `"))),
        }
    }

    fn backend(&self, tools: Vec<String>, folder: &Path, is_ci: bool) -> Result<Backend, Problem> {
        let Some(runtime) = self.runtime.list().iter().find(|runtime| self.is_supported(runtime)) else {
            return Err(self.unsupported());
        };
        let missing = |what: &str| Problem::Mistake(format!("`runtime = \"{runtime}\"` needs `{what}`"));
        match runtime.as_str() {
            "in_process" => Ok(Backend::Component),
            "subprocess" => {
                let program = self.subprocess.as_ref().ok_or_else(|| missing("[plugin.subprocess]"))?;
                if program.startup_timeout_sec.is_some() {
                    let why =
                        "`startup_timeout_sec` is of `[plugin.mcp_stdio]`; a subprocess has the `timeout` of a call";
                    return Err(Problem::Mistake(why.to_owned()));
                }
                Ok(Backend::Bound { launch: program.launch(folder)?, tools })
            }
            "mcp_stdio" => {
                let program = self.mcp_stdio.as_ref().ok_or_else(|| missing("[plugin.mcp_stdio]"))?;
                let startup = seconds("startup_timeout_sec", program.startup_timeout_sec, STARTUP_SECONDS);
                let startup = startup.map_err(Problem::Mistake)?;
                Ok(Backend::Server { launch: program.launch(folder)?, startup, tools })
            }
            _ => {
                let http = self.mcp_http.as_ref().ok_or_else(|| missing("[plugin.mcp_http]"))?;
                http.service(folder, is_ci, tools).map(Backend::Service).map_err(Problem::Mistake)
            }
        }
    }
}

/// Whether all of them can be tools.
fn named(tools: &[String]) -> Result<(), String> {
    match tools.iter().find(|tool| !plugin::is_tool(tool)) {
        Some(tool) => Err(format!("{} is no tool; one is the name of a matcher, {}", quoted(tool), plugin::HOOKS)),
        None => Ok(()),
    }
}

/// The kind of plugin that has this tool.
fn kind_of(tool: &str) -> &'static str {
    match tool {
        plugin::OBSERVE | plugin::FINISH => "reporter",
        plugin::TRANSFORM => "transform",
        _ => "matcher",
    }
}

/// A time that a manifest gives, in whole seconds.
fn seconds(key: &str, given: Option<i64>, usual: u64) -> Result<Duration, String> {
    match given {
        None => Ok(Duration::from_secs(usual)),
        Some(1..=MOST_SECONDS) => Ok(Duration::from_secs(given.unwrap_or_default().unsigned_abs())),
        Some(other) => Err(format!("`{key}` is {other}; it is a number of seconds from 1 to {MOST_SECONDS}")),
    }
}

impl Program {
    fn launch(&self, folder: &Path) -> Result<Launch, Problem> {
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(Problem::Mistake("`command` is empty".to_owned()));
        }
        let env = self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let folder = self.working_dir.as_ref().map_or_else(|| folder.to_owned(), |dir| folder.join(dir));
        Ok(Launch { argv: self.command.clone(), folder, env })
    }
}

impl Http {
    fn service(&self, folder: &Path, is_ci: bool, tools: Vec<String>) -> Result<Service, String> {
        let url = &self.url;
        if url.ends_with('/') {
            return Err(format!("`url` is `{url}`, with a slash at its end"));
        }
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("`url` is {}, and begins with neither `http://` nor `https://`", quoted(url)));
        }
        let verify = self.tls_verify.unwrap_or(true);
        if !verify && is_ci {
            return Err("`tls_verify = false` is refused where `CI=true`".to_owned());
        }
        if self.auth_header.is_some() != self.auth_secret_env.is_some() {
            return Err("`auth_header` and `auth_secret_env` stand together".to_owned());
        }
        Ok(Service {
            url: url.clone(),
            header: self.auth_header.clone().zip(self.auth_secret_env.clone()),
            timeout: seconds("timeout_sec", self.timeout_sec, HTTP_SECONDS)?,
            ca_bundle: self.tls_ca_bundle.as_ref().map(|file| folder.join(file)),
            verify,
            tools,
        })
    }
}

#[cfg(test)]
mod tests;
