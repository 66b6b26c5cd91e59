//! What the engine promises, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod config_layers;
mod experiment;
mod minds;
mod parse_vectors;
mod sampler;
