//! The WASM backend: components in a sandbox that is closed by default.
//!
//! One [`Host`] has the engine; each extension is a [`Component`](component::Component), linked once, with instances
//! that are reused and thrown away after a trap or a timeout. WASI is there and gives nothing unless it was granted.
//!
//! A call is asynchronous inside, because that is what makes a guest stoppable while it sleeps in a host call, and is
//! polled by hand on the caller's thread (see [`drive`]), because a matcher's call costs a microsecond and a hand-over
//! to another thread costs ten. Two things end a call: the epoch, for a guest that computes, and the deadline, for one
//! that waits. A matcher that has nothing to wait for is spared the asynchrony (see [`prompt`]).

mod bindings;
mod cache;
mod component;
mod drive;
mod explain;
mod host;
mod instance;
mod limiter;
mod loader;
mod prompt;
mod sandbox;
mod state;
mod tail;

pub use cache::Cache;
pub use component::{Component, Notes, Shape};
pub use loader::Loader;

/// The package that extensions implement.
pub const PACKAGE: &str = "mcptest:extension";
/// The version of it that this host speaks.
pub const VERSION: &str = "0.1.0";
