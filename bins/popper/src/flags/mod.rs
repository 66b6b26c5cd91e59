//! The flags that several commands share.

mod fleet;
mod location;
mod run;
mod verdicts;

pub use fleet::{FleetFlags, MOST_THREADS, TimingFlags, job_limit};
pub use location::{LocationFlags, ServerFlag};
pub use run::{DEFAULT_ITERATIONS, ProposerName, RunFlag, RunOptions};
pub use verdicts::{TableFlag, UniverseFlag};
