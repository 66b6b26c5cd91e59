//! From the name of a tool to the owner that runs it.

mod calls;
mod context;
mod file_edits;
mod origins;
mod run;
mod self_tools;

pub(crate) use calls::{CLOSE_AT, calls};
pub(crate) use context::{ToolCaller, TurnContext, TurnFacts, author};
pub(crate) use self_tools::MOST_TOOLS;
