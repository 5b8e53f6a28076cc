//! Lanes that the coprocess cannot drive: they are reported as ignored tests that name the command, never dropped.

use crate::Planned;

/// The lanes of a suite that only the command line can run.
pub const UNSUPPORTED_SDK_LANES: [&str; 4] = ["agents", "compliance", "security", "evals"];

/// The command that runs a lane of a suite file.
pub fn lane_cli_hint(lane: &str, suite: &str) -> String {
    match lane {
        "compliance" => format!("mcptest compliance run --from-suite {suite}"),
        "evals" => format!("mcptest eval {suite}"),
        _ => format!("mcptest run {suite}"),
    }
}

/// The native name of a test: `tools::adds`, `mcptest::lanes::agents`, `mcptest::compliance::<rule>`.
pub(crate) fn native_name(test: &Planned) -> String {
    let Planned { lane, name, skip, .. } = test;
    let undriven = skip.is_some() && UNSUPPORTED_SDK_LANES.contains(&lane.as_str());
    match undriven {
        true if name == lane => format!("mcptest::lanes::{lane}"),
        true => format!("mcptest::{lane}::{name}"),
        false => format!("{lane}::{name}"),
    }
}
