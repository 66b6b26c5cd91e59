//! The tool loop: the model calls tools, the client runs them and hands the results back, until the model is done.

mod run;
mod toolbox;
mod turn;

pub use run::{LoopBounds, LoopError, LoopOutcome, LoopProgress, LoopStop};
pub use toolbox::{Step, ToolResult, Toolbox};
