//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod budgets;
mod cancel;
mod config;
mod default_blocks;
mod keystone;
mod kv;
mod models;
mod place;
mod prompt;
mod security_files;
mod security_web;
mod stop_reasons;
mod texts;
mod window;
mod wire;
