//! The interface of a store of calls.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CallKey, CallRecord};

/// A store of calls.
pub trait CallStore: Send {
    /// The reply or count that was kept under `key`; failed calls are kept but never given.
    fn get(&self, key: &CallKey) -> Option<Arc<CallRecord>>;

    /// Keeps calls, in their order. When this returns they are as safe as the store makes them.
    ///
    /// # Errors
    /// None of them is kept.
    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError>;
}

/// A panic elsewhere leaves a map as good as it was.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason that calls cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be read or written.
    #[error("cannot {verb} {}", path.display())]
    Io {
        /// The action, such as `write`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A line that is not the last does not hold a call: the file is damaged, and nothing of it is trusted.
    #[error("{}, line {line}: expected one call: {message}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault of the line.
        message: String,
    },
    /// The file is of a version that this crate does not read.
    #[error("{}, line {line}: schema_version is {found}, this program reads {expected}", path.display())]
    SchemaVersion {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The version of the file.
        found: u64,
        /// The version of this program.
        expected: u32,
    },
}
