//! A small but complete MCP server inside the binary, for the quickstart and the docs.
