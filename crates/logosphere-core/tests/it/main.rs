//! What the engine promises, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod concurrency;
mod config_layers;
mod desk;
mod flip_every_byte;
mod lineage;
mod metrics;
mod minds;
mod parse_vectors;
mod replay;
mod resume_every_byte;
mod sampler;
mod scheduling;
mod scripted_run;
