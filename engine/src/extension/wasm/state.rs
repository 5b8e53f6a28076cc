//! What belongs to one instance: its WASI, its limits, and what it says during a call.

use super::bindings::mcptest::extension::{host, types};
use super::limiter::Limiter;
use super::sandbox::{Pace, Sandbox};
use super::tail::Tail;
use crate::extension::Limits;
use crate::extension::log::{Level, Said};
use std::sync::Arc;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// The state of one instance.
pub(super) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    pub(super) limiter: Limiter,
    pub(super) stdout: Tail,
    pub(super) stderr: Tail,
    /// Hosts whose names may be looked up.
    pub(super) names: Arc<[String]>,
    pace: Pace,
    said: Vec<(Level, String)>,
    unsaid: usize,
    most_said: usize,
}

impl State {
    /// A closed state, opened by what the sandbox grants.
    pub(super) fn new(sandbox: &Sandbox, limits: Limits) -> Result<State, String> {
        let (stdout, stderr, pace) = (Tail::default(), Tail::default(), Pace::default());
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        Ok(State {
            wasi: sandbox.wasi(&pace, &stdout, &stderr)?,
            table,
            limiter: Limiter::new(limits),
            stdout,
            stderr,
            names: sandbox.names(),
            pace,
            said: Vec::new(),
            unsaid: 0,
            most_said: limits.log_lines,
        })
    }

    /// What its handles stand for.
    pub(super) fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    /// Every call starts at the same moment with the same dice, so that its answer depends on nothing but its input.
    pub(super) fn begin(&mut self) {
        self.pace.reset();
        self.stdout.clear();
        self.stderr.clear();
    }

    /// What was logged during a call, attributed.
    pub(super) fn take_said(&mut self, by: &Arc<str>) -> Vec<Said> {
        if self.said.is_empty() && self.unsaid == 0 {
            return Vec::new();
        }
        let unsaid = std::mem::take(&mut self.unsaid);
        let said = |(level, text)| Said { by: by.clone(), level, text };
        let mut all: Vec<Said> = std::mem::take(&mut self.said).into_iter().map(said).collect();
        if unsaid > 0 {
            all.push(said((Level::Warn, format!("{unsaid} more messages were not kept"))));
        }
        all
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl types::Host for State {}

impl host::Host for State {
    fn log(&mut self, level: host::Level, message: String) {
        if self.said.len() >= self.most_said {
            self.unsaid += 1;
            return;
        }
        // A copy of what is kept: a text that was only shortened would still hold the memory of the whole.
        let message = match message.len() > Limits::LOG_LINE {
            true => format!("{}…", &message[..message.floor_char_boundary(Limits::LOG_LINE)]),
            false => message,
        };
        let level = match level {
            host::Level::Debug => Level::Debug,
            host::Level::Info => Level::Info,
            host::Level::Warn => Level::Warn,
            host::Level::Error => Level::Error,
        };
        self.said.push((level, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_cut_does_not_hold_the_memory_of_the_whole() {
        let mut state = State::new(&Sandbox::default(), Limits::default()).unwrap();
        for _ in 0..3 {
            host::Host::log(&mut state, host::Level::Error, "é".repeat(Limits::LOG_LINE));
        }
        for (_, kept) in &state.said {
            assert!(kept.ends_with('…'));
            assert!(kept.capacity() <= 2 * Limits::LOG_LINE, "{}", kept.capacity());
        }
        assert_eq!(state.said.len(), 3);
    }
}
