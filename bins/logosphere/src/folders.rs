//! The folders of experiments: a run has a journal, and an experiment that can run has seed messages.

use std::path::{Path, PathBuf};

use bin_support::runs::{RunArg, RunFolders};
use bin_support::{Failure, Session};

/// The experiments with a journal.
pub const RUNS: RunFolders = RunFolders::new("logs/experiment.jsonl");

/// The experiments with seed messages.
const SEEDED: RunFolders = RunFolders::new("init.md");

/// Returns the experiment with this path or name, whether it has a run or not.
pub fn experiment(given: &Path, session: &Session) -> Result<PathBuf, Failure> {
    SEEDED.find(&argument(given), session)
}

/// Returns the run with this path or name.
pub fn run(given: &Path, session: &Session) -> Result<PathBuf, Failure> {
    RUNS.find(&argument(given), session)
}

/// Returns the newest experiment, and prints its path to stderr.
pub fn newest_experiment(session: &Session) -> Result<PathBuf, Failure> {
    SEEDED.find(&RunArg::default(), session)
}

fn argument(given: &Path) -> RunArg {
    let mut argument = RunArg::default();
    argument.run = Some(given.to_owned());
    argument
}
