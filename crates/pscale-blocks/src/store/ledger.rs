use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

use strsim::levenshtein;

use super::history::{Stepped, done, redo, undo, undone};
use super::labels;
use super::secrets::Clean as _;
use super::{
    BlockInfo, BlockPresence, Edited, KeyFilter, Labels, LogEntry, LogRange, LoggedOp, Versioned,
};
use crate::{Block, BlockName, BlockStore, Inverse, Op, Path, Stamp, StoreError};

/// A store: the blocks that were used, in memory, and a journal that keeps what becomes of them. Its two kinds are
/// [`crate::MemStore`] and [`crate::DirStore`].
#[derive(Debug)]
pub struct BlockLedger<J> {
    state: Mutex<LedgerState<J>>,
}

#[derive(Debug)]
pub(super) struct LedgerState<J> {
    /// The blocks that have a name. `None` for one that the journal is asked for at its next use.
    pub blocks: BTreeMap<BlockName, Option<BlockSlot>>,
    pub journal: J,
    /// The block that the last call was about.
    touched: Option<BlockName>,
    filters: Vec<Arc<dyn KeyFilter>>,
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
    /// The block, shared with those who read it.
    pub block: Arc<Block>,
    /// [`Block::hash`], where the journal needs it.
    pub hash: Option<[u8; 32]>,
    /// The labels of the nodes, if they were asked for: of this revision or an earlier one.
    pub labels: Option<Arc<Labels>>,
}

/// The part of a store that outlives the process. Every method does all or nothing.
pub trait Journal: Send {
    /// The form in which a block is kept.
    type Form;

    /// The form of `block`.
    fn form(&self, block: &Block) -> Self::Form;

    /// The hash of a form, if the journal compares blocks with what it keeps.
    fn hash(form: &Self::Form) -> Option<[u8; 32]>;

    /// The names that another process may have brought since the last call.
    ///
    /// # Errors
    /// They cannot be read.
    fn find(&mut self) -> Result<BTreeSet<BlockName>, StoreError>;

    /// The block as it is now, if another process or a person changed it.
    ///
    /// # Errors
    /// It cannot be read, or the change cannot be noted.
    fn look(&mut self, name: &BlockName) -> Result<Option<BlockSlot>, StoreError>;

    /// Whether the block is there, as far as this is known without reading it.
    ///
    /// # Errors
    /// The journal cannot be read.
    fn is_there(&mut self, _name: &BlockName) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// The block as it was kept last, whatever was interrupted since.
    ///
    /// # Errors
    /// It cannot be read.
    fn settle(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError>;

    /// Keeps the entry and the form of the block that it ends with.
    ///
    /// # Errors
    /// It cannot be written.
    fn save(
        &mut self,
        name: &BlockName,
        entry: LogEntry,
        form: Self::Form,
    ) -> Result<(), StoreError>;

    /// Keeps the entry of a deletion, and the block where it can be found.
    ///
    /// # Errors
    /// It cannot be written.
    fn remove(&mut self, name: &BlockName, entry: LogEntry) -> Result<(), StoreError>;

    /// The entries of a block in a range, the newest first.
    ///
    /// # Errors
    /// They cannot be read.
    fn read(&mut self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError>;

    /// Hands the entries of a block to `take`, the newest first, until it breaks.
    ///
    /// # Errors
    /// They cannot be read.
    fn each(
        &mut self,
        name: &BlockName,
        take: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Whether this process may write, and not only read what another one writes.
    fn writes(&self) -> bool {
        true
    }

    /// The labels that are kept, of some revision. `None` if they are missing or damaged.
    fn labels(&mut self, _name: &BlockName) -> Option<Labels> {
        None
    }

    /// The revision of the labels that this process has kept; 0 for none.
    fn kept_labels(&self, _name: &BlockName) -> u64 {
        0
    }

    /// Keeps labels, which the log can make again. False if they cannot be written.
    fn keep_labels(&mut self, _name: &BlockName, _labels: &Labels) -> bool {
        true
    }

    /// The end of a block's log, the oldest entry first: as long as `is_enough` asks for, or all of it.
    ///
    /// # Errors
    /// It cannot be read.
    fn read_until(
        &mut self,
        name: &BlockName,
        mut length: usize,
        mut is_enough: impl FnMut(&[LogEntry]) -> bool,
    ) -> Result<Vec<LogEntry>, StoreError> {
        loop {
            let mut log = self.read(name, LogRange::newest(length))?;
            log.reverse();
            if is_enough(&log) || log.len() < length {
                return Ok(log);
            }
            length = length.saturating_mul(8).max(1);
        }
    }
}

impl<J> BlockLedger<J> {
    /// A store of blocks with these names.
    pub(super) fn of(names: impl IntoIterator<Item = BlockName>, journal: J) -> Self {
        let blocks = names.into_iter().map(|name| (name, None)).collect();
        Self {
            state: Mutex::new(LedgerState {
                blocks,
                journal,
                touched: None,
                filters: Vec::new(),
            }),
        }
    }

    /// A thread that panicked may have left its block changed in a way that the journal does not know.
    pub(super) fn state(&self) -> MutexGuard<'_, LedgerState<J>> {
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = poisoned.into_inner();
            if let Some(touched) = state.touched.take() {
                state.blocks.insert(touched, None);
            }
            self.state.clear_poison();
            state
        })
    }

