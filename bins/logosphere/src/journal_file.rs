//! The journal that a command reads: its path, its errors, and the files that an output must not replace.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure};
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::{ReadError, open_journal};
use logosphere_core::verify::{ResumeError, VerifyError};

use crate::error::Error;

/// Returns the journal of a path: a file, or that of an experiment's directory.
pub fn path(given: &Path) -> PathBuf {
    Experiment::journal_at(given)
}

/// Returns whether a path is a device such as `/dev/zero`, which may have no end.
pub fn is_endless(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = std::fs::metadata(path).map(|found| found.file_type());
        kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Returns the files that an output must not replace: the journal, and all files of its experiment that cannot be
/// computed again.
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
    // A pipe that the user names is read; one in a folder may have come with it.
    let file = if given.is_dir() || path.ends_with("logs/experiment.jsonl") {
        open_journal(&path)
    } else {
        File::open(&path)
    };
    let file = file.map_err(|source| {
        Failure::usage(if given.is_dir() && source.kind() == ErrorKind::NotFound {
            let path = given.to_owned();
            Error::NoRun { path }
        } else {
            Error::Read { path, source }
        })
    })?;
    Ok(BufReader::new(file))
}

/// Returns the failure of a journal that does not verify. An unreadable file has another exit code than a failed check.
pub fn does_not_hold(given: &Path, source: VerifyError) -> Failure {
    let exit = match &source {
        VerifyError::Write(_) => Exit::Failed,
        VerifyError::Read(error) => exit_of(error),
        _ => Exit::CheckFailed,
    };
    let path = path(given);
    Failure::new(exit, Error::Replay { path, source })
}

/// Returns the exit code of a journal that cannot be read: a failure of the system, a wrong input or a failed check.
pub fn exit_of(error: &ReadError) -> Exit {
    match error {
        ReadError::Io { .. } => Exit::Failed,
        error if error.is_foreign() => Exit::Usage,
        _ => Exit::CheckFailed,
    }
}

/// Returns the failure of a journal: a usage error without a run, otherwise a check that failed.
pub fn not_resumable(error: ResumeError, journal: &Path) -> Failure {
    match error {
        ResumeError::Read(source) => {
            let path = journal.to_owned();
            Failure::new(exit_of(&source), Error::Journal { path, source })
        }
        ResumeError::State { .. } => Failure::new(Exit::CheckFailed, error),
        error => Failure::usage(error),
    }
}
