//! What the engine promises, one module a topic.

mod offline;
mod prompts;