    /// The store with its journal changed.
    pub(super) fn with_journal(self, change: impl FnOnce(&mut J)) -> Self {
        change(&mut self.state().journal);
        self
    }
}

impl<J: Journal> LedgerState<J> {
    /// The block as it is now; `None` if there never was one of this name.
    fn settled(&mut self, name: &BlockName) -> Result<Option<&BlockSlot>, StoreError> {
        self.touched = Some(name.clone());
        let changed = match self.blocks.get(name) {
            Some(None) => Some(self.journal.settle(name)?),
            _ => self.journal.look(name)?,
        };
        if changed.is_some() {
            self.blocks.insert(name.clone(), changed);
        }
        Ok(self.blocks.get(name).and_then(Option::as_ref))
    }

    fn is_live(&mut self, name: &BlockName) -> Result<bool, StoreError> {
        Ok(self.settled(name)?.is_some_and(|slot| slot.live.is_some()))
    }

    fn presence(&mut self, name: &BlockName) -> Result<BlockPresence, StoreError> {
        if matches!(self.blocks.get(name), Some(None)) && self.journal.is_there(name)? {
            return Ok(BlockPresence::Present);
        }
        Ok(match self.settled(name)? {
            Some(BlockSlot { live: Some(_), .. }) => BlockPresence::Present,
            None | Some(BlockSlot { rev: 0, .. }) => BlockPresence::Absent,
            Some(_) => BlockPresence::Deleted,
        })
    }

    /// The block and its revision, and the journal.
    fn live(
        &mut self,
        name: &BlockName,
    ) -> Result<(&mut u64, &mut CurrentBlock, &mut J), StoreError> {
        let near = if self.is_live(name)? {
            None
        } else {
            self.nearest(name)
        };
        match self.blocks.get_mut(name) {
            Some(Some(BlockSlot {
                rev,
                live: Some(live),
            })) => Ok((rev, live, &mut self.journal)),
            _ => Err(StoreError::NoBlock {
                name: name.clone(),
                near,
            }),
        }
    }

    /// The name of a block that looks most like `name`, if one does.
    fn nearest(&mut self, name: &BlockName) -> Option<BlockName> {
        let rated = self.blocks.keys().filter_map(|other| {
            let distance = levenshtein(name.as_str(), other.as_str());
            let longer = name.as_str().len().max(other.as_str().len());
            (2 * distance <= longer).then(|| (distance, other.clone()))
        });
        // A block that cannot be read is none to propose, and no answer about `name`.
        let mut near = rated.collect::<BTreeSet<_>>().into_iter();
        let found = near.find(|(_, other)| self.is_live(other).is_ok_and(|is_live| is_live));
        found.map(|(_, other)| other)
    }
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
        from: stamp.from.clone(),
        n: stamp.n,
        labels: stamp.labels.clone(),
    }
}

impl CurrentBlock {
    pub(super) fn new(block: Block, hash: Option<[u8; 32]>) -> Self {
        let block = Arc::new(block);
        Self {
            block,
            hash,
            labels: None,
        }
    }

