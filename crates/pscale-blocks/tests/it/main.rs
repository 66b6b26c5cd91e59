//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod bad_input;
mod edits;
mod grow;
mod layers;
mod look;
mod migrate;
mod parse;
mod random;
mod vectors;
