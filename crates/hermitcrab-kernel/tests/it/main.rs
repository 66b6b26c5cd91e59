//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod cancel;
mod config;
mod models;
mod offline;
mod window;
mod wire;
