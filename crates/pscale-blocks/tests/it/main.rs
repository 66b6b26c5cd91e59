//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod bad_input;
mod bundle;
mod child;
mod conformance;
mod crash;
mod damage;
mod edits;
mod grow;
mod layers;
mod layers;
mod data_dir;
mod names;
mod look;
mod parse;
mod random;
mod two_processes;
mod undo;
mod vectors;
mod upkeep;
