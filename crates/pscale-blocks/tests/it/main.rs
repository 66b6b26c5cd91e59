//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod child;
mod conformance;
mod crash;
mod damage;
mod layers;
mod names;
mod bad_input;
mod edits;
mod grow;
mod layers;
mod parse;
mod random;
mod two_processes;
mod undo;
mod vectors;
