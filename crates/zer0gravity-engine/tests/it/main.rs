//! What the engine promises, one module a topic.

mod lint;
mod offline;
mod procedure;
mod prompts;
