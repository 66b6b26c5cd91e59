//! The run of an experiment: the orchestrator, its controls and the recorder of events.

mod call;
mod calls;
mod control;
mod orchestrator;
mod recorder;
mod waiting;

pub use control::{Progress, RoundSummary, RunControl, RunError, RunSummary};
pub use orchestrator::Orchestrator;
