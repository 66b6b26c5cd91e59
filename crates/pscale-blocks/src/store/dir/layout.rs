use std::fs;
use std::path::{Path, PathBuf};

use durable::{Lock, LockError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::disk::{self, Disk};
use crate::store::SCHEMA_VERSION;
use crate::{BlockName, StoreError};

/// The places of files in a data directory.
#[derive(Debug)]
pub(super) struct Layout {
    pub root: PathBuf,
}

/// The content of `store.json`.
#[derive(Serialize, Deserialize)]
struct Schema {
    schema_version: u64,
}

impl Layout {
    pub fn blocks(&self) -> PathBuf {
        self.root.join("blocks")
    }

    pub fn logs(&self) -> PathBuf {
        self.root.join("log")
    }

    pub fn block(&self, name: &BlockName) -> PathBuf {
        self.blocks().join(format!("{name}.json"))
    }

    pub fn log(&self, name: &BlockName) -> PathBuf {
        self.logs().join(format!("{name}.jsonl"))
    }

    /// The older entries of revisions `first` to `last`.
    pub fn archive(&self, name: &BlockName, first: u64, last: u64) -> PathBuf {
        self.logs().join(format!("{name}.{first}-{last}.jsonl.gz"))
    }

    pub fn labels(&self, name: &BlockName) -> PathBuf {
        self.root.join("labels").join(format!("{name}.json"))
    }

    pub fn backups(&self) -> PathBuf {
        self.root.join("backups")
    }

    pub fn backup(&self, name: &BlockName) -> PathBuf {
        self.backups().join(format!("{name}.json"))
    }

    /// A free place for a block that was deleted.
    pub fn trash(&self, name: &BlockName, at: Timestamp) -> PathBuf {
        free(&self.root.join("trash"), name, at)
    }

    /// A free place for a file that is not a block.
    pub fn quarantine(&self, name: &BlockName, at: Timestamp) -> PathBuf {
        free(&self.root.join("quarantine"), name, at)
    }

    /// Makes the folders and `store.json`, and removes the unfinished files of an earlier process.
    pub fn prepare(&self, disk: &Disk) -> Result<(), StoreError> {
        for folder in ["blocks", "log", "labels", "trash", "quarantine", "backups"] {
            disk.make_folder(&self.root.join(folder))?;
        }
        for folder in ["", "blocks", "log", "labels", "backups"] {
            disk.0.sweep(&self.root.join(folder));
        }
        let path = self.schema();
        if disk::read(&path)?.is_none() {
            let schema_version = u64::from(SCHEMA_VERSION);
            let schema = serde_json::to_vec(&Schema { schema_version }).unwrap_or_default();
            disk.replace(&path, &schema)?;
            disk.settle(&path)?;
            // The folder above may be another's, who lets nobody open it.
            let _ = disk.settle(&self.root);
        }
        Ok(())
    }

    /// The file that says which version of this layout the directory has.
    pub fn schema(&self) -> PathBuf {
        self.root.join("store.json")
    }

    /// Whether this program knows the directory's layout; one that is new has any.
    pub fn check_schema(&self) -> Result<(), StoreError> {
        let path = self.schema();
        let Some(bytes) = disk::read(&path)? else {
            return Ok(());
        };
        let known = SCHEMA_VERSION;
        let reason = match serde_json::from_slice(&bytes) {
            Ok(Schema { schema_version: 1 }) => return Ok(()),
            Ok(Schema { schema_version: 0 }) => "there is no schema version 0".to_owned(),
            Ok(Schema {
                schema_version: found,
            }) => return Err(StoreError::Newer { path, found, known }),
            Err(error) => format!("expected {{\"schema_version\": 1}}: {error}"),
        };
        Err(StoreError::Corrupt { path, reason })
    }

    /// Takes the lock, in a file that holds this process's number.
    pub fn lock(&self, disk: &Disk) -> Result<Lock, StoreError> {
        let path = self.lock_file();
        let mut lock = disk
            .0
            .lock(&path)
            .map_err(|error| self.locked(&path, error))?;
        // The lock counts, the number is only told.
        let _ = lock.write(&std::process::id().to_string());
        Ok(lock)
    }

    /// Whether the lock could be taken now. Nothing is written.
    pub fn check_lock(&self, disk: &Disk) -> Result<(), StoreError> {
        let path = self.lock_file();
        (disk.0.check_lock(&path)).map_err(|error| self.locked(&path, error))
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    fn locked(&self, path: &Path, error: LockError) -> StoreError {
        let dir = self.root.clone();
        match error {
            LockError::Held { pid } => StoreError::Locked { dir, pid },
            LockError::NotPlain => StoreError::Corrupt {
                path: path.to_owned(),
                reason: error.to_string(),
            },
            error => StoreError::io(path)(error.into()),
        }
    }
}

fn free(folder: &Path, name: &BlockName, at: Timestamp) -> PathBuf {
    let at = at.strftime("%Y%m%dT%H%M%SZ");
    let first = folder.join(format!("{name}-{at}.json"));
    let later = (2_u64..).map(|number| folder.join(format!("{name}-{at}-{number}.json")));
    std::iter::once(first)
        .chain(later)
        .find(|path| fs::symlink_metadata(path).is_err())
        .unwrap_or_default()
}
