//! mcptest, a test engine for MCP servers.
//!
//! > A **config** and its **suites** pass through **transforms** into a **plan**; the plan opens **sessions** that run
//! > **steps**; each step's reply is judged by **matchers**; everything that happens is an **event**; **reporters** read
//! > events; the summary of the events is the exit code.
//!
//! Left of the plan every problem is a diagnostic with a place, and all of them are reported at once. Right of the plan a
//! bad server is data: crashes, timeouts and garbage are faults inside events, and a run always ends with a report.
//!
//! | word | meaning |
//! |---|---|
//! | suite | one file of cases |
//! | case | one test of a suite: it has a name and one or more steps |
//! | step | one action against a server, and what is expected of it |
//! | check | one expectation, judged |
//! | matcher | decides whether a value is what was expected |
//! | verdict | what a matcher says |
//! | fault | a server or an extension misbehaved, so nothing could be judged |
//! | session | one process of a server under test, and the conversation with it |
//! | event | something that happened, numbered |
//! | reporter | turns events into one output |

pub mod cache;
pub mod child;
pub mod cli;
pub mod config;
pub mod coprocess;
pub mod demo;
pub mod diagnostic;
pub mod discover;
pub mod event;
pub mod extension;
pub mod matcher;
pub mod mcp;
pub mod ndjson;
pub mod plan;
pub mod reporter;
pub mod run;
pub mod schema;
pub mod source;
pub mod suite;
pub mod transform;
