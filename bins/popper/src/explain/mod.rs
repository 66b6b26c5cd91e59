//! The text about a verdict, a counterexample or a proof: what is claimed, and what refutes or proves it.

mod explainable;
mod lines;
mod proof;
mod refutation;
mod run;

pub use explainable::explainables;
pub use refutation::{from_start, text as refutation};

/// The least width of a text, in columns.
pub const NARROWEST: usize = 20;
