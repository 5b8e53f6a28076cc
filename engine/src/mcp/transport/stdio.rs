//! A server on its standard streams.
