//! The similarity of two texts, measured without a judge.
//!
//! [`chrf_pp`] and [`rouge_l`] give the same numbers as the usual Python packages. [`literal_recall`] is the kept share of
//! literals, which a paraphrase must not change: numbers, names, negations, quoted code.

mod chrf;
pub mod cost;
mod literals;
mod rouge;
pub mod stats;
pub(crate) mod tokens;

pub use chrf::chrf_pp;
pub use literals::literal_recall;
pub use rouge::rouge_l;
