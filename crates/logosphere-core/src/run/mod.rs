//! The orchestrator: calls the minds round by round and writes each event before anything depends on it.

mod calls;
mod control;
mod orchestrator;
mod recorder;

pub use control::{Progress, RoundSummary, RunControl, RunError, RunSummary};
pub use orchestrator::Orchestrator;
