//! MCP tests in `cargo test`.
//!
//! The crate starts the `mcptest` binary as a coprocess and speaks its protocol; parsing, matching and judging stay in the
//! engine. Two ways to use it:
//!
//! ```no_run
//! # fn main() -> Result<(), mcptest_runner::Error> {
//! use mcptest_runner::Session;
//! use serde_json::json;
//!
//! let mcp = Session::open("mcptest demo-server")?;
//! let verdict = mcp.call("add", json!({ "a": 2, "b": 40 }))?;
//! assert_eq!(verdict.data, json!({ "sum": 42 }));
//! # Ok(())
//! # }
//! ```
//!
//! and, in a test target with `harness = false`, a suite file whose tests `cargo test` runs one by one:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     mcptest_runner::Suites::new(["tests/demo.test.mcp.yml"]).main()
//! }
//! ```

mod answer;
mod binary;
mod collect;
mod coprocess;
mod error;
mod lanes;
mod process;
mod session;
mod suite;
mod verdict;

/// The examples of the README are compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use collect::Suites;
pub use coprocess::COPROCESS_PROTOCOL_VERSION;
pub use error::Error;
pub use lanes::{UNSUPPORTED_SDK_LANES, lane_cli_hint};
pub use session::{Options, Session};
pub use suite::{Outcome, Planned, Status};
pub use verdict::Verdict;
