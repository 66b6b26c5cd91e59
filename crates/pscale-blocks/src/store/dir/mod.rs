mod disk;
mod layout;
mod log_file;
mod repair;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};

#[cfg(feature = "testing")]
pub use disk::{Step, Watch};

use super::LogEntry;
use super::ledger::{BlockLedger, BlockSlot, Journal};
use crate::{Block, BlockName, StoreError};
use disk::Disk;
use durable::Lock;
use layout::Layout;
use log_file::{LOG_LIMIT, entries, rotate};
use repair::RepairFinding;

/// The age of a backup at which the next save makes another.
const BACKUP_AGE: SignedDuration = SignedDuration::from_hours(24);

/// A store in a directory, one JSON file a block, which a person may read and edit.
///
/// Layout: `blocks/NAME.json`, `log/NAME.jsonl` with older entries in `log/NAME-1.jsonl.gz` and so on, `trash/`,
/// `quarantine/`, `backups/`, `store.json` and `lock`. The log is written first: an edit that was reported survives a
/// crash at any moment, and one that was not is there wholly or not at all. One process writes at a time. What a person
/// does to a block's file meanwhile is a revision, too.
///
/// ```
/// use pscale_blocks::{Block, BlockName, BlockStore, DirStore, Op, EditAuthor, Stamp};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = DirStore::open(dir.path())?;
/// let notes = BlockName::new("notes")?;
/// let stamp = Stamp::new("2026-01-01T00:00:00Z".parse()?, EditAuthor::Person);
/// store.create(&notes, &Block::new("what I noted"), &stamp)?;
///
/// let op = Op::Append { text: "the first note".to_owned(), summary: None };
/// let edited = store.edit(&notes, Some(1), &op, &stamp)?;
/// assert_eq!(edited.rev, 2);
/// assert!(std::fs::read_to_string(dir.path().join("blocks/notes.json"))?.contains("first note"));
///
/// assert_eq!(store.undo(&notes, 1, &stamp)?.steps, 1);
/// assert_eq!(store.load(&notes)?.block, Block::new("what I noted"));
/// # Ok(())
/// # }
/// ```
pub type DirStore = BlockLedger<DirJournal>;

/// The files of a [`DirStore`].
#[derive(Debug)]
pub struct DirJournal {
    layout: Layout,
    disk: Disk,
    /// The lock, held as long as the store is open. `None` if it is open for reading.
    lock: Option<Lock>,
    files: BTreeMap<BlockName, Files>,
    notices: Vec<String>,
}

/// The known state of a block's files.
#[derive(Debug, Default)]
struct Files {
    /// Bytes of whole lines in the log.
    log: u64,
    /// The time of the backup.
    backup: Option<Timestamp>,
    /// The block's file as this process left it.
    seen: Option<Seen>,
}

/// The facts that show whether a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    modified: SystemTime,
    length: u64,
}

impl Seen {
    /// `None` if there is no file.
    fn at(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self {
            modified: found.modified().ok()?,
            length: found.len(),
        })
    }
}

impl DirStore {
    /// Opens the directory for writing, makes it if it is not there, and repairs what a crash or a person left: see
    /// [`DirStore::notices`].
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes to it, [`StoreError::Corrupt`] if a later program made it, or
    /// the system refuses.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_writing(dir.as_ref(), Disk::default())
    }

    /// [`DirStore::open`], with a watch over what is done to the disk.
    ///
    /// # Errors
    /// Those of [`DirStore::open`], and those of the watch.
    #[cfg(feature = "testing")]
    pub fn open_watched(dir: impl AsRef<Path>, watch: Watch) -> Result<Self, StoreError> {
        Self::open_writing(dir.as_ref(), Disk::watched(watch))
    }

    fn open_writing(dir: &Path, disk: Disk) -> Result<Self, StoreError> {
        disk::make_folder(dir)?;
        let mut journal = DirJournal::of(dir, disk);
        journal.lock = Some(journal.layout.lock(&journal.disk)?);
        journal.layout.check_schema()?;
        journal.layout.prepare(&journal.disk)?;
        let blocks = journal.settle_all()?;
        Ok(Self::of(blocks, journal))
    }

    /// Opens the directory as it is now, without a lock: what another process writes later is not seen, and nothing can
    /// be changed or repaired.
    ///
    /// # Errors
    /// There is no such directory, a later program made it, or the system refuses.
    pub fn open_read_only(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        let dir = dir.as_ref();
        std::fs::read_dir(dir).map_err(StoreError::io(dir))?;
        let mut journal = DirJournal::of(dir, Disk::default());
        journal.layout.check_schema()?;
        let blocks = journal.load_read_only()?;
        Ok(Self::of(blocks, journal))
    }

    /// Whether [`DirStore::open`] would be let in now, as far as this can be told without writing.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes to the directory, [`StoreError::Corrupt`] if a later program made
    /// it, or the system refuses.
    pub fn check_open(dir: impl AsRef<Path>) -> Result<(), StoreError> {
        let DirJournal { layout, disk, .. } = DirJournal::of(dir.as_ref(), Disk::default());
        layout.check_lock(&disk)?;
        layout.check_schema()
    }

    /// The store without waiting for the disk: quicker, and a power cut may lose edits that were reported. For tests and
    /// measurements.
    #[must_use]
    pub fn without_fsync(self) -> Self {
        let mut state = self.into_state();
        state.journal.disk.0 = state.journal.disk.0.without_sync();
        Self::of(state.blocks, state.journal)
    }

    /// The findings and repairs of the opening, for a person, one line each.
    pub fn notices(&self) -> Vec<String> {
        self.state().journal.notices.clone()
    }
}

