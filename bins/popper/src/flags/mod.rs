//! The flags that several commands share.

mod fleet;
mod location;
mod run;
mod verdicts;

pub use fleet::{FleetFlags, MOST_THREADS, TimingFlags, job_limit};
pub use location::{LocationFlags, ServerFlag};
pub use run::{DEFAULT_ITERATIONS, ProposerName, RunFlag, RunName, RunOptions};
pub use verdicts::UniverseFlag;

/// Leaves flags that a run in the database decides out of a short help.
pub fn decided(flag: clap::Arg) -> clap::Arg {
    let is_decided =
        ["batch", "max_tests", "universe", "proposer"].contains(&flag.get_id().as_str());
    if is_decided {
        flag.hide_short_help(true)
    } else {
        flag
    }
}
