use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{BlockInfo, BlockStore, Edited, LogEntry, LoggedOp, Stamp, StoreError, Versioned};
use crate::{Block, BlockName, Op};

/// A store in memory, for tests and for programs that keep nothing.
#[derive(Debug, Default)]
pub struct MemStore {
    blocks: Mutex<BTreeMap<BlockName, Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    block: Option<Block>,
    log: Vec<LogEntry>,
}

impl MemStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<BlockName, Kept>> {
        // Every change is made in one step at the end, so a panic leaves nothing half done.
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlockStore for MemStore {
    fn names(&self) -> Result<Vec<BlockInfo>, StoreError> {
        let blocks = self.lock();
        let rows = blocks.iter().filter_map(|(name, kept)| {
            let block = kept.block.as_ref()?;
            Some(BlockInfo {
                name: name.clone(),
                decimal: block.decimal(),
                rev: kept.log.last().map_or(0, |entry| entry.rev),
                nodes: block.nodes(),
                bytes: block.file_bytes(),
                head: block.head_text().map(str::to_owned),
            })
        });
        Ok(rows.collect())
    }

    fn load(&self, name: &BlockName) -> Result<Versioned, StoreError> {
        let blocks = self.lock();
        let found = blocks
            .get(name)
            .and_then(|kept| Some((kept, kept.block.as_ref()?)));
        let (kept, block) = found.ok_or_else(|| StoreError::NoBlock {
            name: name.clone(),
            near: None,
        })?;
        Ok(Versioned {
            block: block.clone(),
            rev: kept.log.last().map_or(0, |entry| entry.rev),
            hash: block.hash(),
        })
    }

    fn create(&self, name: &BlockName, block: &Block, stamp: &Stamp) -> Result<u64, StoreError> {
        let mut blocks = self.lock();
        let kept = blocks.entry(name.clone()).or_default();
        if kept.block.is_some() {
            return Err(StoreError::Exists { name: name.clone() });
        }
        let rev = kept.log.last().map_or(1, |entry| entry.rev + 1);
        kept.log.push(LogEntry {
            schema_version: 1,
            rev,
            at: stamp.at,
            by: stamp.by.clone(),
            op: LoggedOp::Create {
                block: block.clone(),
            },
            inverse: None,
            before_hash: None,
            after_hash: None,
            note: stamp.note.clone(),
        });
        kept.block = Some(block.clone());
        Ok(rev)
    }

    fn edit(
        &self,
        name: &BlockName,
        _expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        let mut blocks = self.lock();
        let kept = blocks.entry(name.clone()).or_default();
        let Some(block) = kept.block.as_mut() else {
            return Err(StoreError::NoBlock {
                name: name.clone(),
                near: None,
            });
        };
        let applied = block.apply(op)?;
        let mut rev = kept.log.last().map_or(0, |entry| entry.rev);
        if let Some(change) = applied.change() {
            rev += 1;
            kept.log.push(LogEntry {
                schema_version: 1,
                rev,
                at: stamp.at,
                by: stamp.by.clone(),
                op: LoggedOp::Edit(op.clone()),
                inverse: Some(change.inverse.clone()),
                before_hash: None,
                after_hash: None,
                note: stamp.note.clone(),
            });
        }
        Ok(Edited {
            rev,
            applied: Some(applied),
            keys_removed: 0,
            undone: 0,
        })
    }

    fn delete(&self, name: &BlockName, _stamp: &Stamp) -> Result<(), StoreError> {
        self.lock().remove(name);
        Ok(())
    }

    fn log(&self, name: Option<&BlockName>, from: u64) -> Result<Vec<LogEntry>, StoreError> {
        let blocks = self.lock();
        let chosen = blocks
            .iter()
            .filter(|(own, _)| name.is_none_or(|name| name == *own));
        let entries = chosen.flat_map(|(_, kept)| &kept.log);
        Ok(entries.filter(|entry| entry.rev >= from).cloned().collect())
    }

    fn undo(&self, name: &BlockName, _count: u32, _stamp: &Stamp) -> Result<Edited, StoreError> {
        Err(StoreError::NoBlock {
            name: name.clone(),
            near: None,
        })
    }
}
