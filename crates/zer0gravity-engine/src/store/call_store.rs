//! The interface of a store of calls.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CallKey, CallRecord};

/// A store of calls.
pub trait CallStore: Send {
    /// Returns the stored reply or count for `key`. Failed calls are stored but never returned.
    ///
    /// # Errors
    /// [`StoreError`]: the store cannot be read. The call must not be made again.
    fn get(&self, key: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError>;

    /// Stores calls in order. After the return they are as durable as the store makes them.
    ///
    /// # Errors
    /// [`StoreError`]: no call of `records` is stored.
    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError>;
}

/// Locks a mutex, also after a panic of another thread: no panic leaves the data inconsistent.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason why calls cannot be stored or read.
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
    /// A line before the last one is not a call: the file is damaged and is not used.
    #[error("{}, line {line}: expected one call: {message}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem with the line.
        message: String,
    },
    /// A line does not hold its call any more: another program wrote to the file.
    #[error("{}, byte {offset}: the call that was there was changed: {message}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The offset of the line.
        offset: u64,
        /// The problem with the line.
        message: String,
    },
    /// The file is of a version that this crate does not read.
    #[error("{}, line {line}: schema_version is {found}, this program reads {expected}", path.display())]
    SchemaVersion {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The version in the file.
        found: u64,
        /// The version that this program reads.
        expected: u32,
    },
}
