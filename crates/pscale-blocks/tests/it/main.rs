//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod archives;
mod bad_input;
mod bundle;
mod child;
mod conformance;
mod crash;
mod damage;
mod data_dir;
mod edits;
mod grow;
mod label_logs;
mod labels;
mod layers;
mod lazy;
mod look;
mod names;
mod parse;
mod prune;
mod random;
mod store;
mod two_processes;
mod undo;
mod upkeep;
mod upstream;
mod vectors;
