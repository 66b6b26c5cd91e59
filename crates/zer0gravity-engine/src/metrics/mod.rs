//! The similarity of two texts, measured without a judge.
//!
//! [`chrf_pp`] and [`rouge_l`] give the same numbers as the usual Python packages. [`compare_atoms`] finds what the
//! decoded text lost, changed or invented of the commitments that a paraphrase must keep.

mod atoms;
mod chrf;
pub mod cost;
mod rouge;
pub mod stats;
pub(crate) mod tokens;

pub use atoms::{atoms_of, compare_atoms};
pub use chrf::chrf_pp;
pub use rouge::rouge_l;
