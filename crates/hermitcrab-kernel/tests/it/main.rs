//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and the line says where"
)]

mod kv;
mod security_files;
mod security_web;
