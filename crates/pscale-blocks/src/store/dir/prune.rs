//! The archives of logs and the backups that a person may do without.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::SystemTime;

use super::archives::archives;
use super::disk::FileFacts;
use super::{DirJournal, DirStore};
use crate::store::history::{UndoWalk, whole};
use crate::store::ledger::Journal as _;
use crate::store::{LogEntry, LogRange, LoggedOp};
use crate::{BlockName, BlockStore as _, StoreError};

/// The newest edits of each block that can be undone whatever is removed.
const UNDOABLE: u64 = 100;

/// An archive that can be removed.
struct SpareArchive {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

impl DirStore {
    /// The archives to remove so that those that stay have at most `keep` bytes in all, the oldest first. Nothing is removed.
    ///
    /// An archive stays if the newest 100 undos of its block need it, or a repair of the block from its backup. So more than
    /// `keep` bytes may stay. A store that may write first makes the labels of these blocks; those of a block that has none then
    /// stay, too.
    ///
    /// # Errors
    /// The logs cannot be read.
    pub fn surplus_archives(&self, keep: u64) -> Result<Vec<PathBuf>, StoreError> {
        let mut surplus = self.surplus(keep)?;
        if self.state().journal.writes() {
            let names: BTreeSet<_> = surplus.iter().map(|(name, _)| name.clone()).collect();
            for name in names {
                let has_labels = match self.labels(&name) {
                    Ok(_) => self.state().journal.labels(&name).is_some(),
                    Err(error) => matches!(error, StoreError::NoBlock { .. }),
                };
                surplus.retain(|(of, _)| has_labels || *of != name);
            }
        }
        Ok(surplus.into_iter().map(|(_, path)| path).collect())
    }

    fn surplus(&self, keep: u64) -> Result<Vec<(BlockName, PathBuf)>, StoreError> {
        let mut state = self.state();
        let journal = &mut state.journal;
        let mut bytes = 0;
        let mut blocks: Vec<(BlockName, VecDeque<SpareArchive>)> = Vec::new();
        for name in journal.list()? {
            let mut queue = VecDeque::new();
            for archive in archives(&journal.layout, &name)? {
                let found =
                    fs::symlink_metadata(&archive.path).map_err(StoreError::io(&archive.path))?;
                bytes += found.len();
                queue.push_front(SpareArchive {
                    path: archive.path,
                    bytes: found.len(),
                    modified: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                });
            }
            blocks.push((name, queue));
        }
        let mut surplus = Vec::new();
        let mut ended = BTreeSet::new();
        let mut needed = BTreeMap::new();
        while bytes > keep {
            // A log loses its beginning, and never a part in the middle.
            let next = blocks
                .iter_mut()
                .filter(|(name, queue)| !queue.is_empty() && !ended.contains(name))
                .min_by_key(|(_, queue)| queue.front().map(|archive| archive.modified));
            let Some((name, queue)) = next else {
                break;
            };
            // A log that cannot be read to where it is needed keeps all.
            let needed = *needed
                .entry(name.clone())
                .or_insert_with(|| journal.needed_from(name).unwrap_or(0));
            match queue.pop_front() {
                Some(archive) if journal.can_spare(&archive, needed) => {
                    bytes -= archive.bytes;
                    surplus.push((name.clone(), archive.path));
                }
                _ => {
                    ended.insert(name.clone());
                }
            }
        }
        Ok(surplus)
    }

    /// The backups of blocks that were deleted. Nothing is removed.
    ///
    /// # Errors
    /// The backups cannot be listed.
    pub fn spare_backups(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut state = self.state();
        let journal = &mut state.journal;
        let folder = journal.layout.backups();
        let files = match fs::read_dir(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io(&folder)(error)),
        };
        let mut spare = Vec::new();
        for file in files {
            let path = file.map_err(StoreError::io(&folder))?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let Some(Ok(name)) = stem.map(BlockName::new) else {
                continue;
            };
            // A file that is missing is made again if the log has the block.
            let is_missing = FileFacts::at(&journal.layout.block(&name)).is_none();
            let newest = journal.logs().read(&name, LogRange::newest(1));
            let is_deleted =
                newest.is_ok_and(|log| log.iter().all(|entry| entry.after_hash.is_none()));
            if is_missing && is_deleted && path == journal.layout.backup(&name) {
                spare.push(path);
            }
        }
        spare.sort();
        Ok(spare)
    }
}

impl DirJournal {
    /// Whether all entries of the archive are before revision `needed`. One that cannot be read is left to a person.
    fn can_spare(&mut self, archive: &SpareArchive, needed: u64) -> bool {
        let mut last = 0;
        let read = self.logs().unpack(&archive.path, &mut |entry| {
            last = last.max(entry.rev);
            ControlFlow::Continue(())
        });
        matches!(read, Ok(Some(_))) && (1..needed).contains(&last)
    }

    /// The oldest revision that an undo or a repair of the block needs.
    fn needed_from(&mut self, name: &BlockName) -> Result<u64, StoreError> {
        let backup = self.backup(name).map(|block| hex::encode(block.hash()));
        let mut needed: Option<NeededEntries> = None;
        self.logs().each(name, None, &mut |entry| {
            let needed = needed.get_or_insert_with(|| NeededEntries::of(&entry));
            needed.see(&entry, backup.as_deref())
        })?;
        Ok(needed.map_or(0, |needed| needed.oldest()))
    }
}

/// The newest entries of a log, up to the oldest that is needed.
struct NeededEntries {
    newest: u64,
    oldest: u64,
    /// The way to the edits that can be undone; `None` at its end.
    walk: Option<UndoWalk>,
    undoable: u64,
    /// Whether the block can be made again from the entries so far.
    is_repairable: bool,
}

impl NeededEntries {
    fn of(newest: &LogEntry) -> Self {
        Self {
            newest: newest.rev,
            oldest: newest.rev,
            walk: Some(UndoWalk::default()),
            undoable: 0,
            // A block that was deleted is not made again.
            is_repairable: newest.after_hash.is_none(),
        }
    }

    fn see(&mut self, entry: &LogEntry, backup: Option<&str>) -> ControlFlow<()> {
        match self.walk.as_mut().and_then(|walk| walk.step(entry)) {
            Some(true) => {
                self.need(entry.rev);
                self.undoable += 1;
            }
            Some(false) => {}
            None => self.walk = None,
        }
        if self.undoable == UNDOABLE {
            self.walk = None;
        }
        if !self.is_repairable {
            self.need(entry.rev);
            // To make the block again is to undo and to redo again, too.
            if let LoggedOp::Undo { revs, .. } | LoggedOp::Redo { revs } = &entry.op {
                for rev in revs {
                    self.need(*rev);
                }
            }
            self.is_repairable = match backup {
                Some(backup) => entry.after_hash.as_deref() == Some(backup),
                None => whole(entry).is_some(),
            };
        }
        if self.walk.is_none() && self.is_repairable {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn need(&mut self, rev: u64) {
        self.oldest = self.oldest.min(rev);
    }

    fn oldest(&self) -> u64 {
        if !self.is_repairable {
            return 0;
        }
        self.oldest.min((self.newest + 1).saturating_sub(UNDOABLE))
    }
}
