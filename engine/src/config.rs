//! Settings: what the config file says, resolved against the environment.

pub mod env_file;
mod extensions;
pub mod file;
#[cfg(test)]
mod golden;
mod plugins;

use crate::extension::Declared;
use crate::source::Source;
use crate::suite::server::Server;
use std::sync::Arc;

/// A config file, resolved.
#[derive(Debug, Default)]
pub struct Config {
    /// The file; `None` when everything comes from the command line.
    pub source: Option<Arc<Source>>,
    /// Unknown keys in suites are warnings: the config belongs to the Conductor family, or says so.
    pub lenient: bool,
    /// The server written at the top level.
    pub server: Option<Arc<Server>>,
    /// `servers`, by name.
    pub servers: Vec<Arc<Server>>,
    /// `secrets`: names of environment variables whose values are redacted.
    pub secrets: Vec<String>,
    /// `extensions` and `plugins`, in order.
    pub extensions: Vec<Declared>,
    /// `reporters`: as `--reporter` takes them.
    pub reporters: Vec<String>,
    /// Something is wrong with it, so that what it lacks says nothing about a suite.
    pub broken: bool,
}
