//! Stores of blocks. A store edits one block at a time, in revisions, and can revert every edit.

mod block_store;
#[cfg(feature = "testing")]
pub mod conformance;
mod dir;
mod error;
mod history;
mod ledger;
mod log;
mod mem;
mod secrets;

pub use block_store::{BlockInfo, BlockStore, Edited, Versioned};
pub use dir::DirStore;
#[cfg(feature = "testing")]
pub use dir::{Step, Watch};
pub use error::StoreError;
pub use history::Steps;
pub use log::{EditAuthor, LogEntry, LoggedOp, Stamp};
pub use mem::MemStore;
pub(crate) use secrets::Clean;
pub use secrets::{KEY_REMOVED, remove_keys};

/// Of log entries and of data directories.
const SCHEMA_VERSION: u32 = 1;
