//! What the client needs to know of a server, with everything filled in.

use super::variables::fill_tmp;
use super::{Server, Tmp};
use crate::child::Spawn;
use crate::mcp::target::Target;
use crate::source::Json;
use std::sync::Arc;

impl Server {
    /// What a client needs to speak to one process of it; `environment` is added to what the process inherits.
    pub fn target(&self, tmp: &Tmp, capabilities: &Arc<Json>, environment: &[(String, String)]) -> Target {
        let fill = |text: &str| fill_tmp(text, tmp.text());
        let added = environment.iter().cloned();
        let command = Spawn {
            program: own_program(&fill(&self.command)),
            args: self.args.iter().map(|arg| fill(arg)).collect(),
            cwd: fill(&self.cwd.to_string_lossy()).into(),
            env: added.chain(self.env.iter().map(|(name, value)| (name.clone(), fill(value)))).collect(),
            inherit_env: true,
        };
        Target {
            startup_timeout: self.startup_timeout,
            ready_pattern: self.ready_pattern.clone(),
            shutdown_timeout: self.shutdown_timeout,
            protocol: self.protocol.clone(),
            capabilities: capabilities.clone(),
            barrier: self.barrier,
            max_line: self.max_line,
            ..Target::command(command)
        }
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
