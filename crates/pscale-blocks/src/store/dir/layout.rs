use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::disk::{self, DRAFT, Disk, make_folder};
use crate::store::SCHEMA_VERSION;
use crate::{BlockName, StoreError};

/// Where what is in a data directory.
#[derive(Debug)]
pub(super) struct Layout {
    pub root: PathBuf,
}

/// The right to write to the directory. It ends with the process, however that ends.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // To close the file is not enough while a process that was just forked has it, too.
        let _ = self.0.unlock();
    }
}

/// `store.json`.
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

    /// Older entries, oldest in number 1.
    pub fn archive(&self, name: &BlockName, number: u32) -> PathBuf {
        self.logs().join(format!("{name}-{number}.jsonl.gz"))
    }

    pub fn backup(&self, name: &BlockName) -> PathBuf {
        self.root.join("backups").join(format!("{name}.json"))
    }

    /// A free place for a block that was deleted.
    pub fn trash(&self, name: &BlockName, at: Timestamp) -> PathBuf {
        free(&self.root.join("trash"), name, at)
    }

    /// A free place for a file that is no block.
    pub fn quarantine(&self, name: &BlockName, at: Timestamp) -> PathBuf {
        free(&self.root.join("quarantine"), name, at)
    }

    /// Makes the folders and `store.json`, and takes away what an earlier process left half done.
    pub fn prepare(&self, disk: &Disk) -> Result<(), StoreError> {
        for folder in ["blocks", "log", "trash", "quarantine", "backups"] {
            make_folder(&self.root.join(folder))?;
        }
        for folder in ["", "blocks", "log", "backups"] {
            let folder = self.root.join(folder);
            let entries = fs::read_dir(&folder).map_err(StoreError::io(&folder))?;
            for entry in entries.flatten() {
                let name = entry.file_name();
                if name.to_string_lossy().starts_with(DRAFT) {
                    // Nobody reads it; it may stay if it must.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        let path = self.root.join("store.json");
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

    /// Whether this program knows the directory's layout; one that is new has any.
    pub fn check_schema(&self) -> Result<(), StoreError> {
        let path = self.root.join("store.json");
        let Some(bytes) = disk::read(&path)? else {
            return Ok(());
        };
        let reason = match serde_json::from_slice(&bytes) {
            Ok(Schema { schema_version: 1 }) => return Ok(()),
            Ok(Schema { schema_version }) => format!(
                "schema version {schema_version}, this program knows {SCHEMA_VERSION}: use the program that wrote it"
            ),
            Err(error) => format!("expected {{\"schema_version\": 1}}: {error}"),
        };
        Err(StoreError::Corrupt { path, reason })
    }

    /// Takes the lock, in a file that holds this process's number.
    pub fn lock(&self) -> Result<Lock, StoreError> {
        let mut lock = self.take_lock(true)?;
        // The lock counts, the number is only told.
        let _ = lock.0.set_len(0);
        let _ = write!(lock.0, "{}", std::process::id());
        Ok(lock)
    }

    /// Whether the lock could be taken now. Nothing is written.
    pub fn check_lock(&self) -> Result<(), StoreError> {
        match self.take_lock(false) {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(())
            }
            taken => taken.map(|_| ()),
        }
    }

    fn take_lock(&self, create: bool) -> Result<Lock, StoreError> {
        let path = self.root.join("lock");
        let failed = StoreError::io(&path);
        // A link leads to somebody else's file, and the pid would take the place of what it holds.
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            let reason = "it is no plain file".to_owned();
            let path = path.clone();
            return Err(StoreError::Corrupt { path, reason });
        }
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(create)
            .truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(StoreError::io(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let read = file.read_to_string(&mut pid);
                Err(StoreError::Locked {
                    dir: self.root.clone(),
                    pid: read.ok().and_then(|_| pid.trim().parse().ok()),
                })
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
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
