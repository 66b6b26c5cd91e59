//! The tools that a model can call and the props of a face: one table, `tools.json`; their arguments and results.

#[cfg(feature = "testing")]
mod added;
mod args;
mod outcome;
mod props;
mod protected;
mod rows;
mod tools;

use llm_client::ToolSpec;
use serde_json::json;

#[cfg(feature = "testing")]
pub use added::add_row;
pub(crate) use args::Args;
pub use outcome::ToolResult;
pub use props::{Prop, PropArg, prop, props};
pub use protected::{ProtectedNames, protected_names};
pub use rows::{Access, Effect};
pub(crate) use tools::nearest;
pub use tools::{
    Group, Tool, boot_tools, conversation_tools, near_names, tool, tool_group, tool_groups,
};

/// The tools as compact JSON, in the form of a request to Anthropic.
pub(crate) fn as_sent(tools: &[ToolSpec]) -> String {
    let all = tools.iter().map(|tool| match tool {
        ToolSpec::Function {
            name,
            description,
            schema,
            ..
        } => json!({"name": name, "description": description, "input_schema": schema}).to_string(),
        ToolSpec::Server(raw) => raw.get().to_owned(),
        // No tool of the kernel is of another kind.
        tool => serde_json::to_string(tool).unwrap_or_default(),
    });
    let all: Vec<_> = all.collect();
    format!("[{}]", all.join(","))
}
