//! The program as its users run it.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod analyze;
mod answers;
mod bad_input;
mod caps;
mod commands;
mod concurrency;
mod config_layers;
mod demo;
mod embed;
mod embed_fresh;
mod embed_local;
mod env_file;
mod faults;
mod forecast;
mod fork;
mod fork_damaged;
mod guide;
mod help;
mod import;
mod import_limits;
mod interrupt;
mod journal;
mod kill_resume;
mod language;
mod leak;
mod local;
mod mcp;
mod message_cap;
mod mixed_minds;
mod offline;
mod old_reader;
#[cfg(unix)]
mod others_folder;
mod program;
mod proof;
mod recorded;
mod refusals;
mod replay;
mod report;
mod settings;
mod stopping;
mod storage;
mod sweep;
mod sweep_damaged;
mod terminal;
mod timing;
mod usability;
mod watch;
mod watch_sweep;
mod watch_terminal;
mod wire;
