//! The tools on blocks that a client can call. The kernel defines and runs them.

use std::sync::Arc;

use bin_support::mcp::without_keys;
use hermitcrab_kernel::ToolError;
use hermitcrab_kernel::table::{self, Effect, ToolResult};
use hermitcrab_kernel::toolbox::run_block_tool;
use pscale_blocks::store::Origin;
use pscale_blocks::{EditAuthor, Stamp};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::blocks::ServedBlocks;

/// All tools of the server, in the order in which a client lists them.
const OFFER: [&str; 10] = [
    "block_list",
    "block_read",
    "block_search",
    "block_write",
    "block_append",
    "block_create",
    "block_grow",
    "block_move",
    "block_undo",
    "block_redo",
];

/// The tools that write and leave every text as it is.
const ONLY_ADD: [&str; 3] = ["block_append", "block_create", "block_grow"];

/// Returns the tools of a server that can write, or of one that only reads.
pub fn list(can_write: bool) -> Vec<Tool> {
    let tools = OFFER.into_iter().filter_map(table::tool);
    tools
        .filter(|tool| can_write || tool.effect == Effect::Read)
        .filter_map(described)
        .collect()
}

fn described(tool: &'static table::Tool) -> Option<Tool> {
    let schema: JsonObject = tool.schema.as_object()?.clone();
    let hints = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Read)
        .destructive(tool.effect != Effect::Read && !ONLY_ADD.contains(&&*tool.name))
        .open_world(false);
    let described = Tool::new(
        tool.name.as_str(),
        tool.description.as_str(),
        Arc::new(schema),
    );
    Some(described.with_annotations(hints))
}

/// Runs a tool and returns its result, or `None` if the server has no tool of this name.
///
/// A failure is a result, too, so that the model reads it.
pub fn call(
    name: &str,
    arguments: Option<JsonObject>,
    blocks: &ServedBlocks,
    client: &str,
) -> Option<CallToolResult> {
    let tool = table::tool(OFFER.into_iter().find(|offered| *offered == name)?)?;
    if tool.effect != Effect::Read && !blocks.can_write() {
        let fault = ToolError::new(
            "read_only",
            format!("{name} changes blocks, and this server only reads them"),
        )
        .hint("the person can start it as `hermitcrab mcp --write`");
        return Some(answer(&fault.into()));
    }
    let stamp = Stamp::new(
        blocks.now(),
        EditAuthor::Model {
            id: client.to_owned(),
            web: None,
        },
    );
    let origin = Origin::Client {
        name: client.to_owned(),
    };
    let stamp = stamp.with_from(origin.into());
    let review = blocks.review();
    let input = arguments.map_or(Value::Null, Value::Object);
    let outcome = blocks
        .with(|store| run_block_tool(name, input, store, &stamp, review.as_ref()))
        .unwrap_or_else(ToolResult::from);
    Some(answer(&outcome))
}

fn answer(outcome: &ToolResult) -> CallToolResult {
    let text = without_keys(&outcome.text());
    let content = vec![ContentBlock::text(text)];
    if outcome.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    }
}

/// Returns the names of the tools, for the error about an unknown tool.
pub fn names(can_write: bool) -> String {
    let names: Vec<_> = list(can_write).into_iter().map(|tool| tool.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_on_offer_is_one_of_the_kernel() {
        assert_eq!(list(true).len(), OFFER.len());
        assert_eq!(names(false), "block_list, block_read, block_search");
    }
}
