//! A store for tests, of which every call is watched.

use std::sync::Arc;

use super::{BlockInfo, BlockPresence, Edited, KeyFilter, Labels, LogEntry, LogRange, Versioned};
use crate::{Block, BlockName, BlockStore, Op, Stamp, StoreError};

/// A call of a [`BlockStore`] about a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is the method of its name")]
pub enum StoreCall {
    Load,
    Presence,
    Log,
    Labels,
    Create,
    Edit,
    Delete,
    Undo,
    Redo,
}

impl StoreCall {
    /// Whether the call changes the block.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Load | Self::Presence | Self::Log | Self::Labels)
    }
}

/// An observer of a store.
pub trait StoreWatch: Send + Sync {
    /// Is asked before each call about a block.
    ///
    /// # Errors
    /// The call fails with this error and is not made.
    fn before(&self, name: &BlockName, call: StoreCall) -> Result<(), StoreError>;
}

/// A store that asks `watch` first.
#[derive(Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a store and its observer")]
pub struct WatchedStore<S, W> {
    /// The store that does the work.
    pub inner: S,
    /// The observer.
    pub watch: W,
}

impl<S: BlockStore, W: StoreWatch> BlockStore for WatchedStore<S, W> {
    fn names(&self) -> Result<Vec<BlockInfo>, StoreError> {
        self.inner.names()
    }

    fn load(&self, name: &BlockName) -> Result<Versioned, StoreError> {
        self.watch.before(name, StoreCall::Load)?;
        self.inner.load(name)
    }

    fn presence(&self, name: &BlockName) -> Result<BlockPresence, StoreError> {
        self.watch.before(name, StoreCall::Presence)?;
        self.inner.presence(name)
    }

    fn create(&self, name: &BlockName, block: &Block, stamp: &Stamp) -> Result<u64, StoreError> {
        self.watch.before(name, StoreCall::Create)?;
        self.inner.create(name, block, stamp)
    }

    fn edit(
        &self,
        name: &BlockName,
        expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        self.watch.before(name, StoreCall::Edit)?;
        self.inner.edit(name, expected, op, stamp)
    }

    fn delete(&self, name: &BlockName, stamp: &Stamp) -> Result<(), StoreError> {
        self.watch.before(name, StoreCall::Delete)?;
        self.inner.delete(name, stamp)
    }

    fn log(&self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        self.watch.before(name, StoreCall::Log)?;
        self.inner.log(name, range)
    }

    fn labels(&self, name: &BlockName) -> Result<Arc<Labels>, StoreError> {
        self.watch.before(name, StoreCall::Labels)?;
        self.inner.labels(name)
    }

    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.watch.before(name, StoreCall::Undo)?;
        self.inner.undo(name, count, stamp)
    }

    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.watch.before(name, StoreCall::Redo)?;
        self.inner.redo(name, count, stamp)
    }

    fn add_filter(&self, filter: Arc<dyn KeyFilter>) {
        self.inner.add_filter(filter);
    }
}
