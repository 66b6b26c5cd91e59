//! A proposer that needs no model: it walks the claim grammar from small to large, guided by what was refuted and what survived.
//!
//! It knows what the snapshot shows and nothing else: no rule, no verdict but those. A law that a piece of a run seen so far
//! breaks is not proposed, and none is proposed twice.

mod additive;
mod draft;
mod elimination;
mod grammar;
mod mutation;
mod observations;
mod proposer;

pub(crate) use elimination::{eliminate, primitive};
pub use proposer::EnumerativeProposer;
