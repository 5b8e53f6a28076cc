//! The role of a transform: it rewrites suites.

use crate::failure::Failure;
use serde_json::Value;

/// A transform. Key order is kept, as it decides the order of tests.
///
/// Export it with [`export_transform!`](crate::export_transform).
pub trait Transform: 'static {
    /// The capabilities that it needs, by kind.
    const CAPABILITIES: &'static [&'static str] = &[];

    /// Takes a whole suite file, as written, and returns the one to use in its place. Keys that start with `x-` are
    /// free for a transform's own settings.
    fn transform(suite: Value) -> Result<Value, Failure>;
}

/// Hands a suite's text to a transform: what the exported function does.
pub(crate) fn transform<T: Transform>(suite: &str) -> Result<String, Failure> {
    let suite = serde_json::from_str(suite)
        .map_err(|error| Failure::internal(format_args!("the suite cannot be read: {error}")))?;
    T::transform(suite).map(|suite| suite.to_string())
}
