//! Saying something about the call at hand.

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For the extension's author. Shown with `--verbose`.
    Debug,
    /// Worth knowing. Shown with `--verbose`.
    Info,
    /// Something looks wrong, and the work goes on.
    Warn,
    /// Something went wrong.
    Error,
}

/// Says something about the call at hand. Inside the engine it becomes a `log` event; natively it goes to stderr.
pub fn log(level: Level, message: impl AsRef<str>) {
    #[cfg(target_family = "wasm")]
    crate::bindings::log(level, message.as_ref());
    #[cfg(not(target_family = "wasm"))]
    eprintln!("{level:?}: {}", message.as_ref());
}
