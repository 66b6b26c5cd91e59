//! The commands, one file each: its arguments and `execute`. No command uses another.

pub mod analyze;
pub mod demo;
pub mod diff;
pub mod export;
pub mod forecast;
pub mod init_check;
pub mod leak;
pub mod lineage;
pub mod minds;
pub mod new;
pub mod null;
pub mod parse;
pub mod replay;
pub mod report;
pub mod resume;
pub mod run;
pub mod verify;
