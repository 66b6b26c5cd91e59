//! Integration tests of the binary, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod batches;
mod caps;
mod check;
mod config;
mod env_file;
mod evidence;
mod expect;
mod explain;
mod export;
mod export_pages;
mod fleet;
mod grown;
mod guide;
mod help;
mod hostile;
mod kill;
mod known;
mod lab;
mod language;
mod mcp;
mod models;
mod process;
mod replay;
mod review;
mod runs;
mod schema;
mod simulate;
mod sql;
mod stores;
mod universes;
mod watch;
