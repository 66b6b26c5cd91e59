//! The reading of journals: checks of the rebuilt run, the search for leaks, comparisons, resuming, and the transcript for
//! analyses.

mod compare;
mod fold;
mod growing;
pub mod leak;
pub mod legacy_log;
mod process;
mod rebuild;
mod resume;
pub mod state;
pub(crate) mod transcript;

pub use compare::{Comparison, Difference, compare};
#[cfg(feature = "report")]
pub(crate) use fold::{Fold, Observer};
pub use growing::GrowingRun;
pub use rebuild::{VerifyError, VerifyReport, verify, verify_to};
pub use resume::{ResumeError, ResumedRun};
pub(crate) use transcript::Transcript;
pub use transcript::{EndedRound, Message, MindCall};
