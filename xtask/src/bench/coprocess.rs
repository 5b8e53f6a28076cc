//! What an SDK pays for the coprocess: a call against the same call without it, and the way to the first answer.

use super::table::Table;
use super::{Contest, figures};
use crate::engine::built;
use crate::process::output;
use anyhow::Result;
use std::process::Command;

pub(super) fn measure(contest: &Contest, table: &mut Table) -> Result<()> {
    println!("the coprocess …");
    let program = built("release")?.join("coprocess");
    // On one core: to wake another that is idle takes longer than all of them work, and how often depends on the kernel.
    let mut command = Command::new("taskset");
    let said = output(command.args(["-c", "0"]).arg(program).arg(contest.engine.path()).arg(&contest.echo))?;
    let figure = figures(&said);
    let (pipe, direct, through) = (figure("pipe_us ")?, figure("direct_us ")?, figure("coprocess_us ")?);
    let more = (through - direct) / pipe;
    let ours = format!("{through:.1} µs; a line through `cat` and back {pipe:.1} µs");
    let what = "`mcp.call` through the coprocess, against the same call on the server's own pipe; all on one core";
    let shown = format!("+{more:.2} round trips of a pipe");
    table.row(what, [format!("{direct:.1} µs"), ours, "–".into()], shown, "≤ +2 round trips", more <= 2.0);
    let (direct, through) = (figure("direct_first_ms ")?, figure("coprocess_first_ms ")?);
    let more = through - direct;
    let what = "from the start of the coprocess to the first answer of a tool, against the server alone";
    let values = [format!("{direct:.1} ms"), format!("{through:.1} ms"), "–".into()];
    table.row(what, values, format!("{more:+.1} ms"), "≤ +15 ms", more <= 15.0);
    Ok(())
}
