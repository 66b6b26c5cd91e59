//! The validation of proposals, which turns them into rows, and the order of their tests.

mod admission;
mod claim;
mod ranking;

pub use admission::Candidate;
pub(crate) use admission::{sha256, validate_proposal};
pub(crate) use claim::TimelessClaim;
pub(crate) use ranking::Ranker;
pub use ranking::{Features, Ranked, Weights};
