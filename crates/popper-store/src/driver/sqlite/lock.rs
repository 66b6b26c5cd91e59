//! The lock that allows one writing process for each database.

use std::path::{Path, PathBuf};

use durable::{Disk, Lock, LockError};
use popper_discovery::store::StoreError;

use super::location::DatabaseLocation;

/// Takes the lock on the file `NAME.lock` next to the database, or says at once that another process has it.
///
/// It is never taken on the database itself: closing any descriptor of that file drops the locks of `SQLite`.
pub(crate) fn lock(database: &Path, place: &DatabaseLocation) -> Result<Lock, StoreError> {
    let lock = Disk::default().lock(&with_ending(database, ".lock"));
    lock.map_err(|error| match error {
        LockError::Held { .. } => place.locked(),
        error => place.io(error.into()),
    })
}

/// Whether a process has this lock now.
pub(crate) fn is_held(database: &Path) -> bool {
    let checked = Disk::default().check_lock(&with_ending(database, ".lock"));
    matches!(checked, Err(LockError::Held { .. }))
}

/// The path with something after its name.
pub(crate) fn with_ending(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}
