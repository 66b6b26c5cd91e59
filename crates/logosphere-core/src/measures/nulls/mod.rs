//! Null models: runs in which chance alone decides.
//!
//! A measure of one run proves little: in a small pool copying alone makes texts similar, without any selection.
//! [`compare`] makes null runs of [`DescentModel`], in which each text that was read is equally likely to be passed on,
//! and returns the position of the run among them as tests in two families, with a verdict.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/two_rounds.rs"));
//! use std::ops::ControlFlow;
//!
//! use logosphere_core::Transcript;
//! use logosphere_core::measures::nulls::{NullPlan, compare};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let run = Transcript::read(&two_rounds()[..])?;
//! let compared = compare(&run, &NullPlan::default(), &mut |_| ControlFlow::Continue(()));
//! let verdict = compared.and_then(|compared| compared.verdict).ok_or("stopped")?;
//! // Two rounds of three minds are too few for a test.
//! assert!(verdict.sentence.starts_with("Not tested: only "));
//! # Ok(())
//! # }
//! ```
//!
//! [`ShuffleModel`] tests another question: whether what is written depends on what was read. [`closed_form`] has
//! theoretical results for copiers.

mod agreement;
mod choice;
pub mod closed_form;
mod comparison;
mod descent;
mod donors;
mod edit;
mod family;
mod kind;
mod parallel;
mod repeats;
mod shuffle;
mod statistics;

pub use choice::{Choice, LEAST_VARIANCE, Score};
pub(crate) use comparison::{AskedComparison, compare_in};
pub use comparison::{
    DEFAULT_RUNS, Feature, FeatureKind, MIN_RUNS, MOST_OPERATIONS, NullComparison, NullFacts,
    NullPlan, compare,
};
pub use descent::DescentModel;
pub use edit::{Edit, EditSource};
pub use family::{Family, NullTest};
pub use kind::{Null, UnknownNull};
pub use parallel::NullProgress;
pub use repeats::{POWER_RUNS, POWER_WEIGHT, RepeatPlan, RepeatTest, RepeatTests};
pub use shuffle::ShuffleModel;
pub use statistics::{NullBand, holm, two_sided_p, upper_p};
