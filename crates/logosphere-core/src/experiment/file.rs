//! Files that are there as a whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

use durable::Disk;

use super::error::ExperimentError;

/// The files of an experiment. Their names begin with the prefix until they are whole.
pub(super) const DISK: Disk = Disk::new(".draft-");

/// What may be done to a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExistingFile {
    /// It is replaced.
    Replace,
    /// It stays, and nothing is written.
    Spare,
}

/// Writes a file to the disk, then moves it to its place in one step.
pub(super) fn write(path: &Path, content: &[u8], old: ExistingFile) -> Result<(), ExperimentError> {
    let written = match old {
        ExistingFile::Replace => DISK.replace(path, content),
        ExistingFile::Spare => DISK.create(path, content),
    };
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists if old == ExistingFile::Spare => ExperimentError::Exists {
            path: path.to_owned(),
        },
        _ => ExperimentError::Write {
            path: path.to_owned(),
            source,
        },
    })
}

/// A file's bytes; none if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, ExperimentError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ExperimentError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Makes a directory and those that it lies in, where they are not there.
pub(super) fn make_folder(path: &Path) -> Result<(), ExperimentError> {
    fs::create_dir_all(path).map_err(|source| ExperimentError::Write {
        path: path.to_owned(),
        source,
    })
}
