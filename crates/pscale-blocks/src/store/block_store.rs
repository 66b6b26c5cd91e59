use serde::Serialize;

use super::{LogEntry, Stamp, StoreError};
use crate::{Applied, Block, BlockName, Op};

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
