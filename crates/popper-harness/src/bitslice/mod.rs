//! The bit-parallel engine, which runs many universes side by side, one bit lane each.
//!
//! States are bit planes of the symbol codes ([`Batch`]), the rule is a [`Circuit`], and a law on rings of one length is a
//! [`BitProgram`], which runs a whole batch at once. Its results equal those of the reference evaluator, lane by lane.

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
mod initial_states;
mod linear;
mod minimal;
mod necklaces;
mod number;
mod observe;
mod program;
mod run;
mod simd;
#[cfg(test)]
mod tests;
mod wide;
mod word;

pub use crate::law::evaluate::Horizon;
pub use batch::Batch;
pub use circuit::Circuit;
pub use distance::{FAR, NOT_ADMITTED};
pub use initial_states::InitialStates;
pub use minimal::{MinimalViolation, smallest};
pub use necklaces::StartClasses;
pub use program::{BatchOutcome, BitProgram, Scratch};
pub use word::{BitSlice, LANES, WORDS};
