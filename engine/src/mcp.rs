//! The MCP client: raw first, so that everything a server does can be seen and judged.

pub mod lifecycle;
pub mod message;
pub mod transport;
