use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use strsim::levenshtein;

use super::history::{Stepped, done, redo, undo, undone};
use super::secrets::Clean as _;
use super::{BlockInfo, Edited, LogEntry, LoggedOp, Versioned};
use crate::{Block, BlockName, BlockStore, Inverse, Op, Path, Stamp, StoreError};

/// A store: the blocks as they are, in memory, and a journal that keeps what becomes of them. Its two kinds are
/// [`crate::MemStore`] and [`crate::DirStore`].
#[derive(Debug)]
pub struct BlockLedger<J> {
    state: Mutex<LedgerState<J>>,
}

#[derive(Debug)]
pub(super) struct LedgerState<J> {
    pub blocks: BTreeMap<BlockName, BlockSlot>,
    pub journal: J,
    /// The block that the last call was about.
    touched: Option<BlockName>,
    /// Blocks that a panic left in the middle of an edit.
    broken_off: BTreeSet<BlockName>,
}

/// A block that is or was.
#[derive(Debug)]
pub struct BlockSlot {
    /// Of the last entry in the log.
    pub rev: u64,
    /// `None` for a block that was deleted.
    pub live: Option<CurrentBlock>,
}

/// A block that is.
#[derive(Debug)]
pub struct CurrentBlock {
    /// The block.
    pub block: Block,
    /// [`Block::hash`], where the journal needs it.
    pub hash: Option<[u8; 32]>,
}

/// The part of a store that outlives the process. Every method does all or nothing.
pub trait Journal: Send {
    /// The hash of `block`, if the journal compares blocks with what it keeps.
    fn hash(&self, block: &Block) -> Option<[u8; 32]>;

    /// The block as it is now, if another process or a person changed it.
    ///
    /// # Errors
    /// It cannot be read, or the change cannot be noted.
    fn look(&mut self, name: &BlockName) -> Result<Option<BlockSlot>, StoreError>;

    /// The block as it was kept last, whatever was interrupted since.
    ///
    /// # Errors
    /// It cannot be read.
    fn reread(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError>;

    /// Keeps the entry and the block that it ends with.
    ///
    /// # Errors
    /// It cannot be written.
    fn save(&mut self, name: &BlockName, entry: LogEntry, block: &Block) -> Result<(), StoreError>;

    /// Keeps the entry of a deletion, and the block where it can be found.
    ///
    /// # Errors
    /// It cannot be written.
    fn remove(&mut self, name: &BlockName, entry: LogEntry) -> Result<(), StoreError>;

    /// The entries of a block from revision `from` on.
    ///
    /// # Errors
    /// They cannot be read.
    fn read(&mut self, name: &BlockName, from: u64) -> Result<Vec<LogEntry>, StoreError>;
}

impl<J> BlockLedger<J> {
    pub(super) fn of(blocks: BTreeMap<BlockName, BlockSlot>, journal: J) -> Self {
        Self {
            state: Mutex::new(LedgerState {
                blocks,
                journal,
                touched: None,
                broken_off: BTreeSet::new(),
            }),
        }
    }

