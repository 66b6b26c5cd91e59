//! The configuration of an MCP client for this server.

use std::path::{Path, absolute};

use bin_support::mcp::print_config;
use bin_support::{Exit, Failure, Session};

use super::McpArgs;

/// Prints the configuration of a client for a server with these flags.
pub fn print(args: &McpArgs, data: Option<&Path>, session: &mut Session) -> Result<Exit, Failure> {
    let mut words = vec!["mcp".to_owned()];
    words.extend(args.write.then(|| "--write".to_owned()));
    words.extend(args.ui.then(|| "--ui".to_owned()));
    if let Some(data) = data {
        words.extend(["--data".to_owned(), absolute(data)?.display().to_string()]);
    }
    print_config("hermitcrab", &words, session)
}
