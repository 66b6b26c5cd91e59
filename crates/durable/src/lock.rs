use std::error::Error;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::Disk;

/// A lock on a file. It ends when it is dropped, and with the process, however that ends.
///
/// The file stays: to remove it would let two processes lock two files of one name.
#[derive(Debug)]
pub struct Lock(File);

/// The reason why a lock was not taken.
#[derive(Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The lock is held by another process.
    Held {
        /// The process, if the file begins with its number.
        pid: Option<u32>,
    },
    /// A link, a pipe or a folder is in the file's place.
    NotPlain,
    /// The file cannot be opened or locked.
    Io(io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { pid: Some(pid) } => write!(f, "it is locked by pid {pid}"),
            Self::Held { pid: None } => f.write_str("it is locked by another process"),
            Self::NotPlain => f.write_str("it is not a plain file"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for LockError {}

impl From<LockError> for io::Error {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Io(error) => error,
            LockError::Held { .. } => Self::new(io::ErrorKind::WouldBlock, error),
            LockError::NotPlain => Self::other(error),
        }
    }
}

impl Disk {
    /// Takes the lock on the file at `path`, which is created if need be, or says at once that another process has it. What the
    /// file holds stays.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn lock(&self, path: &Path) -> Result<Lock, LockError> {
        self.take_lock(path, true)
    }

    /// Checks that the lock could be taken now. Nothing is written, and a file that does not exist is locked by no one.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn check_lock(&self, path: &Path) -> Result<(), LockError> {
        match self.take_lock(path, false) {
            Err(LockError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            taken => taken.map(drop),
        }
    }

    fn take_lock(&self, path: &Path, create: bool) -> Result<Lock, LockError> {
        if !self.is_plain(path) {
            return Err(LockError::NotPlain);
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(create);
        let mut file = self.open(path, &mut options).map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Some systems let no other process read a file that is locked.
                let read = file.read_to_string(&mut text);
                let pid = read.ok().and_then(|_| text.trim().parse().ok());
                Err(LockError::Held { pid })
            }
            Err(TryLockError::Error(error)) => Err(LockError::Io(error)),
        }
    }
}

impl Lock {
    /// Writes a text into the file, such as the number of this process, for those that do not get the lock.
    ///
    /// # Errors
    /// It cannot be written; the lock is held all the same.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.rewind()?;
        self.0.write_all(text.as_bytes())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // To close the file is not enough while a process that was just forked has it, too.
        let _ = self.0.unlock();
    }
}