    /// A thread that panicked may have left its block changed in a way that the journal does not know.
    pub(super) fn state(&self) -> MutexGuard<'_, LedgerState<J>> {
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = poisoned.into_inner();
            let touched = state.touched.take();
            state.broken_off.extend(touched);
            self.state.clear_poison();
            state
        })
    }

    pub(super) fn into_state(self) -> LedgerState<J> {
        self.state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Journal> LedgerState<J> {
    /// Begins a call about a block, which is read again if an earlier call was interrupted.
    fn touch(&mut self, name: &BlockName) -> Result<(), StoreError> {
        self.touched = Some(name.clone());
        if self.broken_off.contains(name) {
            let kept = self.journal.reread(name)?;
            self.blocks.insert(name.clone(), kept);
            self.broken_off.remove(name);
        }
        Ok(())
    }

    /// The block and its revision, and the journal.
    fn live(
        &mut self,
        name: &BlockName,
    ) -> Result<(&mut u64, &mut CurrentBlock, &mut J), StoreError> {
        self.touch(name)?;
        let is_live = |kept: &BlockSlot| kept.live.is_some();
        let mut near = None;
        if !self.blocks.get(name).is_some_and(is_live) {
            near = nearest(name, &self.blocks);
        } else if let Some(kept) = self.journal.look(name)? {
            self.blocks.insert(name.clone(), kept);
        }
        match self.blocks.get_mut(name) {
            Some(BlockSlot {
                rev,
                live: Some(live),
            }) => Ok((rev, live, &mut self.journal)),
            _ => Err(StoreError::NoBlock {
                name: name.clone(),
                near,
            }),
        }
    }
}

/// The name that looks most like `name`, if one does.
fn nearest(name: &BlockName, blocks: &BTreeMap<BlockName, BlockSlot>) -> Option<BlockName> {
    let live = blocks.iter().filter(|(_, kept)| kept.live.is_some());
    let rated = live.map(|(other, _)| (levenshtein(name.as_str(), other.as_str()), other));
    let (distance, other) = rated.min()?;
    let longer = name.as_str().len().max(other.as_str().len());
    (2 * distance <= longer).then(|| other.clone())
}

/// The log entry of what makes revision `rev`, without hashes.
pub(super) fn entry(
    rev: u64,
    stamp: &Stamp,
    op: LoggedOp,
    path: Option<Path>,
    inverse: Option<Inverse>,
) -> LogEntry {
    LogEntry {
        schema_version: super::SCHEMA_VERSION,
        rev,
        at: stamp.at,
        by: stamp.by.clone(),
        op,
        path,
        inverse,
        before_hash: None,
        after_hash: None,
        note: stamp.note.clone(),
    }
}

impl CurrentBlock {
    /// Keeps `entry`, which led to the block as it is now. If that fails the block becomes what it was.
    fn keep<J: Journal>(
        &mut self,
        name: &BlockName,
        journal: &mut J,
        mut entry: LogEntry,
    ) -> Result<(), StoreError> {
        let hash = journal.hash(&self.block);
        entry.before_hash = self.hash.as_ref().map(hex::encode);
        entry.after_hash = hash.as_ref().map(hex::encode);
        let inverse = entry.inverse.clone();
        if let Err(error) = journal.save(name, entry, &self.block) {
            if let Some(inverse) = inverse {
                self.block.revert(&inverse);
            }
            return Err(error);
        }
        self.hash = hash;
        Ok(())
    }
}

impl<J: Journal> BlockStore for BlockLedger<J> {
    fn names(&self) -> Result<Vec<BlockInfo>, StoreError> {
        let mut state = self.state();
        for name in state.broken_off.clone() {
            // A block that cannot be read is listed as it is known; whoever loads it is told.
            let _ = state.touch(&name);
        }
        let rows = state.blocks.iter().filter_map(|(name, kept)| {
            let block = &kept.live.as_ref()?.block;
            Some(BlockInfo {
                name: name.clone(),
                decimal: block.decimal(),
                rev: kept.rev,
                nodes: block.nodes(),
                bytes: block.file_bytes(),
                head: block.head_text().map(str::to_owned),
            })
        });
        Ok(rows.collect())
    }

    fn load(&self, name: &BlockName) -> Result<Versioned, StoreError> {
        let mut state = self.state();
        let (rev, live, _) = state.live(name)?;
        Ok(Versioned {
            block: live.block.clone(),
            rev: *rev,
            hash: live.hash.unwrap_or_else(|| live.block.hash()),
        })
    }

    fn create(&self, name: &BlockName, block: &Block, stamp: &Stamp) -> Result<u64, StoreError> {
        let (block, _) = block.clean();
        let (stamp, _) = stamp.clean();
        let mut state = self.state();
        state.touch(name)?;
        let LedgerState {
            blocks, journal, ..
        } = &mut *state;
        let before = match blocks.get(name) {
            Some(BlockSlot { live: Some(_), .. }) => {
                return Err(StoreError::Exists { name: name.clone() });
            }
            Some(BlockSlot { rev, .. }) => *rev,
            None => 0,
        };
        let block = block.into_owned();
        let op = LoggedOp::Create {
            block: block.clone(),
        };
        let rev = before + 1;
        let mut live = CurrentBlock { block, hash: None };
        live.keep(name, journal, entry(rev, &stamp, op, None, None))?;
        let live = Some(live);
        blocks.insert(name.clone(), BlockSlot { rev, live });
        Ok(rev)
    }

    fn edit(
        &self,
        name: &BlockName,
        expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        let (op, in_op) = op.clean();
        let (stamp, in_stamp) = stamp.clean();
        let mut state = self.state();
        let (rev, live, journal) = state.live(name)?;
        if let Some(expected) = expected.filter(|expected| expected != rev) {
            return Err(StoreError::Revision {
                name: name.clone(),
                expected,
                actual: *rev,
            });
        }
        let changes = !live.block.is_already(&op);
        let applied = live.block.apply(&op);
        let applied = applied.map_err(|error| error.in_block(name))?;
        if let Some(change) = applied.change().filter(|_| changes) {
            let inverse = Some(change.inverse.clone());
            let op = LoggedOp::Edit(op.into_owned());
            let entry = entry(*rev + 1, &stamp, op, Some(change.path), inverse);
            live.keep(name, journal, entry)?;
            *rev += 1;
        }
        Ok(Edited {
            rev: *rev,
            applied: Some(applied),
            keys_removed: in_op + in_stamp,
            steps: 0,
        })
    }

    fn delete(&self, name: &BlockName, stamp: &Stamp) -> Result<(), StoreError> {
        let (stamp, _) = stamp.clean();
        let mut state = self.state();
        let (rev, live, journal) = state.live(name)?;
        let mut entry = entry(*rev + 1, &stamp, LoggedOp::Delete, None, None);
        entry.before_hash = live.hash.as_ref().map(hex::encode);
        journal.remove(name, entry)?;
        let (rev, live) = (*rev + 1, None);
        state.blocks.insert(name.clone(), BlockSlot { rev, live });
        Ok(())
    }

    fn log(&self, name: Option<&BlockName>, from: u64) -> Result<Vec<LogEntry>, StoreError> {
        let mut state = self.state();
        let LedgerState {
            blocks, journal, ..
        } = &mut *state;
        if let Some(name) = name {
            return journal.read(name, from);
        }
        let mut entries = Vec::new();
        for name in blocks.keys() {
            entries.extend(journal.read(name, from)?);
        }
        Ok(entries)
    }

    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.step(Direction::Undo, name, count, stamp)
    }

    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.step(Direction::Redo, name, count, stamp)
    }
}

