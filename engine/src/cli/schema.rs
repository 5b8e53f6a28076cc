//! `mcptest schema`.

use super::screen;
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum What {
    /// A suite file
    Suite,
    /// A config file
    Config,
    /// An event of the `ndjson` reporter
    Event,
    /// A frame of the coprocess protocol
    Ipc,
    /// A message between mcptest and a plugin
    Plugin,
}

pub(super) fn schema(what: What) -> u8 {
    let schema = match what {
        What::Suite => crate::schema::suite(),
        What::Config => crate::schema::config(),
        What::Event => crate::schema::event(),
        What::Ipc => crate::schema::ipc(),
        What::Plugin => crate::extension::process::schema(),
    };
    screen::print_data(&format!("{schema:#}\n"))
}
