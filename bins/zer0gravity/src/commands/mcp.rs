//! `zer0gravity mcp`: measures for models of other programs.

use bin_support::mcp::McpFlags;
use bin_support::{Exit, Failure, Session};

use crate::tools;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity mcp
  zer0gravity mcp --print-config";

pub fn execute(flags: &McpFlags, session: &mut Session) -> Result<Exit, Failure> {
    tools::server().execute(flags, session)
}