/// The direction of a step through the edits of a block.
#[derive(Clone, Copy)]
enum Direction {
    Undo,
    Redo,
}

impl<J: Journal> BlockLedger<J> {
    /// An undo or a redo of up to `count` edits.
    fn step(
        &self,
        direction: Direction,
        name: &BlockName,
        count: u32,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        let (stamp, keys_removed) = stamp.clean();
        let count = count as usize;
        let mut state = self.state();
        let (rev, live, journal) = state.live(name)?;
        // Mostly the end of a log is enough: an archive is unpacked only for what is in it.
        let mut length = 8 + 2 * count as u64;
        let log = loop {
            let from = rev.saturating_sub(length);
            let log = journal.read(name, from)?;
            let found = match direction {
                Direction::Undo => done(&log).take(count).count(),
                Direction::Redo => undone(&log).take(count).count(),
            };
            if found == count || from <= 1 {
                break log;
            }
            length = length.saturating_mul(8);
        };
        let stepped = match direction {
            Direction::Undo => undo(&mut live.block, &log, count),
            Direction::Redo => redo(&mut live.block, &log, count),
        };
        let Stepped { revs, inverse } =
            stepped.ok_or_else(|| StoreError::LogMismatch { name: name.clone() })?;
        let steps = revs.len() as u32;
        let (step, op) = match direction {
            Direction::Undo => ("undo", LoggedOp::Undo { revs, count: 0 }),
            Direction::Redo => ("redo", LoggedOp::Redo { revs }),
        };
        if steps > 0 {
            let entry = entry(*rev + 1, &stamp, op, None, Some(inverse));
            live.keep(name, journal, entry)?;
            *rev += 1;
        } else if count > 0 {
            let name = name.clone();
            return Err(StoreError::NothingLeft { name, step });
        }
        Ok(Edited {
            rev: *rev,
            applied: None,
            keys_removed,
            steps,
        })
    }
}
