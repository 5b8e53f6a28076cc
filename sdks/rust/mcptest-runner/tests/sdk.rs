//! The SDK's own tests: against a binary that misbehaves, and against the real one.

#[path = "sdk/misbehaviour.rs"]
mod misbehaviour;
