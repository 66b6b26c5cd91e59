//! Sweeps: runs with several settings, each repeated with other seeds, and the tests of all of them.
//!
//! One run is one history. [`SweepPlan`] says which runs are made; each is an ordinary experiment.

mod cell;
mod effect;
mod folder;
#[cfg(feature = "report")]
mod page;
mod phases;
mod plan;
mod summary;
mod vectors;

pub use cell::{Axis, AxisValue, Cell};
pub use effect::Effect;
pub use folder::{SweepError, SweepFolder};
#[cfg(feature = "report")]
pub use page::page;
pub use phases::PhaseTable;
pub use plan::SweepPlan;
pub use summary::{CellFindings, CellSummary, CellVerdict, LEAST_POWER, SweepSummary};
pub use vectors::{EmbeddedCell, EmbeddedEffect};
