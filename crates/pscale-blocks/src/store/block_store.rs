use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;

use super::{Labels, LogEntry, LogRange};
use crate::{Applied, Block, BlockName, Op, Stamp, StoreError};

/// A store of blocks. Every method does all or nothing.
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

    /// Whether there is such a block, or was one. A block that was not used yet is not read for it: its damage is found at its
    /// first use.
    ///
    /// # Errors
    /// The store cannot be read.
    fn presence(&self, name: &BlockName) -> Result<BlockPresence, StoreError> {
        match self.load(name) {
            Ok(_) => Ok(BlockPresence::Present),
            Err(StoreError::NoBlock { .. }) => {
                let was = !self.log(name, LogRange::newest(1))?.is_empty();
                Ok(if was {
                    BlockPresence::Deleted
                } else {
                    BlockPresence::Absent
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Creates a block; returns its revision. After a deletion the revisions continue from those before.
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

    /// The log entries of a block, the newest first. No more is read than the range needs.
    ///
    /// # Errors
    /// The log cannot be read.
    fn log(&self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError>;

    /// The labels of a block: which of its nodes were last written with texts from outside.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], or the store cannot be read.
    fn labels(&self, name: &BlockName) -> Result<Arc<Labels>, StoreError>;

    /// Reverts the last `count` edits that are not reverted yet, newest first, in one new revision. It reverts fewer if there
    /// are no more; the creation of a block is not an edit.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], [`StoreError::NothingLeft`], or the store cannot be written.
    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError>;

    /// Makes the last `count` reverted edits again, in one new revision. It makes fewer if there are no more. After another
    /// edit there are no reverted edits.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], [`StoreError::NothingLeft`], or the store cannot be written.
    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError>;

    /// Adds a filter of every text that is written from now on. What looks like a key is taken out without one.
    fn add_filter(&self, filter: Arc<dyn KeyFilter>);
}

/// A filter for keys without a form, which only a program knows.
pub trait KeyFilter: Debug + Send + Sync {
    /// The text without these keys.
    fn hide(&self, text: String) -> String;
}

/// A block and its revision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Versioned {
    /// The block, shared with the store.
    pub block: Arc<Block>,
    /// From 1, one more with each edit.
    pub rev: u64,
    /// The hash: see [`Block::hash`].
    pub hash: [u8; 32],
}

/// The presence of a block in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a block is, was, or neither")]
pub enum BlockPresence {
    /// The block is there.
    Present,
    /// The block was deleted.
    Deleted,
    /// There never was such a block.
    Absent,
}

/// One row of a store's contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BlockInfo {
    /// The name of the block.
    pub name: BlockName,
    /// The decimal: see [`Block::decimal`].
    pub decimal: u8,
    /// The revision.
    pub rev: u64,
    /// The number of nodes: see [`Block::nodes`].
    pub nodes: usize,
    /// The size of the file: see [`Block::file_bytes`].
    pub bytes: usize,
    /// The text of the head: see [`Block::head_text`].
    pub head: Option<String>,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edited {
    /// The revision afterwards; as before if nothing changed.
    pub rev: u64,
    /// The effect of the operation. `None` for an undo or a redo.
    pub applied: Option<Applied>,
    /// The number of keys that were removed from the texts.
    pub keys_removed: u32,
    /// The number of edits that an undo reverted, or a redo made again.
    pub steps: u32,
}
