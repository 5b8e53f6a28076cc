//! The config file as written, and how it becomes a [`super::Config`].
