//! The program as its users run it.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod bad_input;
mod block_cli;
mod bundle;
mod key;
mod kill;
mod mcp;
mod migrate;
mod program;
