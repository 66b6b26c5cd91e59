//! The journal that a command reads: its path, its errors, and the files that an output must not replace.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure};
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::ReadError;
use logosphere_core::verify::VerifyError;

use crate::error::Error;

/// The journal that is meant: a file, or that of an experiment's directory.
pub fn path(given: &Path) -> PathBuf {
    Experiment::journal_at(given)
}

/// Whether it is a device such as `/dev/zero`: a journal ends.
fn is_endless(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// What an output of a command on this journal must not replace: the journal, and everything else that its experiment
/// cannot make again.
pub fn kept(given: &Path) -> Vec<PathBuf> {
    let journal = path(given);
    let experiment = (journal.ends_with("logs/experiment.jsonl"))
        .then(|| journal.parent()?.parent())
        .flatten()
        .and_then(|path| Experiment::open(path).ok());
    let files = experiment.into_iter().flat_map(|experiment| {
        let report = experiment.report();
        experiment
            .files()
            .into_iter()
            .filter(move |file| *file != report)
    });
    let mut kept: Vec<_> = files.collect();
    kept.push(journal);
    kept
}

/// Opens a journal for reading.
pub fn open(given: &Path) -> Result<BufReader<File>, Failure> {
    let path = path(given);
    if is_endless(&path) {
        return Err(Failure::usage(Error::Device { path }));
    }
    let file = File::open(&path).map_err(|source| Failure::usage(Error::Read { path, source }))?;
    Ok(BufReader::new(file))
}

/// A file that cannot be read is a failure, a journal that says something else a check that did not hold.
pub fn does_not_hold(given: &Path, source: VerifyError) -> Failure {
    let exit = match &source {
        VerifyError::Write(_) => Exit::Failed,
        VerifyError::Read(error) => exit_of(error),
        _ => Exit::CheckFailed,
    };
    let path = path(given);
    Failure::new(exit, Error::Replay { path, source })
}

/// A file that cannot be read is a failure, one of another program a wrong input, a damaged one a check that did not hold.
pub fn exit_of(error: &ReadError) -> Exit {
    match error {
        ReadError::Io { .. } => Exit::Failed,
        error if error.is_foreign() => Exit::Usage,
        _ => Exit::CheckFailed,
    }
}
