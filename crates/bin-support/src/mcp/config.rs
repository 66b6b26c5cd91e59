//! The configuration of an MCP client for a server.

use std::io::Write as _;

use serde_json::json;

use crate::{Exit, Failure, Session};

/// The flags of a command `mcp` that serves tools alone.
#[derive(Debug, Clone, Default, clap::Args)]
#[non_exhaustive]
pub struct McpFlags {
    /// Print the configuration with which an MCP client starts this server, and exit.
    #[arg(long)]
    pub print_config: bool,
}

/// Prints the configuration in the form of most clients: this program, started with these words.
///
/// A client may start the server in any folder, so a path among the words must be absolute.
///
/// # Errors
/// The path of this program is not known, or stdout cannot be written.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate reads the environment for the programs"
)]
pub fn print_config(name: &str, words: &[String], session: &mut Session) -> Result<Exit, Failure> {
    let program = std::env::current_exe()?;
    let server = json!({"command": program.display().to_string(), "args": words});
    let config = json!({"mcpServers": {name: server}});
    writeln!(session.results, "{config:#}")?;
    Ok(Exit::Done)
}
