//! The MCP client: raw first, so that everything a server does can be seen and judged.

pub mod instance;
pub mod lifecycle;
pub mod message;
pub mod transport;
pub mod uri_template;
