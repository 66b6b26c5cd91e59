//! The measures of a run, and the null models that they are compared with.

mod analysis;
pub mod lineage;
pub mod metrics;
pub mod nulls;

pub use analysis::{Analysis, AnalysisPlan, Measured, MeasuredPoint, NullFacts, NullProgress};
