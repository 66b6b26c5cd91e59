//! The tools that a model can call, their arguments and their results.

mod args;
mod outcome;
mod tools;

use llm_client::ToolSpec;
use serde_json::json;

pub(crate) use args::Args;
pub use outcome::ToolResult;
pub use tools::{
    Group, Tool, boot_tools, conversation_tools, near_names, tool, tool_group, tool_groups,
};

/// The name of a tool that the kernel runs.
pub(crate) fn name_of(tool: &ToolSpec) -> Option<&str> {
    match tool {
        ToolSpec::Function { name, .. } => Some(name),
        ToolSpec::Server(_) => None,
    }
}

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
    });
    let all: Vec<_> = all.collect();
    format!("[{}]", all.join(","))
}
