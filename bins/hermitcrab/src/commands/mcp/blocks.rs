use hermitcrab_kernel::{ToolError, install_default_blocks};
use pscale_blocks::BlockStore;

use crate::clock::now;
use crate::data_dir::DataDir;
use crate::error::Error;

/// What a server works on.
pub enum ServedBlocks {
    /// Opened anew for every request: another process may write to them meanwhile.
    Reading(DataDir),
    /// Nobody else's as long as the server runs.
    Writing(Box<dyn BlockStore>),
}

impl ServedBlocks {
    /// # Errors
    /// The directory cannot be read; or, for writing, another process writes to it, or an export waits to be taken over, which
    /// edits would prevent.
    pub fn open(data: DataDir, write: bool) -> Result<Self, Error> {
        if write {
            let store = data.for_writing()?;
            if store.names()?.is_empty() {
                let earlier = data.earlier();
                if earlier.exists() {
                    return Err(Error::Waiting { path: earlier });
                }
                // An instance begins here: without its first blocks a model would have nothing to go by.
                install_default_blocks(store.as_ref(), now())?;
            }
            return Ok(Self::Writing(store));
        }
        // What is wrong with it is said now, and not at the first request.
        data.for_reading()?;
        Ok(Self::Reading(data))
    }

    pub fn can_write(&self) -> bool {
        matches!(self, Self::Writing(_))
    }

    /// Does something with the blocks as they are now.
    ///
    /// # Errors
    /// They can no longer be read.
    pub fn with<T>(&self, act: impl FnOnce(&dyn BlockStore) -> T) -> Result<T, ToolError> {
        match self {
            Self::Reading(data) => {
                let store = data.for_reading().map_err(|error| error.to_tool_error())?;
                Ok(act(store.as_ref()))
            }
            Self::Writing(store) => Ok(act(store.as_ref())),
        }
    }
}
