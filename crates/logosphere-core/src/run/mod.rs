//! Asks the minds, round by round, and writes down what happens before anything depends on it.

mod calls;
mod control;
mod orchestrator;
mod recorder;

pub use control::{Clock, Control, Progress, RoundSummary, RunError, RunSummary};
pub use orchestrator::Orchestrator;
