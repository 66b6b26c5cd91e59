//! The tools of `logosphere mcp`: pure functions of their arguments, without a file and without a network.

mod null_test;
mod parse;

use bin_support::mcp::{McpTool, ToolServer};
use serde::Serialize;

/// The text that a client receives when it connects.
const INSTRUCTIONS: &str = "logosphere measures populations of minds that exchange anonymous messages. null_test says whether some texts \
    were passed on more often than chance explains, with the figures; parse shows what one answer of a mind says in the format of a run.";

/// The server with all tools.
pub fn server() -> ToolServer {
    let tools = [
        McpTool::new("parse", parse::DESCRIPTION, |request, _| {
            parse::run(request)
        }),
        McpTool::new("null_test", null_test::DESCRIPTION, null_test::run),
    ];
    ToolServer::new("logosphere", env!("CARGO_PKG_VERSION"), INSTRUCTIONS, tools)
}

/// Returns a value as a command prints it.
fn json(value: &impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n")
        .map_err(|error| error.to_string())
}
