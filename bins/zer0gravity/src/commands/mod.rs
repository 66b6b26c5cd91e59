//! The commands, one file each with its flags.

pub mod atoms;
pub mod board;
pub mod calibrate;
pub mod compare;
pub mod demo;
pub mod estimate;
pub mod export;
pub mod label;
pub mod levels;
pub mod lint;
pub mod matrix;
pub mod mcp;
pub mod report;
pub mod rescore;
pub mod resume;
pub mod rules;
pub mod run;
pub mod score;
pub mod seal;
pub mod status;
