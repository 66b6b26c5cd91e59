//! Stores of blocks. A store edits one block at a time, in revisions, and can revert every edit.

pub(crate) mod block_store;
#[cfg(feature = "testing")]
pub mod conformance;
pub(crate) mod dir;
pub(crate) mod error;
mod history;
mod labels;
mod ledger;
pub(crate) mod log;
pub(crate) mod mem;
mod origin;
mod secrets;
#[cfg(feature = "testing")]
mod watched;

pub use block_store::{BlockInfo, BlockPresence, Edited, KeyFilter, Versioned};
pub use dir::ReadCounts;
#[cfg(feature = "testing")]
pub use dir::{Step as DiskStep, Watch as DiskWatch};
pub use history::Steps;
pub use labels::Labels;
pub use log::{LogEntry, LogRange, LoggedOp, newest_edits};
pub use origin::{Origin, Origins};
pub(crate) use secrets::Clean;
pub use secrets::{KEY_REMOVED, remove_keys};
#[cfg(feature = "testing")]
pub use watched::{StoreCall, StoreWatch, WatchedStore};

/// The note of the log on an edit that was found in a block's file.
pub const EDITED_OUTSIDE: &str = "edited outside";
/// Of log entries and of data directories.
const SCHEMA_VERSION: u32 = 1;
