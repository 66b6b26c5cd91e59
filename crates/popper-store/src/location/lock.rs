//! One writing process a database.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use popper_discovery::StoreError;

use super::Place;

/// A lock on the file `NAME.lock` beside the database. The operating system gives it back when the process ends, however it ends.
/// The file stays; to remove it would let two processes lock two files of that name.
///
/// It is never taken on the database itself: closing any descriptor of that file drops the locks of `SQLite`.
#[derive(Debug)]
pub(crate) struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock, or says at once that another process has it.
    pub(crate) fn take(database: &Path, place: &Place) -> Result<Self, StoreError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(beside(database, ".lock"))
            .map_err(|error| place.io(error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(place.locked()),
            Err(TryLockError::Error(error)) => Err(place.io(error)),
        }
    }
}

/// The path with something after its name.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}
