//! Secrets out of everything that leaves the engine.
