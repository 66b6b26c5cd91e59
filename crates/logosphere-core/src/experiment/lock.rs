use durable::{Lock, LockError};

use super::directory::Experiment;
use super::error::ExperimentError;
use super::file;

/// A lock that keeps other processes out of an experiment until it is dropped or this process ends.
#[derive(Debug)]
pub struct ExperimentLock {
    _lock: Lock,
}

impl Experiment {
    /// Locks the experiment, and removes drafts of files that a killed process left. `pid` is the id of this process,
    /// which other processes report.
    ///
    /// # Errors
    /// [`ExperimentError::InUse`], and [`ExperimentError::Write`] if no lock file can be made, or a file that a run writes is a
    /// link. [`ExperimentError::Irregular`] if one is a pipe, a device or a folder.
    pub fn lock(&self, pid: u32) -> Result<ExperimentLock, ExperimentError> {
        file::check_place(&self.path, &self.effective())?;
        for changed in [self.journal(), self.spool()] {
            file::check_change(&self.path, &changed)?;
        }
        file::make_folder(&self.path, &self.logs())?;
        let disk = file::disk(&self.path);
        let taken = disk.lock(&self.lock_file());
        let mut lock = taken.map_err(|error| self.lock_error(error))?;
        let written = lock.write(&format!("{pid}\n"));
        written.map_err(|source| self.lock_error(LockError::Io(source)))?;
        for folder in [self.path(), &self.logs()] {
            disk.sweep(folder);
        }
        Ok(ExperimentLock { _lock: lock })
    }

    /// Refuses an experiment that another process works in. Nothing is written, and a process that takes the lock meanwhile gets
    /// it.
    ///
    /// # Errors
    /// As [`Experiment::lock`].
    pub fn check_free(&self) -> Result<(), ExperimentError> {
        let free = file::disk(&self.path).check_lock(&self.lock_file());
        free.map_err(|error| self.lock_error(error))
    }

    /// Converts the error of a lock.
    fn lock_error(&self, error: LockError) -> ExperimentError {
        match error {
            LockError::Held { pid } => ExperimentError::InUse {
                path: self.path.clone(),
                pid,
            },
            error => ExperimentError::Write {
                path: self.lock_file(),
                source: error.into(),
            },
        }
    }
}
