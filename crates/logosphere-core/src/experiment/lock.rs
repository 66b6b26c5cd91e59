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
    /// Keeps other processes out. `pid` is this process, for what others are told.
    ///
    /// # Errors
    /// [`ExperimentError::InUse`], and [`ExperimentError::Write`] where there can be no lock file.
    pub fn lock(&self, pid: u32) -> Result<ExperimentLock, ExperimentError> {
        let path = self.lock_file();
        file::make_folder(&self.logs())?;
        let failed = |source| ExperimentError::Write {
            path: path.clone(),
            source,
        };
        let mut lock = open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {
                let written = lock.set_len(0).and_then(|()| writeln!(lock, "{pid}"));
                written.map_err(failed)?;
                Ok(ExperimentLock { _file: lock })
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Some systems let nobody read a file that is locked.
                let _ = lock.read_to_string(&mut text);
                Err(ExperimentError::InUse {
                    path: self.path.clone(),
                    pid: text.trim().parse().ok(),
                })
            }
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
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
