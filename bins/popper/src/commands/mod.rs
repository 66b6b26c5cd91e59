//! The commands, a file each: its flags, and what it does.

pub mod check;
pub mod export;
pub mod new;
pub mod report;
pub mod resume;
pub mod retest;
pub mod run;
pub mod simulate;
pub mod span;
pub mod status;
pub mod universe;
pub mod verify;
