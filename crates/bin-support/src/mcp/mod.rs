//! Servers of the Model Context Protocol on stdin and stdout, for models of other programs.
//!
//! A program with tools alone has a table of [`McpTool`]s, which [`ToolServer`] serves. One with more to
//! offer than tools implements `rmcp::ServerHandler` and gives it to [`serve`].
//!
//! A session ends when the client closes stdin. Lines that are not JSON are skipped, as in other servers of the protocol, and
//! so are lines over 16 MiB.

mod config;
mod refusal;
mod schema;
mod serve;
mod server;
mod text;
mod tool;

pub use config::{McpFlags, print_config};
pub use refusal::{no_method, no_tool};
pub use serve::serve;
pub use server::ToolServer;
pub use text::{quoted, without_keys};
pub use tool::{McpCall, McpTool};
