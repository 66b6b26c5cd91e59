//! The program as its users run it.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod atoms;
mod axes;
mod bad_input;
mod batch;
mod budget;
mod calibrate;
mod caps;
mod changed_calls;
mod ci;
mod compare;
mod concurrency;
mod contest;
mod cost;
mod data_loss;
mod env_file;
mod exit_codes;
mod faults;
mod flags;
mod help;
mod inspect;
mod keys;
mod label;
mod language;
mod local;
mod matrix;
mod mcp;
mod offline;
mod procedure;
mod program;
mod recorded;
mod replay;
mod report;
mod rescore;
mod resume;
mod rubric;
mod run;
mod score;
mod statistics;
mod summary;
mod temperature;
mod unfinished;
mod watch;
