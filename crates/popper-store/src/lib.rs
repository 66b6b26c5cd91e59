//! The database behind popper's discovery loop.

use std::path::Path;

use popper_discovery::StoreError;

/// What a database is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read and write; made if it is not there; no other process may write it meanwhile.
    Write,
    /// To read and write what exists already.
    WriteExisting,
    /// To read what exists already, also while another process writes it.
    Read,
}

/// A database.
#[derive(Debug)]
pub struct Database {}

impl Database {
    /// Opens a database file.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn open(_path: &Path, _access: Access) -> Result<Self, StoreError> {
        std::future::ready(Ok(Self {})).await
    }
}
