//! The reading of journals: checks of the rebuilt run, the search for leaks, comparisons, resuming, and the transcript for
//! analyses.

mod compare;
mod exposure;
mod fold;
mod growing;
pub mod leak;
mod process;
mod rebuild;
mod resume;
pub mod state;
pub(crate) mod transcript;

pub use compare::{Comparison, Difference, compare};
pub use exposure::{Exposure, UnknownExposure};
#[cfg(feature = "report")]
pub(crate) use fold::{Fold, Observer};
pub use growing::GrowingRun;
pub use rebuild::{VerifyError, VerifyReport, verify, verify_to};
pub use resume::{ResumeError, ResumedRun};
pub(crate) use transcript::Transcript;
pub use transcript::{EndedRound, Message, MindCall};
