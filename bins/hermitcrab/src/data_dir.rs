//! The data directory, which contains everything of an instance, and the clock of what is written into it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bin_support::escape;
use jiff::Timestamp;
use llm_client::{SystemClock, Timer};
use pscale_blocks::{BlockStore, DirStore, EditAuthor, MemStore, Stamp};

use crate::error::Error;

/// The name of the directory inside of the user's folder for data.
const NAME: &str = "hermitcrab";

/// The name of an export of the earlier generation. The first start takes it over.
const EARLIER: &str = "g0.json";

/// A data directory, which may not exist yet.
pub struct DataDir {
    path: PathBuf,
    source: &'static str,
    clock: Arc<dyn Timer>,
}

impl DataDir {
    /// Returns the directory of `--data`, or the one in the user's folder for data.
    ///
    /// # Errors
    /// [`Error::NoDataFolder`].
    pub fn find(flag: Option<&Path>) -> Result<Self, Error> {
        let (path, source) = if let Some(path) = flag {
            (path.to_owned(), "--data")
        } else {
            let found = bin_support::environment::data_folder();
            let (folder, source) = found.ok_or(Error::NoDataFolder)?;
            (folder.join(NAME), source)
        };
        let clock = Arc::new(SystemClock::new());
        Ok(Self {
            path,
            source,
            clock,
        })
    }

    /// Sets the clock, which is that of the machine otherwise.
    pub fn with_clock(self, clock: Arc<dyn Timer>) -> Self {
        Self { clock, ..self }
    }

    pub fn clock(&self) -> Arc<dyn Timer> {
        self.clock.clone()
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::try_from(self.clock.now()).unwrap_or(Timestamp::MAX)
    }

    /// Returns the stamp of an edit that the person makes now.
    pub fn stamp_by_person(&self) -> Stamp {
        Stamp::new(self.now(), EditAuthor::Person)
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
