//! Blocks and their nodes as resources: `pscale://memory` is a block, `pscale://memory/0.3` a node of it.

use bin_support::mcp::{quoted, without_keys};
use hermitcrab_kernel::ToolError;
use pscale_blocks::store::BlockInfo;
use pscale_blocks::{BlockName, BlockStore, render_json};
use rmcp::model::{Resource, ResourceTemplate};

const SCHEME: &str = "pscale://";
pub const JSON: &str = "application/json";
/// The longest head in a list, in characters.
const SHOWN: usize = 160;

/// Returns a resource for every block.
pub fn list(store: &dyn BlockStore) -> Result<Vec<Resource>, ToolError> {
    Ok(store.names()?.into_iter().map(described).collect())
}

fn described(block: BlockInfo) -> Resource {
    let resource = Resource::new(format!("{SCHEME}{}", block.name), block.name.to_string())
        .with_mime_type(JSON);
    match block.head {
        Some(head) => {
            resource.with_description(bin_support::shortened(&without_keys(&head), SHOWN))
        }
        None => resource,
    }
}

/// Returns the two forms of an address.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = |address: &str, name: &str, description: &str| {
        ResourceTemplate::new(format!("{SCHEME}{address}"), name)
            .with_description(description)
            .with_mime_type(JSON)
    };
    vec![
        template("{block}", "block", "A whole block."),
        template(
            "{block}/{path}",
            "node",
            "The node at a path such as 0.3.1, with the texts one level below.",
        ),
    ]
}

/// Returns the block or the node at an address as JSON.
pub fn read(uri: &str, store: &dyn BlockStore) -> Result<String, ToolError> {
    let Some(address) = uri.strip_prefix(SCHEME) else {
        let fault = ToolError::new("bad_uri", format!("no address of a block: {}", quoted(uri)));
        return Err(fault.hint("pscale://BLOCK or pscale://BLOCK/PATH, as in pscale://memory/0.3"));
    };
    let (name, path) = address.split_once('/').unwrap_or((address, ""));
    let name = BlockName::new(name)?;
    let block = store.load(&name)?.block;
    if path.is_empty() {
        return Ok(render_json(&block));
    }
    let view = block.view(&path.parse()?);
    let view = view.map_err(|error| error.in_block(&name))?;
    serde_json::to_string(&view).map_err(|error| ToolError::new("format", error.to_string()))
}
