//! `mcp`: serves tools to models of other programs.

use bin_support::mcp::McpFlags;
use bin_support::{Exit, Failure, Session};

use crate::tools;

pub fn execute(flags: &McpFlags, session: &mut Session) -> Result<Exit, Failure> {
    tools::server().execute(flags, session)
}
