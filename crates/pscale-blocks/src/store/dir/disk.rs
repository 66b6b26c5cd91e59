use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
#[cfg(feature = "testing")]
use std::sync::Arc;
use std::time::SystemTime;

use durable::Replaced;
#[cfg(feature = "testing")]
pub use durable::Step;
use jiff::Timestamp;

use crate::StoreError;

/// Files that are not finished. What is left of them is swept away at the next opening.
pub(super) const DRAFT: &str = ".pscale-";

/// Is asked before each step; its error is the step's. For tests that stop a save where it hurts.
#[cfg(feature = "testing")]
pub type Watch = Box<dyn Fn(Step, &Path) -> io::Result<()> + Send + Sync>;

/// All that changes the disk.
#[derive(Debug, Clone)]
pub(super) struct Disk(pub durable::Disk);

impl Default for Disk {
    fn default() -> Self {
        Self(durable::Disk::private(DRAFT))
    }
}

impl Disk {
    #[cfg(feature = "testing")]
    pub fn watched(watch: Watch) -> Self {
        Self(Self::default().0.watched(Arc::from(watch)))
    }

    /// Puts a file of these bytes at `to`: what is there is the old file or the new one, never a part. The folder is not
    /// synced.
    pub fn replace(&self, to: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.put(to, bytes, None).map_err(StoreError::io(to))
    }

    /// A copy of `from`, with `at` as the time of its last change.
    pub fn copy(&self, from: &Path, to: &Path, at: Timestamp) -> Result<(), StoreError> {
        let bytes = fs::read(from).map_err(StoreError::io(from))?;
        self.put(to, &bytes, Some(at)).map_err(StoreError::io(to))
    }

    fn put(&self, to: &Path, bytes: &[u8], at: Option<Timestamp>) -> io::Result<()> {
        let staged = self.0.stage(to)?;
        staged.write(bytes)?;
        if let Some(at) = at {
            staged.file().set_modified(at.into())?;
        }
        staged.move_to_place()
    }

    /// Writes `bytes` after the first `length` bytes of a log; other bytes there are lost.
    pub fn append(&self, path: &Path, length: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let append = || {
            if let Some(reason) = foreign(path) {
                return Err(io::Error::other(reason));
            }
            let mut log = self.0.open_append_at(path, length)?;
            log.append_synced(bytes)
        };
        append().map_err(|error| {
            let reason = "the log is shorter than this process left it: open the store again";
            let is_shorter = Replaced::is_cause_of(&error);
            let told = is_shorter.then(|| io::Error::other(reason));
            StoreError::io(path)(told.unwrap_or(error))
        })
    }

    /// Cuts a log after its first `length` bytes.
    pub fn cut(&self, path: &Path, length: u64) -> Result<(), StoreError> {
        self.0.cut(path, length).map_err(StoreError::io(path))
    }

    /// Moves a file to another folder.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        self.0.rename(from, to).map_err(StoreError::io(to))
    }

    /// Makes a folder and those above it.
    pub fn make_folder(&self, path: &Path) -> Result<(), StoreError> {
        self.0.make_folder(path).map_err(StoreError::io(path))
    }

    /// Brings the name of a file to the disk.
    pub fn settle(&self, path: &Path) -> Result<(), StoreError> {
        self.0.sync_folder(path).map_err(StoreError::io(path))
    }
}

/// The reason why a file is not opened: a link leads elsewhere, and a pipe could be waited for without end.
fn foreign(path: &Path) -> Option<&'static str> {
    let found = fs::symlink_metadata(path).ok()?.file_type();
    if found.is_symlink() {
        Some("a symbolic link, which is not followed")
    } else if !found.is_file() && !found.is_dir() {
        Some("neither a file nor a folder")
    } else {
        None
    }
}

/// A file that is not a symbolic link, to be read. `None` if there is no file.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    if let Some(reason) = foreign(path) {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path)(error)),
    }
}

/// The bytes of a file that is not a symbolic link. `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(mut file) = open(path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let read = file.read_to_end(&mut bytes);
    read.map_err(StoreError::io(path))?;
    Ok(Some(bytes))
}

/// The facts that show whether a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileFacts {
    modified: SystemTime,
    length: u64,
    inode: u64,
}

impl FileFacts {
    /// `None` if there is no file.
    pub fn at(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let inode = 0;
        Some(Self {
            modified: found.modified().ok()?,
            length: found.len(),
            inode,
        })
    }
}
