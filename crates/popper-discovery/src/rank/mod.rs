//! Proposals checked and brought into rows, and the order in which they are tested.

mod admission;
mod ranking;

pub use admission::Candidate;
pub(crate) use admission::{sha256, validate_proposal};
pub(crate) use ranking::Ranker;
pub use ranking::{Features, Ranked, Weights};
