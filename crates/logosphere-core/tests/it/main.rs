//! What the engine promises, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod impersonation;
mod init_table;
mod parse_vectors;
mod parser_fuzz;
mod pool;
mod pool_scale;
mod prompt_roundtrip;
mod sampler;
