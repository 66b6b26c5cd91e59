//! The commands, one file or folder each, with the arguments and the function. No command uses another.

pub mod block;
pub mod chat;
pub mod compile;
pub mod cost;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod faces;
pub mod import;
pub mod key;
pub mod mcp;
pub mod memory;
pub mod migrate;
pub mod prompt;
pub mod prune;
pub mod runtime;
pub mod serve;
pub mod trace;
