//! Write mcptest extensions in Rust.
//!
//! An extension plays one of three roles: a [`Matcher`] judges values, a [`Reporter`] writes reports, a [`Transform`]
//! rewrites suites. Implement the trait, export the type, and build for `wasm32-wasip2`:
//!
//! ```
//! use mcptest_guest::{Failure, Matcher, Request, Value, Verdict, decode, export_matcher};
//!
//! struct Even(bool);
//!
//! impl Matcher for Even {
//!     const NAME: &'static str = "even";
//!     fn prepare(expected: &Value) -> Result<Even, Failure> {
//!         decode(expected).map(Even)
//!     }
//!     fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
//!         let even = actual.as_i64().is_some_and(|number| number % 2 == 0);
//!         if even == self.0 { Verdict::pass() } else { Verdict::fail("the number has the wrong parity") }
//!     }
//! }
//!
//! export_matcher!(Even);
//! ```
//!
//! A suite then says `$even: true`. Everything but the export is plain Rust that runs anywhere: [`testkit`] runs a
//! file of cases natively, and `mcptest extension check` runs the same file inside the engine.

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod bindings;
mod event;
mod export;
mod failure;
mod log;
mod matcher;
mod matchers;
mod reporter;
pub mod testkit;
mod transform;
mod value;
mod verdict;

pub use crate::event::Event;
pub use crate::failure::Failure;
pub use crate::log::{Level, log};
pub use crate::matcher::{Matcher, Request};
pub use crate::matchers::{Call, Info, Matchers};
pub use crate::reporter::{Output, Reporter};
pub use crate::transform::Transform;
pub use crate::value::{decode, describe, text};
pub use crate::verdict::{Mismatch, Verdict};
pub use serde_json::{Value, json};
