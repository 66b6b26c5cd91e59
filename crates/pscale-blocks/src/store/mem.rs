use std::collections::BTreeMap;

use super::ledger::{Journal, Kept, Ledger};
use super::{LogEntry, StoreError};
use crate::{Block, BlockName};

/// A store in memory, for tests and for programs that keep nothing.
pub type MemStore = Ledger<MemJournal>;

/// The logs of a [`MemStore`].
#[derive(Debug, Default)]
pub struct MemJournal {
    logs: BTreeMap<BlockName, Vec<LogEntry>>,
}

impl MemStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for MemStore {
    fn default() -> Self {
        Self::of(BTreeMap::new(), MemJournal::default())
    }
}

impl Journal for MemJournal {
    /// There is no file that could differ from the log, and a hash would cost more than the edit.
    fn hash(&self, _block: &Block) -> Option<[u8; 32]> {
        None
    }

    fn look(&mut self, _name: &BlockName) -> Result<Option<Kept>, StoreError> {
        Ok(None)
    }

    fn save(
        &mut self,
        name: &BlockName,
        entry: LogEntry,
        _block: &Block,
    ) -> Result<(), StoreError> {
        self.logs.entry(name.clone()).or_default().push(entry);
        Ok(())
    }

    fn remove(&mut self, name: &BlockName, entry: LogEntry) -> Result<(), StoreError> {
        self.logs.entry(name.clone()).or_default().push(entry);
        Ok(())
    }

    fn read(&mut self, name: &BlockName, from: u64) -> Result<Vec<LogEntry>, StoreError> {
        let log = self.logs.get(name).map_or(&[][..], Vec::as_slice);
        let start = log.partition_point(|entry| entry.rev < from);
        Ok(log[start..].to_vec())
    }
}
