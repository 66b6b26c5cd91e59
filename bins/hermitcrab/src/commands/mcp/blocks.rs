use hermitcrab_kernel::{ToolError, install_default_blocks};
use jiff::Timestamp;
use pscale_blocks::BlockStore;

use crate::data_dir::DataDir;
use crate::error::Error;

/// The blocks of a server.
pub enum ServedBlocks {
    /// Blocks to read. They are opened again for every request, because another process may have written to them.
    Reading(DataDir),
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
        Ok(Self::Reading(data))
    }

    pub fn can_write(&self) -> bool {
        matches!(self, Self::Writing(..))
    }

    pub fn now(&self) -> Timestamp {
        let (Self::Reading(data) | Self::Writing(data, _)) = self;
        data.now()
    }

    /// Calls a function with the current blocks.
    ///
    /// # Errors
    /// The blocks can no longer be read.
    pub fn with<T>(&self, act: impl FnOnce(&dyn BlockStore) -> T) -> Result<T, ToolError> {
        match self {
            Self::Reading(data) => {
                let store = data.for_reading().map_err(|error| error.to_tool_error())?;
                Ok(act(store.as_ref()))
            }
            Self::Writing(_, store) => Ok(act(store.as_ref())),
        }
    }
}
