//! The location of a database, and errors that name it.

use std::io;
use std::path::Path;

use popper_discovery::store::StoreError;
use sqlx::migrate::MigrateError;

/// `SQLite`'s primary result codes, the low byte of an extended one.
mod code {
    pub(super) const PERM: u32 = 3;
    pub(super) const BUSY: u32 = 5;
    pub(super) const LOCKED: u32 = 6;
    pub(super) const READONLY: u32 = 8;
    pub(super) const CORRUPT: u32 = 11;
    pub(super) const FULL: u32 = 13;
    pub(super) const CANTOPEN: u32 = 14;
    pub(super) const NOTADB: u32 = 26;
    /// Extended: a read that ended too early, so the file is shorter than it says.
    pub(super) const SHORT_READ: u32 = 0x020a;
    /// Extended: the index of the write-ahead log could not grow.
    pub(super) const SHM_SIZE: u32 = 0x130a;
}

/// The path of a database, for messages.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseLocation(String);

impl DatabaseLocation {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.display().to_string())
    }

    pub(crate) fn locked(&self) -> StoreError {
        StoreError::Locked {
            place: self.0.clone(),
        }
    }

    pub(crate) fn missing(&self) -> StoreError {
        StoreError::Missing {
            place: self.0.clone(),
        }
    }

    pub(crate) fn newer(&self, found: i64, known: i64) -> StoreError {
        StoreError::Newer {
            place: self.0.clone(),
            found,
            known,
        }
    }

    pub(crate) fn corrupt(&self, message: impl Into<String>) -> StoreError {
        StoreError::Corrupt {
            place: self.0.clone(),
            message: message.into(),
        }
    }

    fn read_only(&self) -> StoreError {
        StoreError::ReadOnly {
            place: self.0.clone(),
        }
    }

    fn full(&self) -> StoreError {
        StoreError::Full {
            place: self.0.clone(),
        }
    }

    /// An error of the operating system.
    pub(crate) fn io(&self, error: io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::NotFound => self.missing(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => self.read_only(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => self.full(),
            _ => self.other(error),
        }
    }

    /// An error of the database.
    pub(crate) fn sql(&self, error: sqlx::Error) -> StoreError {
        let sqlx::Error::Database(said) = &error else {
            return match error {
                sqlx::Error::Io(error) => self.io(error),
                error => self.other(error),
            };
        };
        let extended = said.code().and_then(|code| code.parse::<u32>().ok());
        let Some(extended) = extended else {
            return self.other(error);
        };
        match (extended, extended & 0xff) {
            (code::SHORT_READ, _) | (_, code::CORRUPT | code::NOTADB) => {
                self.corrupt(said.message())
            }
            (code::SHM_SIZE, _) | (_, code::FULL) => self.full(),
            (_, code::BUSY | code::LOCKED) => self.locked(),
            (_, code::READONLY | code::PERM | code::CANTOPEN) => self.read_only(),
            _ => self.other(error),
        }
    }

    /// An error of the migrations.
    pub(crate) fn migration(&self, error: MigrateError) -> StoreError {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                self.sql(error)
            }
            MigrateError::Dirty(_) | MigrateError::VersionMismatch(_) => {
                self.corrupt(error.to_string())
            }
            error => self.other(error),
        }
    }

    fn other(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
        StoreError::Database {
            place: self.0.clone(),
            source: source.into(),
        }
    }
}
