//! The data directory, which contains everything of an instance.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bin_support::escape;
use pscale_blocks::{BlockStore, DirStore, MemStore};

use crate::error::Error;

/// The name of the directory inside of the user's folder for data.
const NAME: &str = "hermitcrab";

/// The name of an export of the earlier generation. The first start takes it over.
const EARLIER: &str = "g0.json";

/// A data directory, which may not exist yet.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    source: &'static str,
}

impl DataDir {
    /// Returns the directory of `--data`, or the one in the user's folder for data.
    ///
    /// # Errors
    /// [`Error::NoDataFolder`].
    pub fn find(flag: Option<&Path>) -> Result<Self, Error> {
        if let Some(path) = flag {
            return Ok(Self {
                path: path.to_owned(),
                source: "--data",
            });
        }
        let (folder, source) =
            bin_support::environment::data_folder().ok_or(Error::NoDataFolder)?;
        let path = folder.join(NAME);
        Ok(Self { path, source })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The flag or variable that names the directory.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Returns whether a file would be inside of this directory.
    pub fn holds(&self, file: &Path) -> bool {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // A link is followed. A file that does not exist yet is in its folder.
        let place = file.canonicalize().or_else(|_| folder.canonicalize());
        match (place, self.path.canonicalize()) {
            (Ok(place), Ok(own)) => place.starts_with(own),
            _ => false,
        }
    }

    /// Returns the path of an export of the earlier generation. The file may not exist.
    pub fn earlier(&self) -> PathBuf {
        self.path.join(EARLIER)
    }

    /// Opens the blocks to read them, also while another process writes to them.
    ///
    /// A directory that does not exist has no blocks, and reading does not create it.
    ///
    /// # Errors
    /// This program cannot read the store in the directory.
    pub fn for_reading(&self) -> Result<Box<dyn BlockStore>, Error> {
        if fs::metadata(&self.path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(Box::new(MemStore::new()));
        }
        Ok(Box::new(with_notices_logged(DirStore::open_read_only(
            &self.path,
        )?)))
    }

    /// Opens the blocks to read them, and checks that this process could write to them. Nothing is written.
    ///
    /// # Errors
    /// Those of [`DataDir::for_writing`] that are known without writing.
    pub fn for_checking(&self) -> Result<Box<dyn BlockStore>, Error> {
        DirStore::check_open(&self.path)?;
        self.for_reading()
    }

    /// Opens the blocks to write to them. No other process can write meanwhile. A missing directory is created.
    ///
    /// # Errors
    /// Another process writes to the directory, or it cannot be written to.
    pub fn for_writing(&self) -> Result<Box<dyn BlockStore>, Error> {
        Ok(Box::new(with_notices_logged(DirStore::open(&self.path)?)))
    }
}

/// Logs the problems that were found in a store, and returns the store.
fn with_notices_logged(store: DirStore) -> DirStore {
    for notice in store.notices() {
        tracing::warn!("{}", escape(&notice));
    }
    store
}
