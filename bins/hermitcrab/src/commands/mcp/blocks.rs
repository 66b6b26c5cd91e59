use std::sync::{Mutex, PoisonError};

use hermitcrab_kernel::toolbox::ReviewQueue;
use hermitcrab_kernel::{ToolError, install_default_blocks};
use jiff::Timestamp;
use pscale_blocks::{BlockStore, DirStore};

use crate::data_dir::DataDir;
use crate::error::Error;

/// The blocks of a server.
pub enum ServedBlocks {
    /// Blocks to read, kept once the directory exists. The store sees at each request what another process wrote.
    Reading(DataDir, Mutex<Option<Box<DirStore>>>),
    /// Blocks to write. No other process can write to them while the server runs.
    Writing(DataDir, Box<dyn BlockStore>),
}

impl ServedBlocks {
    /// Opens the blocks of a data directory.
    ///
    /// # Errors
    /// The directory cannot be read. For writing, another process writes to it, or it has an export of the earlier
    /// generation, which could not be taken over after an edit.
    pub fn open(data: DataDir, write: bool) -> Result<Self, Error> {
        if write {
            let store = data.for_writing()?;
            if store.names()?.is_empty() {
                let earlier = data.earlier();
                if earlier.exists() {
                    return Err(Error::Waiting { path: earlier });
                }
                // This is the start of an instance. Without the default blocks a model would have no instructions.
                install_default_blocks(store.as_ref(), data.now())?;
            }
            return Ok(Self::Writing(data, store));
        }
        // A problem is reported now, and not at the first request.
        data.for_reading()?;
        Ok(Self::Reading(data, Mutex::default()))
    }

    /// The edits that wait for the person. `None` if nothing is written.
    pub fn review(&self) -> Option<ReviewQueue> {
        match self {
            Self::Reading(..) => None,
            Self::Writing(data, _) => Some(data.review()),
        }
    }

    pub fn can_write(&self) -> bool {
        matches!(self, Self::Writing(..))
    }

    pub fn now(&self) -> Timestamp {
        let (Self::Reading(data, _) | Self::Writing(data, _)) = self;
        data.now()
    }

    /// Calls a function with the current blocks.
    ///
    /// # Errors
    /// The blocks can no longer be read.
    pub fn with<T>(&self, act: impl FnOnce(&dyn BlockStore) -> T) -> Result<T, ToolError> {
        match self {
            Self::Reading(data, kept) => {
                let refused = |error: Error| error.to_tool_error();
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if data.is_missing() {
                    *kept = None;
                    let none = data.for_reading().map_err(refused)?;
                    return Ok(act(none.as_ref()));
                }
                let store = match kept.take() {
                    Some(store) => store,
                    None => Box::new(data.existing().map_err(refused)?),
                };
                Ok(act(&**kept.insert(store)))
            }
            Self::Writing(_, store) => Ok(act(store.as_ref())),
        }
    }
}

#[cfg(test)]
mod tests {
    use pscale_blocks::store::conformance::{name, stamp, write};
    use pscale_blocks::{Block, Op};

    use super::*;

    #[test]
    fn a_reader_parses_an_unchanged_block_once() {
        let folder = tempfile::tempdir().unwrap();
        let writer = DirStore::open(folder.path()).unwrap();
        let yard = name("yard");
        writer.create(&yard, &Block::new("y"), &stamp(0)).unwrap();
        let data = DataDir::find(Some(folder.path())).unwrap();
        let served = ServedBlocks::open(data, false).unwrap();
        let read = || served.with(|store| store.load(&yard).unwrap().rev).unwrap();
        let parsed = || match &served {
            ServedBlocks::Reading(_, kept) => {
                let kept = kept.lock().unwrap();
                kept.as_ref().unwrap().read_counts().blocks
            }
            ServedBlocks::Writing(..) => unreachable!("it was opened to read"),
        };
        for _ in 0..300 {
            assert_eq!(read(), 1);
        }
        assert_eq!(parsed(), 1);
        let saw: Op = write("0.1", "A saw");
        writer.edit(&yard, None, &saw, &stamp(1)).unwrap();
        assert_eq!((read(), read(), parsed()), (2, 2, 2));
    }
}
