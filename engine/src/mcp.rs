//! The MCP client: raw first, so that everything a server does can be seen and judged.

pub mod cassette;
pub mod connection;
pub mod era;
pub mod fault;
pub mod input;
pub mod instance;
pub mod lifecycle;
pub mod message;
pub mod mirror;
pub mod target;
pub mod transport;
pub mod uri_template;