impl DirJournal {
    fn of(dir: &Path, disk: Disk) -> Self {
        Self {
            layout: Layout {
                root: dir.to_owned(),
            },
            disk,
            lock: None,
            files: BTreeMap::new(),
            notices: Vec::new(),
        }
    }

    /// Whether another process or a person changed the block's file.
    fn is_changed(&self, name: &BlockName) -> bool {
        let seen = self.files.get(name).and_then(|files| files.seen);
        Seen::at(&self.layout.block(name)) != seen
    }

    fn found(&self, name: &BlockName) -> Result<RepairFinding, StoreError> {
        repair::found(&self.layout.block(name))
    }

    fn check_writing(&self) -> Result<(), StoreError> {
        self.lock.as_ref().map(|_| ()).ok_or(StoreError::ReadOnly)
    }

    /// Appends the entry to the log; answers how long the log was before.
    fn append(&mut self, name: &BlockName, entry: &LogEntry) -> Result<u64, StoreError> {
        let path = self.layout.log(name);
        let mut line =
            serde_json::to_vec(entry).map_err(|error| StoreError::io(&path)(error.into()))?;
        line.push(b'\n');
        let before = self.files.get(name).map_or(0, |files| files.log);
        self.disk.append(&path, before, &line)?;
        self.files.entry(name.clone()).or_default().log = before + line.len() as u64;
        Ok(before)
    }

    /// Reverts what [`DirJournal::append`] did.
    fn unappend(&mut self, name: &BlockName, before: u64) {
        // As there: a log that is ahead of its block is what openings repair.
        let _ = self.disk.cut(&self.layout.log(name), before);
        self.files.entry(name.clone()).or_default().log = before;
    }

    fn write_block(&mut self, name: &BlockName, block: &Block) -> Result<(), StoreError> {
        let path = self.layout.block(name);
        self.disk.replace(&path, block.to_file().as_bytes())?;
        self.files.entry(name.clone()).or_default().seen = Seen::at(&path);
        // The block is there. Should the disk lose its name, the log still has the edit.
        let _ = self.disk.settle(&path);
        Ok(())
    }

    /// Copies the block as it is before a save, if the last copy is old.
    fn back_up(&mut self, name: &BlockName, at: Timestamp) -> Result<(), StoreError> {
        let files = self.files.entry(name.clone()).or_default();
        let block = self.layout.block(name);
        let fresh = |then| at.duration_since(then) <= BACKUP_AGE;
        if files.backup.is_some_and(fresh) || !block.exists() {
            return Ok(());
        }
        let backup = self.layout.backup(name);
        self.disk.copy(&block, &backup, at)?;
        files.backup = Some(at);
        Ok(())
    }

    fn rotate_if_long(&mut self, name: &BlockName) {
        let Some(files) = self
            .files
            .get_mut(name)
            .filter(|files| files.log > LOG_LIMIT)
        else {
            return;
        };
        match rotate(&self.disk, &self.layout, name) {
            Ok(length) => files.log = length,
            Err(error) => {
                // The edit is done, and the next one tries again.
                let notice = format!("the log of block {name} could not be archived: {error}");
                self.notices.push(notice);
            }
        }
    }
}

impl Journal for DirJournal {
    fn hash(&self, block: &Block) -> Option<[u8; 32]> {
        Some(block.hash())
    }

    fn look(&mut self, name: &BlockName) -> Result<Option<BlockSlot>, StoreError> {
        if self.lock.is_none() || !self.is_changed(name) {
            return Ok(None);
        }
        // A file that is no block may be one that is just being written: it is looked at again until it is one.
        match self.found(name)? {
            RepairFinding::Block(..) => self.settle(name).map(Some),
            RepairFinding::Nothing | RepairFinding::Damage(..) => Ok(None),
        }
    }

    fn reread(&mut self, name: &BlockName) -> Result<BlockSlot, StoreError> {
        self.check_writing()?;
        self.settle(name)
    }

    fn save(&mut self, name: &BlockName, entry: LogEntry, block: &Block) -> Result<(), StoreError> {
        self.check_writing()?;
        if self.is_changed(name)
            && let RepairFinding::Damage(reason, at) = self.found(name)?
        {
            self.quarantine(name, &reason, at)?;
        }
        self.back_up(name, entry.at)?;
        let before = self.append(name, &entry)?;
        if let Err(error) = self.write_block(name, block) {
            self.unappend(name, before);
            return Err(error);
        }
        self.rotate_if_long(name);
        Ok(())
    }

    fn remove(&mut self, name: &BlockName, entry: LogEntry) -> Result<(), StoreError> {
        self.check_writing()?;
        let block = self.layout.block(name);
        let trash = self.layout.trash(name, entry.at);
        // The file first: a file whose log says that it was deleted is one that a person put back.
        // A person may have taken the file away.
        let moved = match Seen::at(&block) {
            Some(_) => self.disk.rename(&block, &trash),
            None => Ok(()),
        };
        let done = moved.and_then(|()| self.append(name, &entry));
        if done.is_err() {
            // Where this fails the next opening makes the block again from its log.
            let _ = self.disk.rename(&trash, &block);
        }
        done.map(|_| ())
    }

    fn read(&mut self, name: &BlockName, from: u64) -> Result<Vec<LogEntry>, StoreError> {
        entries(&self.layout, name, from, &mut self.notices)
    }
}
