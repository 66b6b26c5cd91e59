//! The folders of experiments: a run has a journal, and an experiment that can run has seed messages.

use std::path::{Path, PathBuf};

use bin_support::runs::{RunArg, RunFolders};
use bin_support::{Failure, Session};
use logosphere_core::experiment::ExperimentError;

use crate::foreign;

/// The experiments with a journal.
const RUNS: RunFolders = RunFolders::new("logs/experiment.jsonl");

/// The folders that can be measured: experiments with a journal, and imported messages.
pub const MEASURED: RunFolders = RUNS.or("imported.jsonl");

/// The experiments with seed messages.
const SEEDED: RunFolders = RunFolders::new("init.md");

/// Returns the experiment with this path or name, whether it has a run or not.
pub fn experiment(given: &Path, session: &Session) -> Result<PathBuf, Failure> {
    let found = SEEDED
        .or("imported.jsonl")
        .find(&argument(given), session)?;
    not_imported(found)
}

/// Returns the run with this path or name.
pub fn run(given: &Path, session: &Session) -> Result<PathBuf, Failure> {
    recorded(&argument(given), session)
}

/// Returns the run that an argument names, which has a journal.
pub fn recorded(argument: &RunArg, session: &Session) -> Result<PathBuf, Failure> {
    match argument.run {
        // A name may be that of imported messages, which is said.
        Some(_) => not_imported(MEASURED.find(argument, session)?),
        None => RUNS.find(argument, session),
    }
}

/// Refuses imported messages.
fn not_imported(found: PathBuf) -> Result<PathBuf, Failure> {
    if foreign::file(&found).is_some() {
        return Err(Failure::usage(ExperimentError::Imported { path: found }));
    }
    Ok(found)
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
