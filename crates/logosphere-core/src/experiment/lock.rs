use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use super::{Experiment, ExperimentError, file};

/// Keeps other processes out of an experiment until it is dropped, or this process ends in whatever way.
#[derive(Debug)]
pub struct ExperimentLock {
    _file: File,
}

impl Experiment {
    /// Keeps other processes out, and removes the drafts of files that one left here when it was killed. `pid` is this
    /// process, for what others are told.
    ///
    /// # Errors
    /// [`ExperimentError::InUse`], and [`ExperimentError::Write`] where there can be no lock file.
    pub fn lock(&self, pid: u32) -> Result<ExperimentLock, ExperimentError> {
        file::make_folder(&self.logs())?;
        let mut lock = self.acquire()?;
        let written = lock.set_len(0).and_then(|()| writeln!(lock, "{pid}"));
        written.map_err(|source| self.unlockable(source))?;
        file::remove_drafts(self.path())?;
        Ok(ExperimentLock { _file: lock })
    }

    /// Refuses an experiment that another process works in. Nothing is written.
    ///
    /// # Errors
    /// As [`Experiment::lock`].
    pub fn check_free(&self) -> Result<(), ExperimentError> {
        if self.lock_file().exists() {
            drop(self.acquire()?);
        }
        Ok(())
    }

    fn acquire(&self) -> Result<File, ExperimentError> {
        let mut lock = open(&self.lock_file()).map_err(|source| self.unlockable(source))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Some systems let nobody read a file that is locked.
                let _ = lock.read_to_string(&mut text);
                Err(ExperimentError::InUse {
                    path: self.path.clone(),
                    pid: text.trim().parse().ok(),
                })
            }
            Err(TryLockError::Error(source)) => Err(self.unlockable(source)),
        }
    }

    fn unlockable(&self, source: io::Error) -> ExperimentError {
        let path = self.lock_file();
        ExperimentError::Write { path, source }
    }
}

/// What is in it stays until the lock is had: another process may have written it.
fn open(path: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
}
