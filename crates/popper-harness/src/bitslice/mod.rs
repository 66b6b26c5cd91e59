//! The bit-parallel engine: many universes side by side, one bit lane each.
//!
//! States are bit planes of the symbol codes ([`Batch`]), the rule is a [`Circuit`], a law on rings of one length a [`BitProgram`]
//! that runs a whole batch at once. What it says is what the reference evaluator says, lane by lane.

#![expect(
    clippy::inline_always,
    reason = "code reached from `dispatch` is compiled for the machine's vector instructions only where it is inlined there"
)]

mod batch;
mod circuit;
mod claim;
mod clear;
mod compile;
mod diagram;
mod distance;
mod emit;
mod enumerate;
mod linear;
mod number;
mod observe;
mod plan;
mod run;
mod simd;
mod smallest;
#[cfg(test)]
mod tests;
mod wide;
mod word;

pub use crate::law::evaluate::Horizon;
pub use batch::Batch;
pub use circuit::Circuit;
pub use distance::{FAR, NOT_ADMITTED};
pub use enumerate::Starts;
pub use plan::{BitProgram, Outcome, Scratch};
pub use smallest::{Least, smallest};
pub use word::{LANES, Lanes, WORDS};
