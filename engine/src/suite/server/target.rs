//! What the client needs to know of a server, with everything filled in.

use super::variables::fill_own;
use super::{Server, Tmp};
use crate::child::Spawn;
use crate::mcp::cassette::{Reel, Spool};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::target::Target;
use crate::mcp::transport::http::endpoint::{Endpoint, parse_header, parse_url, shown_url};
use crate::source::Json;
use std::sync::Arc;

/// What files end in that an interpreter is started with.
const SCRIPTS: [&str; 9] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".sh", ".rb", ".jar"];

impl Server {
    /// What a client needs to speak to one process of it; `environment` is added to what the process inherits.
    pub fn target(
        &self,
        tmp: &Tmp,
        capabilities: &Arc<Json>,
        environment: &[(String, String)],
    ) -> Result<Target, Fault> {
        let fill = |text: &str| fill_own(text, tmp.text(), &mut || tmp.port());
        let added = environment.iter().cloned();
        let command = (!self.command.is_empty() || self.remote.is_none()).then(|| Spawn {
            program: own_program(&fill(&self.command)),
            args: self.args.iter().map(|arg| fill(arg)).collect(),
            cwd: fill(&self.cwd.to_string_lossy()).into(),
            env: added.chain(self.env.iter().map(|(name, value)| (name.clone(), fill(value)))).collect(),
            inherit_env: true,
        });
        Ok(Target {
            command,
            endpoint: self.endpoint(&fill).map_err(|why| Fault::new(Code::StartFailed, why))?,
            startup_timeout: self.startup_timeout,
            ready_pattern: self.ready_pattern.clone(),
            shutdown: self.shutdown,
            protocol: self.protocol.clone(),
            capabilities: capabilities.clone(),
            barrier: self.barrier,
            max_line: self.max_line,
            spool: None,
        })
    }

    fn endpoint(&self, fill: &dyn Fn(&str) -> String) -> Result<Option<Endpoint>, String> {
        let Some(remote) = &self.remote else { return Ok(None) };
        let url = fill(&remote.url);
        let mut endpoint = Endpoint {
            auth: remote.auth.clone(),
            tls: remote.tls.clone(),
            flavour: remote.flavour,
            wait_for_ready: remote.wait_for_ready,
            ..Endpoint::new(parse_url(&url).map_err(|why| format!("`url` is `{}`: {why}", shown_url(&url)))?)
        };
        for (name, value) in &remote.headers {
            let (name, value) = parse_header(name, &fill(value))?;
            endpoint.headers.insert(name, value);
        }
        Ok(Some(endpoint))
    }

    /// That a script of the command line is not where the server runs, and what to do about it.
    pub fn missing_script(&self) -> Option<String> {
        let is_script = |word: &&String| !word.contains("${") && SCRIPTS.iter().any(|end| word.ends_with(end));
        let is_there = |word: &str| self.cwd.join(word).exists();
        let word = self.args.iter().filter(is_script).find(|word| !is_there(word))?;
        let exact = !self.cwd.to_string_lossy().contains("${");
        exact.then(|| {
            let cwd = self.cwd.display();
            format!("there is no `{word}` in `{cwd}`, where the server was started: `cwd` in its config says where")
        })
    }

    /// How it is reached, for messages.
    pub fn reached(&self) -> String {
        match &self.remote {
            Some(remote) if self.command.is_empty() => format!("it is reached at `{}`", remote.url),
            Some(remote) => format!("it was started with `{}` and is reached at `{}`", self.command_line(), remote.url),
            None => format!("it was started with `{}`", self.command_line()),
        }
    }

    /// Its own cassette, or else the one that is in use for all servers.
    pub fn spool(&self, tmp: &Tmp, reel: Option<&Reel>) -> Option<Spool> {
        let own = self.cassette.clone().map(Reel::Replay);
        let reel = own.or_else(|| reel.cloned())?;
        Some(Spool { reel, server: self.key().clone(), tmp: tmp.text().to_string() })
    }

    /// How it is started, as a shell would take it.
    pub fn command_line(&self) -> String {
        let quoted = |word: &String| {
            let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+${}".contains(c);
            if !word.is_empty() && word.chars().all(plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', "'\\''"))
            }
        };
        std::iter::once(&self.command).chain(&self.args).map(quoted).collect::<Vec<_>>().join(" ")
    }
}

/// `mcptest` as a server's command is this very program, wherever it is installed.
fn own_program(command: &str) -> String {
    if command != "mcptest" {
        return command.to_owned();
    }
    std::env::current_exe().map_or_else(|_| command.to_owned(), |path| path.to_string_lossy().into_owned())
}
