//! What is measured on a run, and what chance alone would give.

mod analysis;
pub mod lineage;
pub mod metrics;
pub mod nulls;

#[cfg(feature = "report")]
pub(crate) use analysis::compare;
pub use analysis::{Analysis, AnalysisPlan, Measured, MeasuredPoint, NullFacts};
