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
    linker: Linker<State>,
    /// For guests that have nothing to wait for.
    prompt: Linker<State>,
    /// Whether guests may use the component model's own concurrency.
    concurrent: bool,
    /// Bytes of a guest's stack.
    stack: usize,
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
        let (linker, prompt) = linkers(&engine).map_err(|error| format!("{error:#}"))?;
        tick(&engine)?;
        let (runtime, hurried) = (OnceLock::new(), AtomicBool::new(false));
        Ok(Arc::new(Host { engine, linker, prompt, concurrent, stack, cache, runtime, hurried }))
    }

    /// Whether a guest that can wait for nothing may run on its caller's stack: it has to fit there.
    pub(super) fn spares_a_stack(&self) -> bool {
        !self.concurrent && self.stack <= Limits::STACK
    }

    /// What a component is linked against.
    pub(super) fn linker(&self, prompt: bool) -> &Linker<State> {
        if prompt { &self.prompt } else { &self.linker }
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

/// Everything that guests may import; and the same for those that have nothing to wait for.
fn linkers(engine: &Engine) -> wasmtime::Result<(Linker<State>, Linker<State>)> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    super::sandbox::guard_name_lookup(&mut linker)?;
    bindings::mcptest::extension::host::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    let mut prompt = linker.clone();
    super::prompt::add_to_linker(&mut prompt)?;
    Ok((linker, prompt))
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
