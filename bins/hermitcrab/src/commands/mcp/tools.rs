//! The tools on blocks that a client can call. The kernel defines and runs them.

use std::sync::Arc;

use hermitcrab_kernel::ToolError;
use hermitcrab_kernel::table::ToolResult;
use pscale_blocks::{EditAuthor, Stamp};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::blocks::ServedBlocks;
use super::reply::clean;

/// The effect of a tool on the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    Changes,
}

/// All tools of the server, in the order in which a client lists them.
const OFFER: [(&str, Effect); 10] = [
    ("block_list", Effect::Reads),
    ("block_read", Effect::Reads),
    ("block_search", Effect::Reads),
    ("block_write", Effect::Changes),
    ("block_append", Effect::Adds),
    ("block_create", Effect::Adds),
    ("block_grow", Effect::Adds),
    ("block_move", Effect::Changes),
    ("block_undo", Effect::Changes),
    ("block_redo", Effect::Changes),
];

/// Returns the tools of a server that can write, or of one that only reads.
pub fn list(can_write: bool) -> Vec<Tool> {
    let offered = OFFER
        .iter()
        .filter(|(_, effect)| can_write || *effect == Effect::Reads);
    offered
        .filter_map(|(name, effect)| described(name, *effect))
        .collect()
}

fn described(name: &str, effect: Effect) -> Option<Tool> {
    let tool = hermitcrab_kernel::table::tool(name)?;
    let schema: JsonObject = tool.schema.as_object()?.clone();
    let hints = ToolAnnotations::new()
        .read_only(effect == Effect::Reads)
        .destructive(effect == Effect::Changes)
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
    let (_, effect) = OFFER.iter().find(|(offered, _)| *offered == name)?;
    if *effect != Effect::Reads && !blocks.can_write() {
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
    let input = arguments.map_or(Value::Null, Value::Object);
    let outcome = blocks
        .with(|store| hermitcrab_kernel::toolbox::run_block_tool(name, input, store, &stamp))
        .unwrap_or_else(ToolResult::from);
    Some(answer(&outcome))
}

fn answer(outcome: &ToolResult) -> CallToolResult {
    let text = clean(&outcome.text());
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
