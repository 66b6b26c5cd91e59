//! The run of an experiment: the orchestrator, its controls and the recorder of events.

mod calls;
mod control;
mod orchestrator;
mod recorder;

pub use control::{Progress, RoundSummary, RunControl, RunError, RunSummary};
pub use orchestrator::Orchestrator;