    /// Keeps `entry`, which led to the block as it is now. If that fails the block becomes what it was.
    fn keep<J: Journal>(
        &mut self,
        name: &BlockName,
        journal: &mut J,
        mut entry: LogEntry,
    ) -> Result<(), StoreError> {
        let form = journal.form(&self.block);
        let hash = J::hash(&form);
        entry.before_hash = self.hash.as_ref().map(hex::encode);
        entry.after_hash = hash.as_ref().map(hex::encode);
        let inverse = entry.inverse.clone();
        if let Err(error) = journal.save(name, entry, form) {
            if let Some(inverse) = inverse {
                Arc::make_mut(&mut self.block).revert(&inverse);
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
        for name in state.journal.find()? {
            state.blocks.entry(name).or_default();
        }
        let names: Vec<_> = state.blocks.keys().cloned().collect();
        let mut rows = Vec::new();
        for name in names {
            let Some(BlockSlot {
                rev,
                live: Some(live),
            }) = state.settled(&name)?
            else {
                continue;
            };
            rows.push(BlockInfo {
                name,
                decimal: live.block.decimal(),
                rev: *rev,
                nodes: live.block.nodes(),
                bytes: live.block.file_bytes(),
                head: live.block.head_text().map(str::to_owned),
            });
        }
        Ok(rows)
    }

    fn load(&self, name: &BlockName) -> Result<Versioned, StoreError> {
        let mut state = self.state();
        let (rev, live, _) = state.live(name)?;
        Ok(Versioned {
            block: Arc::clone(&live.block),
            rev: *rev,
            hash: live.hash.unwrap_or_else(|| live.block.hash()),
        })
    }

    fn presence(&self, name: &BlockName) -> Result<BlockPresence, StoreError> {
        self.state().presence(name)
    }

    fn create(&self, name: &BlockName, block: &Block, stamp: &Stamp) -> Result<u64, StoreError> {
        let mut state = self.state();
        let (block, _) = block.clean(&state.filters);
        let (stamp, _) = stamp.clean(&state.filters);
        let before = match state.settled(name)? {
            Some(BlockSlot { live: Some(_), .. }) => {
                return Err(StoreError::Exists { name: name.clone() });
            }
            Some(BlockSlot { rev, .. }) => *rev,
            None => 0,
        };
        let op = LoggedOp::Create {
            block: block.clone(),
        };
        let rev = before + 1;
        let mut live = CurrentBlock::new(block, None);
        let entry = entry(rev, &stamp, op, None, None);
        live.keep(name, &mut state.journal, entry)?;
        let live = Some(live);
        (state.blocks).insert(name.clone(), Some(BlockSlot { rev, live }));
        Ok(rev)
    }

    fn edit(
        &self,
        name: &BlockName,
        expected: Option<u64>,
        op: &Op,
        stamp: &Stamp,
    ) -> Result<Edited, StoreError> {
        let mut state = self.state();
        let (op, in_op) = op.clean(&state.filters);
        let (stamp, in_stamp) = stamp.clean(&state.filters);
        let (rev, live, journal) = state.live(name)?;
        if let Some(expected) = expected.filter(|expected| expected != rev) {
            return Err(StoreError::Revision {
                name: name.clone(),
                expected,
                actual: *rev,
            });
        }
        let changes = !live.block.is_already(&op);
        let applied = Arc::make_mut(&mut live.block).apply(&op);
        let applied = applied.map_err(|error| error.in_block(name))?;
        if let Some(change) = applied.change().filter(|_| changes) {
            let inverse = Some(change.inverse.clone());
            let op = LoggedOp::Edit(op);
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
        let mut state = self.state();
        let (stamp, _) = stamp.clean(&state.filters);
        let (rev, live, journal) = state.live(name)?;
        let mut entry = entry(*rev + 1, &stamp, LoggedOp::Delete, None, None);
        entry.before_hash = live.hash.as_ref().map(hex::encode);
        journal.remove(name, entry)?;
        let (rev, live) = (*rev + 1, None);
        (state.blocks).insert(name.clone(), Some(BlockSlot { rev, live }));
        Ok(())
    }

    fn log(&self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        let mut state = self.state();
        // An edit by a person is an entry, too.
        state.settled(name)?;
        state.journal.read(name, range)
    }

    fn labels(&self, name: &BlockName) -> Result<Arc<Labels>, StoreError> {
        let mut state = self.state();
        let (rev, live, journal) = state.live(name)?;
        if let Some(known) = &live.labels
            && known.rev() == *rev
        {
            return Ok(Arc::clone(known));
        }
        let known = live.labels.take().map(Arc::unwrap_or_clone);
        let block = labels::LabelledBlock {
            name,
            rev: *rev,
            hash: live.hash,
            read: &|| Some(Block::clone(&live.block)),
        };
        let labels = labels::current(journal, &block, known, labels::KEEP_EVERY)?;
        let labels = Arc::new(labels);
        live.labels = Some(Arc::clone(&labels));
        Ok(labels)
    }

    fn undo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.step(Direction::Undo, name, count, stamp)
    }

    fn redo(&self, name: &BlockName, count: u32, stamp: &Stamp) -> Result<Edited, StoreError> {
        self.step(Direction::Redo, name, count, stamp)
    }

    fn add_filter(&self, filter: Arc<dyn KeyFilter>) {
        self.state().filters.push(filter);
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
        let count = count as usize;
        let mut state = self.state();
        let (stamp, keys_removed) = stamp.clean(&state.filters);
        let (rev, live, journal) = state.live(name)?;
        // Mostly the end of a log is enough: an archive is unpacked only for what is in it.
        let length = count.saturating_mul(2).saturating_add(8);
        let log = journal.read_until(name, length, |log| {
            let found = match direction {
                Direction::Undo => done(log).take(count).count(),
                Direction::Redo => undone(log).take(count).count(),
            };
            found == count
        })?;
        let block = Arc::make_mut(&mut live.block);
        let stepped = match direction {
            Direction::Undo => undo(block, &log, count),
            Direction::Redo => redo(block, &log, count),
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
