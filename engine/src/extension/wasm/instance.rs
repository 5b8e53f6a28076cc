//! One instance of a component, and how a call on it ends.

use super::bindings::exports::mcptest::extension::{describing, matching, reporting, transforming};
use super::bindings::prompt::exports::mcptest::extension::matching as prompt;
use super::drive;
use super::host::{Host, TICK};
use super::sandbox::Sandbox;
use super::state::State;
use crate::extension::Limits;
use crate::extension::log::Said;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::Store;
use wasmtime::component::InstancePre;

/// Where a component's functions are; a role that it doesn't play is `None`.
#[derive(Clone)]
pub(super) struct Indices {
    pub(super) describing: describing::GuestIndices,
    pub(super) matching: Option<matching::GuestIndices>,
    pub(super) reporting: Option<reporting::GuestIndices>,
    pub(super) transforming: Option<transforming::GuestIndices>,
    /// The matcher again, where it is called on the caller's stack.
    pub(super) prompt: Option<prompt::GuestIndices>,
}

/// The functions of one instance.
pub(super) struct Guest {
    pub(super) describing: describing::Guest,
    pub(super) matching: Option<matching::Guest>,
    pub(super) reporting: Option<reporting::Guest>,
    pub(super) transforming: Option<transforming::Guest>,
    pub(super) prompt: Option<prompt::Guest>,
}

/// How instances of one component are made and run.
pub(super) struct Mold {
    pub(super) host: Arc<Host>,
    pub(super) pre: InstancePre<State>,
    pub(super) indices: Indices,
    pub(super) limits: Limits,
    pub(super) timeout: Duration,
    /// Whether it imports something that waits: timers, files, sockets.
    pub(super) waits: bool,
}

/// One instance.
pub(super) struct Instance {
    pub(super) store: Store<State>,
    guest: Guest,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum Stop {
    /// Its time was up.
    Late,
    /// It ended in the middle.
    Trap(wasmtime::Error),
    /// No instance could be made.
    Setup(String),
}

/// An instance that could not be made, with what is left of it.
pub(super) struct Stillborn {
    pub(super) stop: Stop,
    pub(super) store: Option<Box<Store<State>>>,
}

/// How a call ended.
pub(super) struct Ended<T> {
    pub(super) result: Result<T, Stop>,
    pub(super) took: Duration,
}

impl Mold {
    /// A fresh instance: its start function runs under the same deadline as any call.
    pub(super) fn instance(&self, sandbox: &Sandbox) -> Result<Instance, Stillborn> {
        let state =
            State::new(sandbox, self.limits).map_err(|why| Stillborn { stop: Stop::Setup(why), store: None })?;
        let mut store = Store::new(&self.host.engine, state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(self.limits.handed_over());
        let made = self.run(&mut store, async |store| {
            let instance = self.pre.instantiate_async(&mut *store).await?;
            let Indices { describing, matching, reporting, transforming, prompt } = &self.indices;
            Ok(Guest {
                describing: describing.load(&mut *store, &instance)?,
                matching: matching.as_ref().map(|role| role.load(&mut *store, &instance)).transpose()?,
                reporting: reporting.as_ref().map(|role| role.load(&mut *store, &instance)).transpose()?,
                transforming: transforming.as_ref().map(|role| role.load(&mut *store, &instance)).transpose()?,
                prompt: prompt.as_ref().map(|role| role.load(&mut *store, &instance)).transpose()?,
            })
        });
        match made.result {
            Ok(guest) => Ok(Instance { store, guest }),
            Err(stop) => Err(Stillborn { stop, store: Some(Box::new(store)) }),
        }
    }

    /// Calls a function of an instance. After an error the instance is of no use any more.
    pub(super) fn call<T>(
        &self,
        instance: &mut Instance,
        call: impl AsyncFnOnce(&Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Ended<T> {
        let Instance { store, guest } = instance;
        self.run(store, async |store| call(guest, store).await)
    }

    fn run<T>(
        &self,
        store: &mut Store<State>,
        work: impl AsyncFnOnce(&mut Store<State>) -> wasmtime::Result<T>,
    ) -> Ended<T> {
        let _entered = if self.waits { self.host.runtime().map(tokio::runtime::Handle::enter) } else { None };
        store.data_mut().begin();
        let most = self.host.patience(self.timeout);
        store.set_epoch_deadline(ticks(most));
        let began = Instant::now();
        let result = match drive::until(began + most, &self.host.hurried, work(store)) {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) if is_interrupt(&error) => Err(Stop::Late),
            Some(Err(error)) => Err(Stop::Trap(error)),
            None => Err(Stop::Late),
        };
        Ended { result, took: began.elapsed() }
    }
}

impl Instance {
    pub(super) fn said(&mut self, by: &Arc<str>) -> Vec<Said> {
        self.store.data_mut().take_said(by)
    }
}

/// The epoch may move right after it was read, so one tick more than the deadline has.
fn ticks(timeout: Duration) -> u64 {
    (timeout.as_millis() / TICK.as_millis()) as u64 + 1
}

fn is_interrupt(error: &wasmtime::Error) -> bool {
    matches!(error.downcast_ref(), Some(wasmtime::Trap::Interrupt))
}
