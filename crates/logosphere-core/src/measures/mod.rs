//! The measures of a run, and the null models that they are compared with.

mod analysis;
pub mod embedding;
mod lcs;
pub mod lineage;
mod lists;
pub mod metrics;
pub mod nulls;
pub mod verdict;

pub use analysis::{Analysis, AnalysisPlan, Measured, MeasuredPoint};
