use std::error::Error;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::Disk;
use crate::disk::is_same;

/// The times that a lock is tried while processes that only look at it share it, and the wait before each.
const TRIES: u32 = 100;
const WAIT: Duration = Duration::from_millis(1);

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
            Self::NotPlain => f.write_str("it is not a regular file"),
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
    /// file holds stays. Processes that look at the lock by [`Disk::check_lock`] are waited for, 100 ms at most.
    ///
    /// # Errors
    /// [`LockError`]. A link is refused, wherever it leads, and a hard link as [`Disk::inside`] says.
    pub fn lock(&self, path: &Path) -> Result<Lock, LockError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        // The holder may write into it.
        self.check_change(path).map_err(LockError::Io)?;
        let file = self.open_lock(path, &mut options)?;
        let mut tries = 0;
        loop {
            tries += 1;
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            // It can be shared as long as others only look at it.
            if tries == TRIES || !share(&file)? {
                return Err(held(file));
            }
            #[expect(clippy::disallowed_methods, reason = "a lock has no event to wait for")]
            thread::sleep(WAIT);
        }
    }

    /// Checks that the lock could be taken now. Nothing is written, and a file that does not exist is locked by no one.
    ///
    /// The lock is shared for a moment with all that look at it, and [`Disk::lock`] waits for them.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn check_lock(&self, path: &Path) -> Result<(), LockError> {
        match self.open_lock(path, OpenOptions::new().read(true)) {
            Err(LockError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(file) if share(&file)? => Ok(()),
            Ok(file) => Err(held(file)),
        }
    }

    /// Opens the file of a lock, which is a plain file and no link.
    fn open_lock(&self, path: &Path, options: &mut OpenOptions) -> Result<File, LockError> {
        self.check_place(path).map_err(LockError::Io)?;
        match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => return Err(LockError::NotPlain),
            _ => {}
        }
        let file = self.open(path, options).map_err(LockError::Io)?;
        // A link that was made in between was followed.
        let is_same = fs::symlink_metadata(path).and_then(|found| {
            let is_plain = found.is_file();
            Ok(is_plain && is_same(&found, &file.metadata()?))
        });
        match is_same {
            Ok(true) => Ok(file),
            Ok(false) => Err(LockError::NotPlain),
            Err(error) => Err(LockError::Io(error)),
        }
    }
}

/// Returns whether the lock could be shared for a moment.
fn share(file: &File) -> Result<bool, LockError> {
    let shared = match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    };
    shared.map_err(LockError::Io)
}

fn held(mut file: File) -> LockError {
    let mut text = String::new();
    // Some systems let no other process read a file that is locked.
    let read = file.read_to_string(&mut text);
    let pid = read.ok().and_then(|_| text.trim().parse().ok());
    LockError::Held { pid }
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
