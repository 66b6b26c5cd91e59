//! The commands, one file each, with the arguments and the function.

pub mod check;
pub mod conserved;
pub mod demo;
pub mod estimate;
pub mod explain;
pub mod export;
pub mod lab;
pub mod mcp;
pub mod new;
pub mod queue;
pub mod report;
pub mod resume;
pub mod retest;
pub mod run;
pub mod simulate;
pub mod status;
pub mod universe;
pub mod verify;
pub mod worker;
