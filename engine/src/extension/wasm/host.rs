//! The engine that all components share, the clock that interrupts them, and the runtime behind their host calls.

use super::bindings;
use super::cache::Cache;
use super::state::State;
use crate::extension::Limits;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Engine, OptLevel};

/// How often running guests are looked at: a call overstays its deadline by at most this.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// What a call may still take when somebody is waiting: one that takes longer has gone astray.
pub(super) const MOMENT: Duration = Duration::from_millis(100);

/// Everything that WASM extensions share.
pub struct Host {
    pub(super) engine: Engine,
    pub(super) linker: Linker<State>,
    pub(super) cache: Option<Cache>,
    runtime: OnceLock<Option<Handle>>,
    /// Somebody is waiting: calls are to end soon.
    pub(super) hurried: AtomicBool,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl Host {
    /// A host whose guests have stacks of `stack` bytes; compiled code is kept in `cache`.
    ///
    /// Guests that use the component model's own concurrency need an engine that has it (`concurrent`); for all others
    /// it would only make every call a third slower.
    pub fn new(stack: usize, cache: Option<Cache>, concurrent: bool) -> Result<Arc<Host>, String> {
        let stack = stack.clamp(64 * 1024, Limits::MOST_STACK);
        let mut config = Config::new();
        config
            .concurrency_support(concurrent)
            .epoch_interruption(true)
            .max_wasm_stack(stack)
            .async_stack_size(stack + Limits::HOST_STACK)
            .cranelift_opt_level(OptLevel::Speed);
        let engine = Engine::new(&config).map_err(|error| format!("{error:#}"))?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(|error| format!("{error:#}"))?;
        super::sandbox::guard_name_lookup(&mut linker).map_err(|error| format!("{error:#}"))?;
        bindings::mcptest::extension::host::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)
            .map_err(|error| format!("{error:#}"))?;
        tick(&engine)?;
        Ok(Arc::new(Host { engine, linker, cache, runtime: OnceLock::new(), hurried: AtomicBool::new(false) }))
    }

    /// Ends every call that is running, but for those that end by themselves in a moment; `longest` is the most that one
    /// may take otherwise.
    pub(super) fn interrupt(&self, longest: Duration) {
        if !self.hurried.swap(true, Ordering::Relaxed) {
            std::thread::sleep(MOMENT);
        }
        // Guests are stopped where they look at the epoch, and those that began before look for one within this.
        for _ in 0..=longest.as_millis() / TICK.as_millis() + 1 {
            self.engine.increment_epoch();
        }
    }

    /// How long a call that begins now may take, where it may usually take this.
    pub(super) fn patience(&self, usual: Duration) -> Duration {
        if self.hurried.load(Ordering::Relaxed) { usual.min(MOMENT) } else { usual }
    }

    /// The runtime that drives timers and files of guests that were granted some; made when it is first needed.
    pub(super) fn runtime(&self) -> Option<&Handle> {
        self.runtime.get_or_init(helper_runtime).as_ref()
    }
}

/// Moves the epoch until the engine is gone.
fn tick(engine: &Engine) -> Result<(), String> {
    let engine = engine.weak();
    let ticker = std::thread::Builder::new().name("extension-ticker".to_owned());
    let ticking = ticker.spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    });
    ticking.map(drop).map_err(|error| format!("no thread can be started: {error}"))
}

/// Guests poll their host calls on the worker's thread, whose own runtime stands still meanwhile: timers and files need
/// one that runs.
fn helper_runtime() -> Option<Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let handle = runtime.handle().clone();
    let helper = std::thread::Builder::new().name("extension-io".to_owned());
    helper.spawn(move || runtime.block_on(std::future::pending::<()>())).ok()?;
    Some(handle)
}
