//! The data that the loop and a proposer exchange: configuration, snapshot, proposal, and the summary of an iteration.

mod config;
mod knowledge;
mod proposer;
mod summary;

pub use config::{LoopConfig, RunConfig};
#[cfg(feature = "report")]
pub(crate) use knowledge::needs;
pub use knowledge::{
    Accepted, Capabilities, FailureExample, Falsified, Snapshot, Totals, Undecided,
    UniverseContract,
};
pub(crate) use proposer::Cursor;
pub use proposer::{Proposal, Proposer, Step, StoredLaws};
pub use summary::{Selected, ShownLaws, Summary, Verdicts};
