//! Where everything of an instance lies.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bin_support::escape;
use pscale_blocks::{BlockStore, DirStore, MemStore};

use crate::error::Error;

/// What the folder is called where programs keep their data.
const NAME: &str = "hermitcrab";

/// An export of the earlier generation that waits in a data directory for the first start.
const EARLIER: &str = "g0.json";

/// A data directory, which need not be there yet.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    source: &'static str,
}

impl DataDir {
    /// The one of `--data`, else that of the user.
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

    /// Whether a file that is to be written would lie here.
    pub fn holds(&self, file: &Path) -> bool {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // A link is followed; a file that is not there yet is where its folder is.
        let place = file.canonicalize().or_else(|_| folder.canonicalize());
        match (place, self.path.canonicalize()) {
            (Ok(place), Ok(own)) => place.starts_with(own),
            _ => false,
        }
    }

    /// Where an export of the earlier generation waits, if there is one.
    pub fn earlier(&self) -> PathBuf {
        self.path.join(EARLIER)
    }

    /// The blocks as they are now, also while another process writes to them. None yet in a directory that is not there:
    /// reading makes nothing.
    ///
    /// # Errors
    /// The directory holds no store that this program can read.
    pub fn for_reading(&self) -> Result<Box<dyn BlockStore>, Error> {
        if fs::metadata(&self.path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(Box::new(MemStore::new()));
        }
        Ok(Box::new(with_notices_logged(DirStore::open_read_only(
            &self.path,
        )?)))
    }

    /// The blocks to read, if this process could write to them, too. Nothing is written.
    ///
    /// # Errors
    /// Those of [`DataDir::for_writing`], as far as they can be told without writing.
    pub fn for_checking(&self) -> Result<Box<dyn BlockStore>, Error> {
        DirStore::check_open(&self.path)?;
        self.for_reading()
    }

    /// The blocks, for this process alone to write to. A directory that is not there is made.
    ///
    /// # Errors
    /// Another process writes to it, or nobody can.
    pub fn for_writing(&self) -> Result<Box<dyn BlockStore>, Error> {
        Ok(Box::new(with_notices_logged(DirStore::open(&self.path)?)))
    }
}

/// A store, once the person was told what was wrong with it.
fn with_notices_logged(store: DirStore) -> DirStore {
    for notice in store.notices() {
        tracing::warn!("{}", escape(&notice));
    }
    store
}
