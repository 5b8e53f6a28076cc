//! `mcptest completions`.

use super::{Cli, screen};
use clap::CommandFactory;

pub(super) fn completions(shell: clap_complete::Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcptest", &mut script);
    screen::print_data(&String::from_utf8_lossy(&script))
}
