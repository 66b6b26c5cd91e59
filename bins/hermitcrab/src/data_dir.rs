//! The data directory, which contains everything of an instance, and the clock of what is written into it.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bin_support::escape;
use hermitcrab_kernel::toolbox::ReviewQueue;
use jiff::Timestamp;
use llm_client::{SystemClock, Timer};
use pscale_blocks::{BlockStore, DirStore, EditAuthor, MemStore, Stamp, StoreError};

use crate::error::Error;

/// The name of the directory inside of the user's folder for data.
const NAME: &str = "hermitcrab";

/// The flag that names a data directory.
const FLAG: &str = "--data";

/// The name of an export of the earlier generation. The first start takes it over.
const EARLIER: &str = "g0.json";

/// The interval between two attempts to take the lock, and their number: about two seconds. An edit holds it for milliseconds.
pub const POLL: Duration = Duration::from_millis(20);
pub const ATTEMPTS: u32 = 100;

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
            (path.to_owned(), FLAG)
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
        // A link is followed. A file that does not exist yet is in its folder, which may not exist either.
        let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let mut places = absolute.ancestors().map(Path::canonicalize);
        match (places.find_map(Result::ok), self.path.canonicalize()) {
            (Some(place), Ok(own)) => place.starts_with(own),
            _ => false,
        }
    }

    /// Returns the end of a command that works on this directory, to be pasted into a shell.
    pub fn flag(&self) -> String {
        if self.source == FLAG {
            format!(" {FLAG} {}", shell_word(&self.path))
        } else {
            String::new()
        }
    }

    /// Returns the files of deleted blocks.
    pub fn trash(&self) -> BTreeSet<PathBuf> {
        let files = fs::read_dir(self.path.join("trash"));
        let files = files.into_iter().flatten().flatten();
        files.map(|file| file.path()).collect()
    }

    /// Returns the path of an export of the earlier generation. The file may not exist.
    pub fn earlier(&self) -> PathBuf {
        self.path.join(EARLIER)
    }

    /// Returns the edits that wait for the person.
    pub fn review(&self) -> ReviewQueue {
        ReviewQueue::open(&self.path)
    }

    /// Returns whether the directory does not exist.
    pub fn is_missing(&self) -> bool {
        fs::metadata(&self.path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    /// Checks that the directory exists.
    ///
    /// # Errors
    /// [`Error::NoData`].
    pub fn ensure_exists(&self) -> Result<(), Error> {
        if self.is_missing() {
            let path = self.path.clone();
            return Err(Error::NoData { path });
        }
        Ok(())
    }

    /// Checks that a directory that `--data` names exists.
    ///
    /// # Errors
    /// [`Error::NoData`].
    pub fn ensure_named_exists(&self) -> Result<(), Error> {
        if self.source == FLAG {
            self.ensure_exists()?;
        }
        Ok(())
    }

    /// Opens the blocks to read them, also while another process writes to them.
    ///
    /// Reading creates no directory. The default directory has no blocks before the first edit; one that `--data` names is
    /// misspelt if it does not exist.
    ///
    /// # Errors
    /// [`Error::NoData`], or this program cannot read the store in the directory.
    pub fn for_reading(&self) -> Result<Box<dyn BlockStore>, Error> {
        self.ensure_named_exists()?;
        self.stored()
    }

    /// Opens the blocks as [`DataDir::for_reading`] does; a missing directory has none.
    fn stored(&self) -> Result<Box<dyn BlockStore>, Error> {
        if self.is_missing() {
            return Ok(Box::new(MemStore::new()));
        }
        Ok(Box::new(self.existing()?))
    }

    /// Opens the blocks of a directory that exists, to read them for as long as the store is kept.
    ///
    /// # Errors
    /// This program cannot read the store in the directory.
    pub fn existing(&self) -> Result<DirStore, Error> {
        Ok(with_notices_logged(DirStore::open_read_only(&self.path)?))
    }

    /// Opens the blocks to read them, and checks that this process could write to them. Nothing is written.
    ///
    /// # Errors
    /// Those of [`DataDir::for_writing`] that are known without writing.
    pub fn for_checking(&self) -> Result<Box<dyn BlockStore>, Error> {
        DirStore::check_open(&self.path)?;
        self.stored()
    }

    /// Opens the blocks to write to them. No other process can write meanwhile. A missing directory is created.
    ///
    /// Waits up to two seconds for another process that writes.
    ///
    /// # Errors
    /// Another process still writes to the directory, or it cannot be written to.
    pub fn for_writing(&self) -> Result<Box<dyn BlockStore>, Error> {
        Ok(Box::new(self.locked()?))
    }

    /// Opens the store as [`DataDir::for_writing`] does.
    ///
    /// # Errors
    /// Those of [`DataDir::for_writing`].
    pub fn locked(&self) -> Result<DirStore, Error> {
        let mut opened = DirStore::open(&self.path);
        for _ in 0..ATTEMPTS {
            if !matches!(opened, Err(StoreError::Locked { .. })) {
                break;
            }
            thread::sleep(POLL);
            opened = DirStore::open(&self.path);
        }
        Ok(with_notices_logged(opened?))
    }
}

/// Returns a path as a word of a command that can be pasted into a shell.
pub fn shell_word(path: &Path) -> String {
    let word = escape(&path.display().to_string());
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:=@%+,".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Logs the problems that are found in a store, those of a block at its first use.
fn with_notices_logged(store: DirStore) -> DirStore {
    store.on_notice(|notice| tracing::warn!("{}", escape(notice)))
}
