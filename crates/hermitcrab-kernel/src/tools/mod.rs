//! What the model can call.

mod surface;

pub use surface::{
    Group, Tool, boot_tools, conversation_tools, near_names, tool, tool_group, tool_groups,
};
