//! The configuration of an MCP client for this server.

use std::env::current_exe;
use std::io::Write as _;
use std::path::{Path, absolute};

use bin_support::{Exit, Failure, Session};
use serde_json::json;

use super::McpArgs;

/// Prints the configuration in the form of most clients. A client may start anywhere, so all paths are absolute.
pub fn print(args: &McpArgs, data: Option<&Path>, session: &mut Session) -> Result<Exit, Failure> {
    let mut words = vec!["mcp".to_owned()];
    words.extend(args.write.then(|| "--write".to_owned()));
    words.extend(args.ui.then(|| "--ui".to_owned()));
    if let Some(data) = data {
        words.extend(["--data".to_owned(), absolute(data)?.display().to_string()]);
    }
    let server = json!({"command": current_exe()?.display().to_string(), "args": words});
    let config = json!({"mcpServers": {"hermitcrab": server}});
    writeln!(session.results, "{config:#}")?;
    Ok(Exit::Done)
}
