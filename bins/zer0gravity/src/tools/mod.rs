//! The tools of `zer0gravity mcp`: pure functions of their arguments, without a file, a network and a judge.

mod compare_texts;
mod lint;
mod score;
mod texts;

use std::sync::Arc;

use bin_support::mcp::{McpTool, ToolServer};
use zer0gravity_engine::Tokenizers;

/// The text that a client receives when it connects.
const INSTRUCTIONS: &str = "zer0gravity measures rules by which a text is encoded so that a fresh reader can decode it. lint checks rules; \
    score measures what a round trip saved and kept, without a judge, so it is not the score of 100 points; compare_texts lists the commitments \
    (numbers, dates, names, identifiers, words that deny, oblige or condition) that a text lost, changed or invented.";

/// The server with all tools.
pub fn server() -> ToolServer {
    // The tables of the tokenizers are made at the first count.
    let counter = Arc::new(Tokenizers::default());
    let same = Arc::clone(&counter);
    let tools = [
        McpTool::new("lint", lint::DESCRIPTION, move |request, _| {
            lint::run(request, &*counter)
        }),
        McpTool::new("score", score::DESCRIPTION, move |request, _| {
            score::run(request, &*same)
        }),
        McpTool::new("compare_texts", compare_texts::DESCRIPTION, |request, _| {
            compare_texts::run(request)
        }),
    ];
    ToolServer::new(
        "zer0gravity",
        env!("CARGO_PKG_VERSION"),
        INSTRUCTIONS,
        tools,
    )
}
