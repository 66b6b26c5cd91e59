//! The state of a run, computed from its events alone, and the events that follow from it.
//!
//! Running, resuming and verifying share it. A run applies the events that it writes. A resumed run first applies the
//! events of the journal. A verification compares each event of the journal with the expected one.

mod call;
mod error;
mod fork;
mod run_state;

pub use call::{CallPlan, Outcome};
pub use error::StateError;
pub use run_state::{RunState, Step};
