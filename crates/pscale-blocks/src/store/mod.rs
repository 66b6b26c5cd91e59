//! Where blocks are kept: a store edits one block at a time, in revisions, and can take every edit back.

#[cfg(feature = "testing")]
pub mod conformance;
mod dir;
mod error;
mod history;
mod ledger;
mod mem;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use dir::DirStore;
#[cfg(feature = "testing")]
pub use dir::{Step, Watch};
pub use error::StoreError;
pub use history::Steps;
pub(crate) use history::hex;
pub use mem::MemStore;

use crate::{Applied, Block, BlockName, Inverse, Op, Path};

/// Of log entries and of data directories.
const SCHEMA_VERSION: u32 = 1;

/// When an edit is made and by whom. A store has no clock of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Provenance,
    /// Why, for the log.
    pub note: Option<String>,
}

/// Who makes an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The person.
    Person,
    /// A model.
    Model {
        /// Its id.
        id: String,
        /// A page that it had read in the same turn, so that the edit may be the page's wish.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        web: Option<String>,
    },
    /// Text from the web.
    Web {
        /// The page.
        url: String,
    },
    /// Another store, or an earlier generation.
    Import {
        /// Which.
        source: String,
    },
    /// The program itself.
    Kernel,
}

/// A block and its revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// The block.
    pub block: Block,
    /// From 1, one more with each edit.
    pub rev: u64,
    /// [`Block::hash`].
    pub hash: [u8; 32],
}

/// One row of a store's contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockInfo {
    /// Its name.
    pub name: BlockName,
    /// [`Block::decimal`].
    pub decimal: u8,
    /// The revision.
    pub rev: u64,
    /// [`Block::nodes`].
    pub nodes: usize,
    /// [`Block::file_bytes`].
    pub bytes: usize,
    /// [`Block::head_text`].
    pub head: Option<String>,
}

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The revision afterwards; as before if nothing changed.
    pub rev: u64,
    /// What was done; none for an undo or a redo.
    pub applied: Option<Applied>,
    /// How many keys were taken out of the texts.
    pub keys_removed: u32,
    /// How many edits an undo took back, or a redo made again.
    pub steps: u32,
}

/// One line of a block's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// 1.
    pub schema_version: u32,
    /// The revision that the edit made.
    pub rev: u64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Provenance,
    /// What was done.
    pub op: LoggedOp,
    /// The node that was written, or the head when the whole block changed; see [`crate::Change::path`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// What takes it back; none where an undo stops.
    pub inverse: Option<Inverse>,
    /// SHA-256 of the block before, in hex; none when it was made. A store in memory has no hashes.
    pub before_hash: Option<String>,
    /// SHA-256 of the block afterwards, in hex; none when it was deleted. A store in memory has no hashes.
    pub after_hash: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a log says was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum LoggedOp {
    /// The block was made.
    Create {
        /// As it was.
        block: Block,
    },
    /// It went to the trash.
    Delete,
    /// Edits were taken back.
    Undo {
        /// The revisions that the edits had made, the newest first.
        #[serde(default)]
        revs: Vec<u64>,
        /// Read from the logs of older programs only, which did not name revisions: so many entries before this one.
        /// Reading a log turns it into `revs`.
        #[doc(hidden)]
        #[serde(default, skip_serializing)]
        count: u64,
    },
    /// Edits that had been taken back were made again.
    Redo {
        /// The revisions that the edits had made, the oldest first.
        revs: Vec<u64>,
    },
    /// An edit.
    #[serde(untagged)]
    Edit(Op),
}

/// Where blocks are kept. Every method is one step: it is done, or nothing is.
pub trait BlockStore: Send + Sync {
    /// All blocks, in order of their names.
    ///
    /// # Errors
    /// The store cannot be read.
    fn names(&self) -> Result<Vec<BlockInfo>, StoreError>;

    /// The block and its revision.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], or the store cannot be read.
    fn load(&self, name: &BlockName) -> Result<Versioned, StoreError>;

    /// Makes a block; answers its revision. After a deletion the revisions go on from those before.
    ///
    /// # Errors
    /// [`StoreError::Exists`], a limit, or the store cannot be written.
    fn create(&self, name: &BlockName, block: &Block, stamp: &Stamp) -> Result<u64, StoreError>;

    /// Does `op`. With `expected`, only if that is the block's revision.
    ///
    /// # Errors
    /// [`StoreError::Revision`], those of the operation, or the store cannot be written.
    fn edit(
        &self,
        name: &BlockName,
        expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError>;

    /// Takes the block away; it can be found in the trash.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], or the store cannot be written.
    fn delete(&self, name: &BlockName, stamp: &Stamp) -> Result<(), StoreError>;

    /// What was done, from revision `from` on: of one block, or of all in order of name and revision.
    ///
    /// # Errors
    /// The log cannot be read.
    fn log(&self, name: Option<&BlockName>, from: u64) -> Result<Vec<LogEntry>, StoreError>;

    /// Takes back the last `count` edits that are not taken back yet, newest first, in one new revision; fewer if there
    /// are no more, as a block's making is no edit.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], [`StoreError::NothingLeft`], or the store cannot be written.
    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError>;

    /// Makes the last `count` edits again that were taken back, in one new revision; fewer if there are no more. After
    /// another edit there are none.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], [`StoreError::NothingLeft`], or the store cannot be written.
    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError>;
}
