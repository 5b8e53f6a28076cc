//! Processes: spawned in a group of their own, ended with everything they started.
