//! The program as its users run it.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod bad_input;
mod block_cli;
mod bundle;
mod commands;
mod cost;
mod env_file;
mod faults;
mod guide;
mod help;
#[cfg(unix)]
mod hostile;
mod key;
mod kill;
mod language;
mod local;
mod mcp;
#[cfg(unix)]
mod mcp_client;
mod memory;
mod migrate;
mod model;
mod pipe;
mod program;
mod prune;
mod replay;
mod review;
mod secrets;
mod serve;
mod shows;
#[cfg(target_os = "linux")]
mod terminal;
