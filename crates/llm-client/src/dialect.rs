//! How servers of chat completions differ: the fields of a [`Dialect`](crate::Dialect).

pub use crate::codec::{
    MaxTokensField, ReasoningField, StreamUsage, SystemRole, ThinkingField, ToolIndex,
};
