//! A proposer without a model: it enumerates the claim grammar by size, guided by the refuted and the accepted laws.
//!
//! The proposer reads the snapshot only, so it does not know the rule of the universe. It proposes no law that an observed
//! trajectory violates, and no law twice.

mod additive;
mod draft;
mod elimination;
mod grammar;
mod mutation;
mod observations;
mod proposer;
mod source;

pub(crate) use elimination::{eliminate, primitive};
pub use proposer::EnumerativeProposer;
