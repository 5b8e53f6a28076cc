//! The table of figures, in Markdown.

use super::measure::Sample;
use crate::process::root;
use anyhow::{Context, Result};

const BEGIN: &str = "<!-- bench: written by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of bench -->";

/// Rows, and how much the machine varied.
#[derive(Default)]
pub struct Table {
    rows: String,
    noise: Vec<String>,
}

impl Table {
    /// Adds a row: what was measured, the raw client's, mcptest's and mcp-aegis's value, the figure and its target.
    pub fn row(&mut self, what: &str, values: [String; 3], figure: String, target: &str, holds: bool) {
        let [raw, mcptest, aegis] = values;
        let verdict = if holds { "reached" } else { "**missed**" };
        self.rows += &format!("| {what} | {raw} | {mcptest} | {aegis} | {figure} | {target} | {verdict} |\n");
    }

    /// Notes how far the slowest of the raw client's times is from the fastest, against their median.
    pub fn noise(&mut self, what: &str, raw: &Sample) {
        self.noise.push(format!("{what} {:.0} %", raw.spread() * 100.0));
    }

    /// The whole of it.
    pub fn render(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split_whitespace().next().unwrap_or("unknown");
        format!(
            "| measured | raw client | mcptest | mcp-aegis | figure | target | |\n|---|---|---|---|---|---|---|\n{}\n\
             Medians of interleaved runs on a machine of {cores} cores with a load of {load}. Its noise, as the spread of \
             the raw client's times from the fastest to the slowest: {}.\n",
            self.rows,
            self.noise.join(", ")
        )
    }
}

/// Puts a table between its marks in the README.
pub fn into_readme(table: &str) -> Result<()> {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path)?;
    let (before, rest) = readme.split_once(BEGIN).context("the README has no place for the table")?;
    let (_, after) = rest.split_once(END).context("the README's place for the table has no end")?;
    std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}"))?;
    Ok(())
}
