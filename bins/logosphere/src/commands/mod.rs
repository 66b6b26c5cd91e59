//! The commands, one file each: its arguments and `execute`. No command uses another.

pub mod analyze;
pub mod check_init;
pub mod check_leaks;
pub mod demo;
pub mod diff;
pub mod estimate;
pub mod export;
pub mod fork;
pub mod import;
pub mod lineage;
pub mod mcp;
pub mod minds;
pub mod new;
pub mod null_model;
pub mod parse;
pub mod report;
pub mod resume;
pub mod run;
pub mod status;
pub mod sweep;
pub mod verify;
pub mod watch;
