//! Tests of the engine, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod axes;
mod calibrate;
mod cost;
mod dataset;
mod desk;
mod flags;
mod inputs;
mod isolation;
mod judge;
mod judge_hostile;
mod lint;
mod offline;
mod pipeline;
mod player;
mod procedure;
mod prompts;
mod published_rows;
mod report;
mod rubric;
mod run_directory;
mod samples;
mod stats;
mod store;
mod temperature;
mod tokens;
mod vectors;
mod wire;
