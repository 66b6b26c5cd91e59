use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::history::replay;
use super::ledger::{BlockLedger, BlockSlot, CurrentBlock, Journal};
use super::{LogEntry, LogRange};
use crate::{Block, BlockName, StoreError};

/// A store in memory, for tests and for programs that keep nothing.
pub type MemStore = BlockLedger<MemJournal>;

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
        Self::of(None, MemJournal::default())
    }
}

impl Journal for MemJournal {
    type Form = ();

    fn form(&self, _block: &Block) {}

    /// There is no file that could differ from the log, and a hash would cost more than the edit.
    fn hash((): &()) -> Option<[u8; 32]> {
        None
    }

    fn find(&mut self) -> Result<BTreeSet<BlockName>, StoreError> {
        Ok(BTreeSet::new())
    }

    fn look(&mut self, _name: &BlockName) -> Result<Option<BlockSlot>, StoreError> {
        Ok(None)
    }

    fn settle(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError> {
        let log = self.logs.get(name).map_or(&[][..], Vec::as_slice);
        Ok(BlockSlot {
            rev: log.last().map_or(0, |entry| entry.rev),
            live: replay(log, None).map(|block| CurrentBlock::new(block, None)),
        })
    }

    fn save(&mut self, name: &BlockName, entry: LogEntry, (): ()) -> Result<(), StoreError> {
        self.logs.entry(name.clone()).or_default().push(entry);
        Ok(())
    }

    fn remove(&mut self, name: &BlockName, entry: LogEntry) -> Result<(), StoreError> {
        self.logs.entry(name.clone()).or_default().push(entry);
        Ok(())
    }

    fn read(&mut self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        let log = self.logs.get(name).map_or(&[][..], Vec::as_slice);
        let is_before = |entry: &LogEntry| range.before.is_none_or(|before| entry.rev < before);
        let end = log.partition_point(is_before);
        Ok(log[..end].iter().rev().take(range.limit).cloned().collect())
    }

    fn each(
        &mut self,
        name: &BlockName,
        take: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let log = self.logs.get(name).map_or(&[][..], Vec::as_slice);
        let _ = log.iter().rev().cloned().try_for_each(take);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::conformance::{name, stamp, write};
    use crate::{BlockStore as _, Op};

    #[test]
    fn a_block_is_read_again_from_its_log() {
        let (store, notes, at) = (MemStore::new(), name("notes"), stamp(0));
        let check = |what: &str| {
            let mut state = store.state();
            let again = state.journal.settle(&notes).unwrap();
            let kept = state.blocks[&notes].as_ref().unwrap();
            assert_eq!(again.rev, kept.rev, "{what}");
            let block = |kept: &BlockSlot| kept.live.as_ref().map(|live| live.block.clone());
            assert_eq!(block(&again), block(kept), "{what}");
        };
        store.create(&notes, &Block::new("n"), &at).unwrap();
        check("made");
        for op in [
            write("0.1", "one"),
            write("0.1.2", "two"),
            Op::Replace {
                block: Block::new("another"),
            },
            write("0.3", "three"),
        ] {
            store.edit(&notes, None, &op, &at).unwrap();
            check("edited");
        }
        store.undo(&notes, 3, &at).unwrap();
        check("taken back");
        store.redo(&notes, 2, &at).unwrap();
        check("made again");
        store.delete(&notes, &at).unwrap();
        check("deleted");
    }
}
